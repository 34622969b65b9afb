"""What the predictions page says where a change put numbers, and where entries tie; and which name a row has."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.predictions import PROBS, count_holding, find_places, rank_words, run_softmax
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.frame.view import AFTER, BEFORE, DIFFERENCE
from bertviz_core.ui.views import predictions
from bertviz_core.ui.views.predictions import _tell_needed, _tell_terms
from bertviz_core.ui.views.predictions_hidden import _render_row
from bertviz_core.ui.views.predictions_reason import _group_tail, show_score
from bertviz_core.ui.views.predictions_words import _choose_shown, _render_word, _render_words, _write_before
from tests.canvas import look
from tests.factory import random_checkpoint

APP = str(Path(__file__).parent.parent / "app.py")
MASK = 8
SCORE, SCORES, PROBS_0 = (
    "cls.predictions.decoder[vocab=7]:30.0",
    "cls.predictions.decoder:1.0",
    "cls.predictions.probs:0.0",
)


def read(changes, **query):
    """All that the page says in words and formulas, as text."""
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"changes": changes, **query})
    at.run()
    at.switch_page("pages/predictions.py")
    at.query_params.update({"changes": changes, **query})
    at.session_state["open"] = "all"
    at.run()
    assert not at.exception
    said = [each.value for kind in ("title", "markdown", "caption", "latex") for each in at.get(kind)]
    said += [each.proto.body for each in at.get("html")]
    return "\n".join(said).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(("changes", "entry", "value"), [(SCORE, 7, "30.0000"), (SCORES, 0, "1.0000")])
def test_a_logit_that_a_change_put_is_not_said_to_be_the_sum(rome, changes, entry, value):
    vector = rome["cls.predictions.transform.LayerNorm"][MASK].astype(float)
    total = (
        vector @ rome[f"cls.predictions.decoder.weight[vocab={entry}]"] + rome["cls.predictions.decoder.bias"][entry]
    )
    assert "A change puts other numbers there." in read(changes)
    address, _, number = changes.partition(":")
    changed = rome.with_changes({address: float(number)})
    shown = show_score.__wrapped__(look(rome, changed, token=MASK), entry)
    assert rf"= {total:.4f}, \ \text{{but a change puts }} L = {value}" in shown.origin.worked


def test_all_other_entries_together_are_added_up_also_where_next_to_nothing_is_left():
    assert "other entries together: < 0.001 %." in read(SCORE)


@pytest.fixture(scope="module")
def changed(rome):
    return rome.with_changes({"encoder.layer.5.output.LayerNorm[token=8]": 0.5})


@pytest.mark.parametrize("word", ["people", "men", "the", "cat"])
def test_where_an_entry_stood_before_is_its_place_in_the_pass_before(rome, changed, word):
    (entry,) = find_places(changed, MASK, word)
    before = rome[PROBS.fix(token=MASK)]
    share, rank = before[entry.id], int((before > before[entry.id]).sum()) + 1
    assert (rank, share) != (entry.rank, changed[PROBS.fix(token=MASK)][entry.id])
    for show in (AFTER, DIFFERENCE):
        said = _write_before(look(rome, changed, show, token=MASK), entry)
        assert said.endswith(f": rank {rank:,}, {format_percent(float(share))}.") and said.startswith(" Before ")
    assert _write_before(look(rome, changed, BEFORE, token=MASK), entry) == ""


@pytest.mark.parametrize("show", [AFTER, BEFORE])
def test_the_bars_of_both_passes_are_on_one_scale_that_ends_at_the_longest(rome, changed, show):
    view, here = look(rome, changed, show, token=MASK), PROBS.fix(token=MASK)
    shown = [entry for *_, entry in rank_words(view.trace, MASK, 5)]
    parts = np.array(re.findall(r'<i style="width:([\d.]+)%"></i>', _render_words(view, shown)), dtype=float)
    shares = np.stack([trace[here][shown] for trace in ((changed, rome) if show == AFTER else (rome, changed))], axis=1)
    np.testing.assert_allclose(parts.reshape(-1, 2), 100 * shares / shares.max(), atol=0.006)


def test_where_every_probability_is_0_none_holds_half_or_leads():
    said = read(PROBS_0, word="people")
    assert "*Which word fits the blank?* **30,522 of 30,522 words** tie at **0 %**" in said
    assert "30,510 other entries together: 0 %." in said and "Every probability is 0." in said
    assert "but a change puts other probabilities there." in said and "between their probabilities" not in said
    assert "A change puts other numbers there." in said


def test_equal_logits_are_said_to_be_equal():
    said = read(SCORES)
    assert "As high as “" in said and "a factor of" not in said
    assert "Every entry's term is 1: all logits are equal." in said


@pytest.mark.parametrize(("scores", "terms", "needed"), [
    ([9, 0, 0, 0], "The top entry has a term of 1; all others less.", "Of the probability the top one holds > 99.9 %."),
    ([3, 0, 0, 0], "The top entry has a term of 1; all others less.",
     "Of the probability the top one holds 87 %, the top 4 hold 100 %."),
    ([0, 0, -9, -9], "The top 2 entries have a term of 1; all others less.",
     "Of the probability the top 2 hold > 99.9 %."),
    ([0, 0, 0, 0], "Every entry's term is 1: all logits are equal.",
     "Of the probability the top 2 hold 50 %, the top 4 hold 100 %."),
])  # fmt: skip
def test_how_few_terms_hold_half(scores, terms, needed):
    found = run_softmax(np.array(scores, dtype=np.float32))
    assert _tell_terms(found) == terms
    assert _tell_needed(found).replace("\N{NO-BREAK SPACE}", " ") == needed


def test_the_fewest_shares_that_hold_a_part_are_counted():
    shares = np.array([0.1, 0.2, 0.4, 0.3])
    assert [count_holding(shares, part) for part in (0.1, 0.39, 0.41, 0.7, 0.71, 1)] == [1, 1, 2, 2, 3, 4]
    assert count_holding(np.array([2.0, 1.0, 1.0]), 0.5) == 1  # also where a change makes all of them more than 1


@pytest.mark.parametrize(("place", "counts"), [
    (0, {"8–30": 23, "31–100": 70, "101–1,000": 900, "1,001 on": 500}),
    (29, {"8–30": 22, "31–100": 70, "101–1,000": 900, "1,001 on": 500}),
    (30, {"8–30": 23, "31–100": 69, "101–1,000": 900, "1,001 on": 500}),
])  # fmt: skip
def test_groups_of_the_tail_are_named_by_their_first_and_last_rank(place, counts):
    shares = np.arange(1, 1501) / 1500  # of 1,500 entries each has as much
    assert {name: round(1500 * share) for name, share in _group_tail(shares, place).items()} == counts
    assert list(_group_tail(shares[:40], 0)) == ["8–30", "31 on"]


def test_a_row_without_an_entry_is_called_by_its_id(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path)), "The [MASK] sat.")
    nameless = trace.model.tokenizer.vocabulary.index("")
    put = trace.with_changes({str(PROBS.fix(token=2, vocab=nameless)): 0.9})
    assert rank_words(put, 2, 1)[0][0] == f"id {nameless}" == trace.model.tokenizer.name(nameless)


def test_an_entry_with_quotation_marks_stays_inside_its_button():
    entry = '"><b>&'
    tokenizer = SimpleNamespace(token=lambda _: entry, name=lambda _: entry)
    view = SimpleNamespace(
        trace=SimpleNamespace(model=SimpleNamespace(tokenizer=tokenizer)), chosen=SimpleNamespace(token=2)
    )
    row = _render_word(view, 7, 1, [0.5], 1.0)
    assert 'data-choose="word=&quot;&gt;&lt;b&gt;&amp;" ' in row and ">&quot;&gt;&lt;b&gt;&amp;</button>" in row


def test_the_words_that_moved_most_are_those_that_rose_and_those_that_fell(rome):
    changed = rome.with_changes({"encoder.layer.5.output.LayerNorm[token=8]": 0.1})
    moves = changed["cls.predictions.probs"][MASK].astype(float) - rome["cls.predictions.probs"][MASK]
    shown = _choose_shown(look(rome, changed, show=DIFFERENCE, token=MASK))
    assert set(shown) == set(np.argsort(-np.abs(moves))[: len(shown)])
    assert min(moves[shown]) < 0 < max(moves[shown])


@pytest.mark.parametrize("word", ["", "romans"])
def test_where_a_words_logit_comes_from_is_asked_of_the_word_that_is_shown(rome, word):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"word": word})
    at.switch_page("pages/predictions.py").run()
    name = word or rank_words(rome, MASK, 1)[0][0]
    (link,) = (each.proto for each in at.get("page_link") if each.proto.label.startswith("Where from: "))
    asked = f"cls.predictions.decoder[token={MASK},vocab={rome.model.tokenizer.id(name)}]"
    assert parse_qs(link.query_string)["of"] == [asked] and link.label.endswith(f"“{name}”")


def test_a_logit_less_the_highest_is_never_above_0(rome, monkeypatch):
    shown = {}

    def note(_, names, columns):
        shown.update({each.name: each for each in columns})

    monkeypatch.setattr(predictions, "render_table", note)
    predictions._render_softmax(rome, MASK)
    logits = np.array(shown["logit"].values)
    assert shown["logit − max"].values == pytest.approx(list(logits - logits.max())) and logits.min() < logits.max()


@pytest.mark.parametrize(("masked", "press", "left"), [((), 3, "3"), ((3,), 5, "3,5"), ((3, 5), 3, "5"), ((3,), 3, "")])
def test_a_press_hides_a_token_and_another_one_shows_it_again(rome, masked, press, left):
    hidden = bv.run(rome.model, "When in Rome, do as the [MASK] do.", masked=masked)
    row = _render_row(replace(look(hidden, token=MASK), typed=rome.encoding), press, None)
    assert f'data-choose="mask={left}"' in row and ("Show" if press in masked else "Hide") in row


def test_the_words_after_each_layer_are_one_click_away():
    at = AppTest.from_file(APP, default_timeout=60).run().switch_page("pages/predictions.py").run()
    assert "Layers: the words after each layer" in [link.proto.label for link in at.get("page_link")]
