"""Words beside right numbers: which of two counts is which, what lies above what, what stands out; counted here."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import slips
from bertviz_core.analysis.facts import needs_sentence
from bertviz_core.analysis.hiding import Guess
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.analysis.printed import Verdict
from bertviz_core.analysis.walk import list_turns
from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.documents.names import NAMES, SOURCES
from bertviz_core.documents.printed import FACTS, OTHERS
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import RELATION
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.texts import write_count
from bertviz_core.ui.frame import controls, what_if
from bertviz_core.ui.frame.preparation import prepare
from bertviz_core.ui.frame.view import Outcome
from bertviz_core.ui.panels.names import IN_CODE, IN_FORMULAS, write_css, write_table
from bertviz_core.ui.panels.printed_grid import KEY, render_grid
from bertviz_core.ui.views import heads_ablation, predictions_reason, sentence, story
from bertviz_core.ui.views.documents_slips import _tell_changed
from bertviz_core.ui.views.parameters import write_size
from bertviz_core.ui.views.tokenization_lead import _render_guess, _tell_guess
from bertviz_core.ui.walk.explain import work_out, write_text
from bertviz_core.ui.walk.templates.choosing import explain_number
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.test_documents_page import MASK, opened, page, words  # noqa: F401 - a fixture
from tests.test_heads_worth import weigh

NOTE = "forward-pass-note"


# Documents.


def test_the_card_of_the_other_epsilon_says_how_many_are_printed_and_how_many_change(page, rome):  # noqa: F811
    cards = next(body for body in (element.proto.body for element in page.get("html")) if 'class="bv-slips"' in body)
    seen = slips.measure_printed_epsilon(rome)
    assert seen.count == 36 and seen.changed != 36
    told = f"They change by up to {format_number(seen.largest)}, {seen.changed} of them in the printed digits."
    assert f"prints 36 numbers after it. {told}" in cards


def test_where_no_printed_number_changes_none_is_said_to():
    told = [_tell_changed(slips.Seen(0.5, changed, 36)) for changed in (0, 1, 2)]
    assert told == ["none of them", "1 of them", "2 of them"]


def test_a_greek_letter_stays_small_in_the_list_of_slips(page):  # noqa: F811
    told = words(page)
    assert "**ε of this model's configuration" in told and "**Ε" not in told


def test_facts_of_the_notebooks_sentence_are_not_counted_as_differing():
    told = [sum(map(needs_sentence, facts)) for facts in (FACTS, OTHERS)]
    assert told == [31, 0]
    at = opened(text="Winter came early.")
    captions = " ".join(caption.value for caption in at.switch_page("pages/notebook.py").run().caption)
    assert captions.count("Not compared, since they are those of the notebook's sentence: ") == 1
    assert f"sentence: {told[0]}. Sizes may differ" in captions


def test_a_document_beside_itself_is_told_once():
    at = opened(document="notebook", beside="notebook")
    assert at.title[0].value.count("the notebook “") == 1
    assert sum(element.value.count("**notebook (001)**") for element in at.caption) == 1


@pytest.mark.parametrize(("amount", "told"), [(0, "0 steps"), (1, "1 step"), (1200, "1,200 steps")])
def test_of_one_thing_the_singular_is_written(amount, told):
    assert write_count(amount, "step") == told


def test_the_plural_may_be_another_word():
    assert (write_count(1, "entry", "entries"), write_count(3, "entry", "entries")) == ("1 entry", "3 entries")


@pytest.mark.parametrize(("size", "told"), [(13_691, "13,691"), (999_999, "999,999"), (25_674_618, "25.7 million")])
def test_less_than_a_million_numbers_are_not_written_in_millions(size, told):
    assert write_size(size) == told


def test_one_change_is_called_so_and_several_are_too(rome):
    head = "encoder.layer.0.attention.self.probs[head={}]"
    one, two = (look(rome, rome.with_changes({head.format(i): 0.0 for i in range(count)})) for count in (1, 2))
    assert [one.outcome.yours, two.outcome.yours] == ["your change", "your changes"]
    assert one.outcome.say_unreached("this") == "your change does not reach this"
    assert two.outcome.say_unreached("this") == "your changes do not reach this"


@pytest.mark.parametrize(("rank", "tied", "right"), [(1, 1, True), (1, 2, False), (2, 1, False)])
def test_a_guess_is_right_where_no_other_is_as_likely(rank, tied, right):
    guess = Guess(7, "word", 0.5, rank, tied)
    assert guess.right == right == ("✓" in _render_guess(guess, False))


def test_of_guesses_that_tie_none_is_called_the_guess(rome):
    none = rome.with_changes({f"cls.predictions.probs[token={MASK}]": 0.0})
    told = _tell_guess(none, MASK, rome.encoding).text
    assert told.endswith(
        "30,522 of 30,522 words tie at **0\N{NO-BREAK SPACE}%**; the word that stood there is one of these"
    )


def test_where_the_other_epsilon_changes_most_is_named(page, rome):  # noqa: F811
    found = {}
    for name, address in slips.list_norm_inputs(rome).items():
        x = rome[address].astype(np.float64)
        flat, spread = x - x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        found[name] = np.abs(flat / np.sqrt(spread + 1e-5) - flat / np.sqrt(spread + 1e-12)).max()
    told = " ".join(caption.value for caption in page.caption)
    assert f"here most at {max(found, key=found.get)}." in told


def test_what_only_one_of_two_formulas_reads_is_said_of_that_one(bundled):
    bert, note = (bundled.written(name) for name in ("bert", NOTE))
    address = "encoder.layer.3.output.residual"
    mine, other = ({leaf.address for leaf in program.by_address[address].leaves} for program in (bert, note))
    entry = next(part for part in words(opened(document=NOTE)).split("\n- ") if f"`{address}`" in part)
    for verb, leaves in (("Does not read", mine - other), ("Also reads", other - mine)):
        said = re.search(rf"{verb} ([^.]*(?:\.\w[^.]*)*)\.", entry)[1]
        assert leaves and set(re.findall(r"`([^`]+)`", said)) == leaves, verb


# Predictions and classes.


def reason(view, name, vocab):
    return getattr(predictions_reason, name).__wrapped__(view, vocab)


def test_products_that_raise_a_logit_are_told_from_those_that_lower_it(rome):
    view = look(rome, token=MASK)
    best = int(rome["cls.predictions.probs"][MASK].argmax())
    vector, weights = rome["cls.predictions.transform.LayerNorm"][MASK], rome["cls.predictions.decoder.weight"]
    terms = vector.astype(np.float64) * weights[:, best]
    up, down = float(terms[terms > 0].sum()), float(terms[terms < 0].sum())
    worked = reason(view, "show_score", best).origin.worked
    assert down < 0 < up and f"{format_latex(up)} - {format_latex(-down)}" in worked


def test_a_logit_lies_above_the_second_and_below_the_first(rome):
    view, scores = look(rome, token=MASK), rome["cls.predictions.decoder"][MASK].astype(np.float64)
    first, second, third = np.argsort(-scores)[:3]
    name = rome.model.tokenizer.token
    for vocab, other, side in ((first, second, "above"), (third, first, "below")):
        told, apart = (
            reason(view, "show_all_scores", int(vocab)).note,
            format_number(abs(scores[vocab] - scores[other])),
        )
        assert told.startswith(f"“{name(int(vocab))}”: {apart} {side} “{name(int(other))}”: ")


@pytest.mark.parametrize(
    ("count", "over"), [(2, "the other one"), (3, "the mean of the others"), (4, "the mean of the others")]
)
def test_a_lead_is_over_what_its_formula_takes_off(tmp_path, count, over):
    model = bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification", num_labels=count))
    view = look(bv.run(model, "the cat sat"), token=0, head=(0, 0))
    shown = sentence._show_evidence.__wrapped__(view, Address("classifier"), model.labels)
    assert f"The lead of the highest logit over {over}, split by component." in shown.origin.meaning


# Heads, changes, the story.


def test_heads_without_which_the_answer_falls_are_told_from_those_without_which_it_rises(rome):
    worth = weigh(rome, {**{(2, head): -0.1 for head in range(5)}, (0, 1): 0.1, (3, 3): 0.2})
    told = heads_ablation.write_counts(worth).replace("\\", "")
    assert told.startswith(f"Without 5 of 72 heads {worth.name} falls, without 2 it rises;")
    told = heads_ablation.write_counts(weigh(rome, {})).replace("\\", "")
    assert told == f"Without any one of 72 heads {worth.name} stays as it is."


def test_the_bar_over_the_other_is_that_of_the_pass_after_a_change(rome):
    after = rome.with_changes({"encoder.layer.1.attention.self.probs[head=9]": 0})
    body = what_if._render_moves(Outcome(rome, after, {}), MASK)
    moves = re.findall(
        r'<b>([^<]+)</b><span class="bv-pair"[^>]*><i style="width:([\d.]+)%"></i>'
        r'<i style="width:([\d.]+)%"></i></span>([^<]+) → <b>([^<]+)</b>',
        body,
    )
    rows = [trace["cls.predictions.probs"][MASK].astype(np.float64) for trace in (after, rome)]
    end = max(row.max() for row in rows)
    assert len(moves) == 3
    for word, over, under, was, now in moves:
        shares = [row[rome.model.tokenizer.id(word)] for row in rows]
        np.testing.assert_allclose([float(over), float(under)], 100 * np.array(shares) / end, atol=0.06)
        assert [now, was] == [format_percent(float(share)) for share in shares] and now != was


@pytest.fixture(scope="module")
def way(rome):
    """The story of the likeliest word, and what its line is drawn from."""
    best = int(rome["cls.predictions.probs"][MASK].argmax())
    start = Address("cls.predictions.probs").fix(token=MASK, vocab=best)
    told = story.Story(rome, "people", start, list_turns(rome, start))
    return told, story._make_drawing(look(rome, token=MASK), told, 0, None)["stops"]


def test_a_link_of_the_story_is_as_thick_as_the_part_is_of_the_whole(way):
    told, stops = way
    parts = 0
    for place, stop in zip(told.stops, stops, strict=True):
        choice = told.turns[place].choice
        if choice and choice.measure.sums and choice.part.amount is not None:
            whole = abs(float(told.trace[told.turns[place].cell]))
            assert stop["share"] == pytest.approx(min(1.0, abs(choice.part.amount) / whole))
            assert stop["part"] == format_number(choice.part.amount)
            parts += stop["share"] < 0.9
        else:
            assert (stop["share"], stop["part"]) == (0.1, "")
    assert parts


# Names and meanings.


def test_the_answers_of_the_next_sentence_head_have_one_order():
    assert RELATION.meaning == f"one answer: 0, {RELATIONS[0]}; 1, {RELATIONS[1]}"


def test_a_score_is_divided_by_the_root_as_its_step_does(rome):
    scaled = rome.step("encoder.layer.0.attention.self.scaled")
    assert r"\sqrt{d_k}" in scaled.latex and "divided by √d_k," in scaled.meaning
    assert "divided by √d_k:" in GLOSSARY["attention score"]


@pytest.mark.parametrize(("leaf", "equation"), [
    ("attention.self.products", 1), ("attention.self.scaled", 1), ("attention.self.probs", 1),
    ("intermediate.dense", 2), ("output.dense", 2),
])  # fmt: skip
def test_a_step_names_the_equation_that_it_is_part_of(rome, leaf, equation):
    """Of Attention Is All You Need: 1 is scaled dot-product attention, 2 the feed-forward network."""
    source = rome.step(f"encoder.layer.0.{leaf}").source
    assert source == f"Vaswani et al. 2017, Attention Is All You Need, eq. {equation}"


def test_a_residual_sum_is_called_a_sum_and_what_is_normalized_is_not():
    for part in ("attention.output", "output"):
        total, norm = (NAMES[f"encoder.layer.{{i}}.{part}.{leaf}"] for leaf in ("residual", "LayerNorm"))
        assert not any("LayerNorm" in getattr(total, source) for source in ("note", "definition", "post", "article"))
        assert norm.article == rf"\mathrm{{LayerNorm}}({total.article})"


def test_on_a_phone_every_name_stands_under_its_own_source():
    heads = [cell.strip() for cell in write_table("step", []).split("\n")[2].strip("|").split("|")]
    labels = re.findall(r'td:nth-child\((\d+)\)::before\{content:"([^"]+)"\}', write_css())
    tables = [tuple(SOURCES), IN_FORMULAS, IN_CODE]
    assert heads[1:] == list(SOURCES.values())
    assert labels == [(str(i), SOURCES[name]) for sources in tables for i, name in enumerate(sources, 2)]


# Forms and lists.


@pytest.mark.parametrize(("pad", "length", "remarks"), [
    ("511", 511, ()), ("512", 512, ()),
    ("513", 512, ("This model reads at most 512 tokens; the input is padded to 512.",)),
])  # fmt: skip
def test_padding_is_cut_beyond_what_the_model_reads_and_not_at_it(bundled, pad, length, remarks):
    assert bundled.config.max_position_embeddings == 512
    found = prepare(bundled, bundled.tokenizer.encode("the cat"), "the cat", pad, "")
    assert (found.pad_to, found.remarks) == (length, remarks)


@pytest.mark.parametrize(("text", "more"), [
    ("the cat sat on the mat and the dog ran", 0), ("the cat sat on the mat and the dog ran off", 3),
])  # fmt: skip
def test_operands_that_are_not_listed_are_told_as_others(bundled, text, more):
    trace = bv.run(bundled, text)
    view = look(trace)
    shown = work_out(view, "encoder.layer.0.attention.self.probs[head=0,query=1,key=2]")
    table = explain_number(view, shown.why, shown.found).table
    assert len(table.rows) == len(trace.tokens) - more
    assert [row.cells[0].text for row in table.ends] == ([f"{more} others"] if more else [])


def test_the_bundled_model_is_called_by_its_own_sizes(bundled):
    sizes = bundled.config.num_hidden_layers, bundled.config.hidden_size
    assert controls._name_model(BUNDLED) == "Bundled: {} layers, hidden size {}".format(*sizes)


def test_the_signs_in_a_grid_are_those_of_its_key():
    """One digit off, and one rounding of single precision."""
    body = render_grid(
        "row",
        ["a"],
        ["x", "y"],
        [["0.0136", "1.0000"]],
        np.array([[0.01366, 1.00007]]),
        [[Verdict.NEAR, Verdict.SINGLE]],
    )
    assert re.findall(r"<small>(≈ \w+) ", body) == ["≈ digit", "≈ rounding"]
    assert "≈: off by one in the last digit, or by single-precision rounding" in KEY


def test_what_is_recorded_is_told_apart_from_what_is_recomputed(rome):
    cells = (f"cls.predictions.decoder[token={MASK},vocab={i}]" for i in range(30_000))
    why = next(why for cell in cells if tell_apart(why := rome.explain(cell)))
    text = write_text(look(rome), why)
    assert f"Recorded: {format_number(why.value)}. Recomputed" in text
    assert f"operands: {format_number(why.recomputed)}. Difference" in text


def tell_apart(why):
    """Whether single precision shows in the digits that are written."""
    return format_number(why.value) != format_number(why.recomputed)
