"""The page Compare: its sentences, cards and drawers beside NumPy, by-hand matching, and what cannot be compared."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.compared_answers import BLANK
from bertviz_core.formula.address import parse
from bertviz_core.formula.numbers import format_degrees, format_percent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.views.compare import _tell_answers
from bertviz_core.ui.views.compare_heads import _pool
from bertviz_core.ui.walk.worked_across import find_across
from tests.factory import random_checkpoint

APP = str(Path(__file__).parents[1] / "app.py")
RIVER, MONEY = "He sat on the bank of the [MASK].", "He took money from the bank of the [MASK]."
BANK = 5


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": RIVER, **query})
    at.run()
    at.switch_page("pages/compare.py").run()
    assert not at.exception and not at.error
    return at


def read(at):
    """All that is said: the headline, what stands below it, heads of cards, captions and remarks."""
    texts = [each.value for kind in (at.title, at.caption, at.info, at.markdown) for each in kind]
    texts += [re.sub("<[^>]*>", " ", each.proto.body) for each in at.get("html")]
    return re.sub(r"\s+", " ", unescape(" ".join(texts))).replace("\\", "")


@pytest.fixture(scope="module")
def page():
    return opened(**{"with": MONEY, "token": str(BANK)})


@pytest.fixture(scope="module")
def both(bundled):
    return bv.compare(bv.run(bundled, RIVER), bv.run(bundled, MONEY))


def test_until_something_is_chosen_the_page_says_that_it_shows_an_example_and_offers_what_to_compare():
    at = opened()
    assert "**Nothing is chosen yet**; the example: “the” at position 7 hidden" in read(at)
    offered = [each.label for each in at.button if (each.key or "").startswith("compare-example-")]
    assert offered == ["Rome or Paris", "“bank” in two sentences"]
    typed = at.text_input(key="compare-another").set_value(f" {MONEY} ").run()
    assert typed.session_state["with"] == MONEY and "Nothing is chosen yet" not in read(typed)
    at = opened().button(key="compare-example-1").click().run()
    assert at.session_state["with"] == MONEY and at.session_state["text"] == RIVER
    assert not at.exception and at.title[0].value.startswith("*Is it the same “bank”?*")
    assert "Nothing is chosen yet" not in read(at)


def visit(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def links(at):
    return {each.proto.page: parse_qs(each.proto.query_string) for each in at.get("page_link")}


def test_while_no_sentence_is_chosen_two_are_compared_in_which_one_word_means_two_things():
    at = visit("compare")
    assert at.title[0].value.startswith("*Is it the same “bank”?*") and "An example." in read(at)
    assert (at.session_state["text"], at.session_state["with"]) == (RIVER, MONEY)
    assert "Nothing is chosen yet" not in read(at)
    assert links(visit("attention"))["compare"].items() >= {"text": [RIVER], "with": [MONEY]}.items()
    assert not {"text", "with"} & links(at)["attention"].keys()  # the pages' own sentence stays what it was


def test_whoever_has_chosen_a_sentence_keeps_it_on_every_page():
    at = visit("compare", text="the cat sat")
    assert at.session_state["text"] == "the cat sat" and links(at)["attention"]["text"] == ["the cat sat"]
    assert links(at)["compare"]["text"] == ["the cat sat"] and "with" not in links(at)["compare"]
    at = visit("compare", text=RIVER, **{"with": MONEY})  # the same sentences, by somebody's own link: kept as well
    assert links(at)["attention"]["text"] == [RIVER] and "An example." in read(at)


def test_the_headline_says_how_far_apart_the_chosen_word_ends_and_began(page, both):
    at = [here for here, _ in both.pairs].index(BANK)
    start, *_, end = both.angles[:, at]
    assert page.title[0].value == (
        f"*Is it the same “bank”?* **{format_degrees(end)} apart after layer 5**; both began {format_degrees(start)} "
        "apart, by their places"
    )
    said = read(page)
    answers = both.answers
    best, other = answers.one.argmax(), answers.other.argmax()
    told = (
        f"In the first the blank is most likely “{answers.name(best)}”, {format_percent(answers.one[best])}; in the "
        f"second “{answers.name(other)}”, {format_percent(answers.other[other])}."
    )
    assert told.replace("\N{NO-BREAK SPACE}", " ") in said
    assert "9 matched, 5 alone" in said


def test_every_matched_token_stands_between_the_rows_with_its_last_angle_and_the_unmatched_are_marked(page, both):
    (rows,) = (each.proto.body for each in page.get("html") if 'class="bv-matched"' in each.proto.body)
    shown = re.findall(r'data-cell="encoder.layer.5.output.LayerNorm.across\[token=(\d+)\]"[^>]*>([^<]*)<', rows)
    assert shown == [(str(i), format_degrees(a)) for (i, _), a in zip(both.pairs, both.angles[-1], strict=True)]
    alone = re.findall(r'class="bv-chip[^"]*bv-alone[^"]*"[^>]*>([^<]*)<', rows)
    assert alone == ["sat", "on", "took", "money", "from"]
    assert re.findall(r'class="bv-chip[^"]*bv-masked[^"]*"[^>]*>([^<]*)<', rows) == ["[MASK]", "[MASK]"]


def test_a_click_on_a_matched_token_of_either_row_chooses_that_of_the_first_pass(page, both):
    (rows,) = (each.proto.body for each in page.get("html") if 'class="bv-matched"' in each.proto.body)
    for side, row in enumerate(rows.split('<div class="bv-row">')[1:]):
        matched = [(str(pair[0]), both.tokens[side][pair[side]]) for pair in both.pairs]
        leads = re.findall(r'data-token="(\d+)"[^>]*>([^<]*)<', row)
        assert [lead for lead in leads if side or lead in matched] == matched


def test_the_map_of_a_long_text_is_made_of_means_of_queries_and_sums_of_keys():
    folded = np.random.default_rng(0).dirichlet(np.ones(71), size=70)
    pooled = _pool(folded)
    assert pooled.shape == (32, 33) and np.allclose(pooled.sum(axis=1), 1)
    assert pooled[:, -1].mean() == pytest.approx(folded[:, -1].mean(), rel=0.05)
    assert _pool(folded[:32]) is not folded and np.array_equal(_pool(folded[:20]), folded[:20])


def test_heads_are_sorted_and_the_first_eight_are_buttons_to_their_numbers(page, both):
    (maps,) = (each.proto.body for each in page.get("html") if 'class="bv-elsewhere"' in each.proto.body)
    found = re.findall(r'data-cell="encoder.layer.(\d+).attention.self.probs.across\[head=(\d+)\]"', maps)
    assert [(int(layer), int(head)) for layer, head in found] == [*both.sort_heads()[:8]]
    assert maps.count("<img") == 8 * 4  # two maps each, each with the column of what is not matched


def test_the_divergence_is_said_beside_its_formula(page, both):
    said = read(page)
    assert f"JS = {both.answers.divergence:.2f} bit" in said and "Lin 1991" in said


def test_the_drawer_of_a_cosine_works_it_out_from_both_vectors(bundled, both):
    one, other = bv.run(bundled, RIVER), bv.run(bundled, MONEY)
    for row, stage in enumerate(both.stages):
        for k, (i, j) in enumerate(both.pairs):
            found = find_across(one, other, both.pairs, parse(f"{stage}.across[token={i}]"))
            x, y = (np.asarray(t[stage][n], dtype=np.float64) for t, n in ((one, i), (other, j)))
            assert found.number == pytest.approx(x @ y / np.sqrt((x @ x) * (y @ y)), abs=1e-12)
            assert found.unit == format_degrees(both.angles[row, k])
            farther = int((both.angles[row] > both.angles[row, k]).sum())
            assert f"; {farther or 'none'} of 9 matched tokens " in found.card.sentence.text
            assert len(found.parts) == 384
            assert sum((x * y).tolist()) / np.sqrt((x @ x) * (y @ y)) == pytest.approx(found.number, abs=1e-9)


def test_the_drawer_of_a_head_is_the_mean_of_what_each_token_moves(bundled, both):
    one, other = bv.run(bundled, RIVER), bv.run(bundled, MONEY)
    for layer, head in both.sort_heads()[:5]:
        where = parse(f"encoder.layer.{layer}.attention.self.probs.across[head={head}]")
        found = find_across(one, other, both.pairs, where)
        moved = both.moved[layer, head]
        assert found.number == pytest.approx(moved.mean(), abs=1e-12)
        most = int(moved.argmax())
        told = found.card.sentence.text
        assert format_percent(moved[most]) in told and f"“{one.tokens[both.pairs[most][0]]}”" in told
        assert all(claim.holds for claim in found.card.sentence.claims)
        amounts = [row.amount for row in found.card.table.rows]
        assert amounts == sorted(moved.tolist(), reverse=True)


@pytest.mark.parametrize(
    "where",
    [
        "embeddings.LayerNorm.across[token=3]",  # matched with none
        "embeddings.LayerNorm.across[token=99]",
        "encoder.layer.0.attention.self.probs.across[head=99]",
        "encoder.layer.99.output.LayerNorm.across[token=5]",
        "embeddings.LayerNorm.across",
        "encoder.layer.0.attention.self.probs.across[token=1]",
    ],
)
def test_an_address_that_names_nothing_of_both_is_refused_in_words(bundled, both, where):
    with pytest.raises(bv.AddressError, match=r"compared|matched|head"):
        find_across(bv.run(bundled, RIVER), bv.run(bundled, MONEY), both.pairs, parse(where))


def test_the_drawer_opens_from_a_link_and_on_other_pages():
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": RIVER, "with": MONEY, "walk": "encoder.layer.5.output.LayerNorm.across[token=5]"})
    at.run()
    assert not at.exception and "Cosine of “bank” in both passes" in read(at)


def test_tokens_are_matched_by_hand_and_the_link_holds_it(page):
    hand = opened(**{"with": MONEY, "token": "2", "pairs": "0-0.2-2.5-6"})
    assert "Is “sat” like “took”?" in hand.title[0].value and "3 matched, 17 alone" in read(hand)
    wrong = opened(**{"with": MONEY, "pairs": "0-0.1-99"})
    assert "can be matched once" in read(wrong) and "9 matched, 5 alone" in read(wrong)
    none = opened(**{"with": MONEY, "pairs": "none"})
    said = read(none)
    assert "only **what they answer** can be compared" in said and "In the first the blank is most likely" in said
    assert "no token in common" in said


def test_the_same_sentence_is_the_same_pass():
    at = opened(**{"with": RIVER})
    assert at.title[0].value == "Twice the same pass: **nothing** is apart"


def test_two_texts_with_nothing_but_special_tokens_in_common_have_a_page():
    at = opened(text="cats", **{"with": "dogs"})
    assert "2 matched, 2 alone" in read(at)  # [CLS] and [SEP]


def test_a_second_sentence_that_cannot_be_read_is_told_and_the_page_stays():
    at = opened(**{"with": "word " * 600})
    assert "There is no second pass" in read(at) and "hidden" not in at.title[0].value and len(at.title) == 1


def test_changes_are_compared_with_the_pass_without_them():
    at = opened(changes="encoder.layer.2.attention.self.probs[head=0]:0")
    view = at.session_state["view"]
    assert isinstance(view, View) and "both began alike" in at.title[0].value
    assert at.session_state["view"].outcome.changed


KINDS = {
    "sequence-classification": "Which class it is",
    "token-classification": "Which class it is",
    "question-answering": "Which span answers",
    "base": "The two passes have no answer to the same question",
    "masked-lm": "Which word fits the blank",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_has_a_page(tmp_path, kind):
    model = str(random_checkpoint(tmp_path, kind=kind))
    query = {"pair": "the cat sat on the mat."} if kind == "question-answering" else {}
    at = opened(model=model, text="the cat [MASK].", **{"with": "the mat [MASK] as rome."}, **query)
    assert KINDS[kind] in read(at)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"num_hidden_layers": 3}, ("compared up to layer 1", "heads are paired only where both numbers are equal")),
        ({"hidden_size": 36}, ("24 numbers in the first model and 36 in the second",)),
        ({"num_attention_heads": 4}, ("3 heads in each of 2 layers, the second 4 in each of 2",)),
        ({"kind": "masked-lm"}, ("only the second has a head", "says something only where one was trained")),
    ],
    ids=str,
)
def test_of_two_models_what_is_common_is_compared_and_the_rest_is_told(tmp_path, config, told):
    one = str(random_checkpoint(tmp_path / "one", kind="masked-lm", seed=1))
    other = str(random_checkpoint(tmp_path / "other", seed=2, **config))
    at = opened(model=one, against=other, text="the cat [MASK].")
    said = read(at)
    assert "Which word fits the blank" in said and "6 matched, 0 alone" in said
    wanted = told if config.get("kind") != "masked-lm" else told[1:]
    assert all(each.lower() in said.lower() for each in wanted), said


def test_the_likeliest_answer_of_a_pass_is_the_highest_of_those_that_it_can_give():
    """Also where the answers before it are the other pass's alone, as of another vocabulary."""
    one, other = np.array([np.nan, 0.2, np.nan, 0.7]), np.array([0.6, 0.1, 0.3, np.nan])
    answers = SimpleNamespace(one=one, other=other, kind=BLANK, at=None, name="abcd".__getitem__)
    trace = SimpleNamespace(
        encoding=SimpleNamespace(ids=[]), model=SimpleNamespace(tokenizer=SimpleNamespace(mask_id=1))
    )
    said = _tell_answers(SimpleNamespace(one=trace, other=trace), answers)
    claims = {claim.name: claim for claim in said.claims}
    for side, row, word in (("first", one, "d"), ("second", other, "a")):
        claim = claims[f"answer of the {side}"]
        assert word in claim.parts["what"].text and claim.others[claim.at[0]] == np.nanmax(row)
