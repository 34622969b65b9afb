"""The page Patch: its grids beside patches made by hand, the patch that is kept, and what it says where none can be."""

import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.answers import Span, find_answer
from bertviz_core.analysis.patching import GRIDS, list_paths
from bertviz_core.formula.address import Address, read_address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.views.patch_both import Side, list_shared
from bertviz_core.ui.views.patch_grids import _name_rows
from bertviz_core.ui.views.patch_number import _write_line, read_patch
from tests.factory import random_checkpoint
from tests.latex import evaluated
from tests.settling import settle

APP = str(Path(__file__).parents[1] / "app.py")
DOCTOR, NURSE = (f"The {who} said that [MASK] was late." for who in ("doctor", "nurse"))
LONGER = "The old nurse said that [MASK] was late."
HE_SHE = {"text": DOCTOR, "with": NURSE, "patch-word": "he", "patch-instead": "she"}


@pytest.fixture(scope="module")
def model():
    return bv.load_model()


def opened(**query):
    """The page once all that it works out is known."""
    visit(**query)
    assert settle()
    return visit(**query)


def visit(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.switch_page("pages/patch.py").run()
    assert not at.exception and not at.error
    return at


def told(at):
    return " ".join(each.value for each in [*at.info, *at.caption]).replace("\\", "")


def drawer_of(at):
    return " ".join(re.sub("<[^>]*>", " ", each.proto.body) for each in at.get("html"))


def measure(model, trace, token=5, words=("he", "she")):
    row = trace[f"cls.predictions.decoder[token={token}]"].astype(float)
    return row[model.tokenizer.id(words[0])] - row[model.tokenizer.id(words[1])]


def put(source, target, path, columns=slice(None), token=slice(None)):
    """The target's pass with some numbers of the source's, put in as a plain array."""
    numbers = target[path].copy()
    numbers[token, columns] = source[path][token, columns]
    return target.with_changes({path: numbers})


def test_while_no_sentence_is_chosen_two_are_patched_about_which_one_would_ask():
    at = opened()
    assert (at.session_state["text"], at.session_state["with"]) == (DOCTOR, NURSE)
    title = at.title[0].value.replace("\N{NO-BREAK SPACE}", " ")
    assert title.startswith("*Where does “doctor” become “he”?*") and "An example." in drawer_of(at)
    links = {each.proto.page: parse_qs(each.proto.query_string) for each in at.get("page_link")}
    assert links["patch"].items() >= {"text": [DOCTOR], "with": [NURSE]}.items()
    assert "bank" in links["compare"]["text"][0] and "text" not in links["attention"]
    at = visit(text=DOCTOR, **{"with": NURSE})  # the same sentences, by a link: a page is what its address says
    assert "An example." in drawer_of(at)


@pytest.mark.parametrize("direction", ["restore", "lose"])
def test_the_headline_names_the_head_that_moves_the_measure_farthest(model, direction):
    source, target = (bv.run(model, text) for text in ((DOCTOR, NURSE) if direction == "restore" else (NURSE, DOCTOR)))
    start, end = measure(model, target), measure(model, source)
    paths = [f"encoder.layer.{i}.attention.self.context" for i in range(6)]
    parts = [slice(32 * head, 32 * head + 32) for head in range(12)]
    values = [[measure(model, put(source, target, path, part)) for part in parts] for path in paths]
    moved = (np.array(values) - start) / (end - start)
    layer, head = np.unravel_index(np.abs(moved).argmax(), moved.shape)
    at = opened(**HE_SHE, direction=direction)
    title = at.title[0].value.replace("\N{NO-BREAK SPACE}", " ")
    assert f"In layer {layer}, head {head} alone carries **{100 * moved[layer, head]:.0f} %**" in title
    assert ("“doctor” become “he”" if direction == "restore" else "“nurse” become “she”") in title
    assert len(at.get("plotly_chart")) == 6


def test_the_drawer_works_a_patch_out(model):
    path = "encoder.layer.4.output.LayerNorm"
    at = opened(**HE_SHE, walk=f"{path}.patched[token=2]")
    source, target = bv.run(model, DOCTOR), bv.run(model, NURSE)
    patched = put(source, target, path, token=2)
    value = measure(model, patched)
    moved = (value - measure(model, target)) / (measure(model, source) - measure(model, target))
    shown = drawer_of(at)
    assert f"{moved:.4f}" in shown and f"{value:.4f}" in shown and "three passes" in shown
    words = re.sub(r"\s+", " ", shown.partition("three passes")[2])
    assert words.startswith(" word into patched from he ")
    for word in ("he", "she"):
        cell = f"cls.predictions.probs[token=5,vocab={model.tokenizer.id(word)}]"
        shares = (format_percent(float(trace[cell])) for trace in (target, patched, source))
        assert f" {word} {' '.join(shares)} ".replace("\N{NO-BREAK SPACE}", " ") in words


@pytest.mark.parametrize("way", [True, False])
def test_the_formula_of_a_patch_gives_how_far_it_moves(way):
    source, target, value = 2.0, -1.0, 0.5
    worked = _write_line(source, target, value, way).worked.replace(r"\dfrac", r"\frac")
    assert float(evaluated(worked)) == pytest.approx((value - target) / (source - target) if way else value - target)


def test_the_words_that_differ_are_marked_in_their_own_rows_also_where_they_stand_at_other_places():
    at = visit(text=DOCTOR, pairs="0-0.2-3.5-6", **{"with": LONGER})
    shown = " ".join(each.proto.body for each in at.get("html"))
    assert re.findall(r'bv-marked">([^<]*)<', shown) == ["doctor", "nurse"]
    assert re.findall(r'bv-masked[^"]*">([^<]*)<', shown) == ["[MASK]", "[MASK]"]


def test_a_patch_that_is_kept_is_a_change_on_all_pages(model):
    place = "encoder.layer.4.output.LayerNorm[token=2]"
    at = opened(**HE_SHE, walk=f"{place.replace('[', '.patched[')}")
    at.button(key="patch-keep").click().run()
    assert not at.exception
    says = {name: at.session_state[name] for name in ("text", "with", "changes", "direction")}
    assert says == {"text": NURSE, "with": DOCTOR, "changes": f"{place}:from", "direction": "lose"}
    expected = put(bv.run(model, DOCTOR), bv.run(model, NURSE), place.partition("[")[0], token=2)
    probs = "cls.predictions.probs[token=5]"
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(says)
    at.switch_page("pages/predictions.py").run()
    np.testing.assert_array_equal(at.session_state["view"].outcome.after[probs], expected[probs])
    assert not at.exception and "the other pass" in at.button(key="undo-0").label.replace("\\", "")


HIDDEN = {"text": "When in Rome, do as the [MASK] do.", "token": "8", "patch-word": "people", "patch-instead": "men"}


@pytest.mark.parametrize("direction", ["restore", "lose"])
@pytest.mark.parametrize("masked", [(), (3,)])
def test_without_a_second_sentence_the_last_word_is_hidden_in_what_the_drawer_works_out(model, masked, direction):
    path, mask = "encoder.layer.3.output.LayerNorm", ",".join(map(str, masked))
    passes = bv.run(model, HIDDEN["text"], masked=masked), bv.run(model, HIDDEN["text"], masked=(*masked, 9))
    source, target = passes if direction == "restore" else passes[::-1]
    runs = target, put(source, target, path, token=9), source
    start, value, end = (measure(model, run, 8, ("people", "men")) for run in runs)
    at = visit(**HIDDEN, direction=direction, mask=mask, walk=f"{path}.patched[token=9]")
    told = drawer_of(at).partition("Moved by this patch")[2].replace("\N{MINUS SIGN}", "-")
    moved, number = float(told.split()[0]), float(re.findall(r"\bto\s+(-?\d+\.\d+)\s+,", told)[0])
    assert moved == pytest.approx((value - start) / (end - start), abs=6e-5)
    assert number == pytest.approx(value, abs=6e-5)


def test_a_patch_into_the_pass_with_the_last_word_hidden_is_kept_in_that_pass(model):
    place = "encoder.layer.3.output.LayerNorm[token=9]"
    at = visit(**HIDDEN, walk=place.replace("[", ".patched["))
    at.button(key="patch-keep").click().run()
    assert not at.exception
    says = {name: at.session_state[name] for name in ("text", "with", "mask", "changes", "direction")}
    assert says == {
        "text": HIDDEN["text"], "with": HIDDEN["text"], "mask": "9", "changes": f"{place}:from", "direction": "lose"
    }  # fmt: skip
    passes = (bv.run(model, HIDDEN["text"], masked=masked) for masked in ((), (9,)))
    expected = put(*passes, place.partition("[")[0], token=9)
    after = visit(**says).session_state["view"].outcome.after
    probs = "cls.predictions.probs[token=8]"
    np.testing.assert_array_equal(after[probs], expected[probs])
    hidden = visit(**HIDDEN, mask="3", walk=place.replace("[", ".patched["))
    assert "patch-keep" not in [button.key for button in hidden.button]  # no URL would say what is on screen then


def test_noise_takes_the_place_of_a_second_sentence(model):
    at = opened(text=DOCTOR, **{"with": DOCTOR})
    assert "Twice the same pass" in told(at) and "Twice the same pass" in at.title[0].value
    at.button(key="patch-noise").click().run()
    noise = at.session_state["with"]
    assert noise == "changes:embeddings.LayerNorm[token=5]:noise=7" and not at.exception
    assert "carries" in opened(text=DOCTOR, **{"with": noise}).title[0].value


def test_unmatched_tokens_are_not_patched():
    at = opened(text=LONGER, **{"with": NURSE})
    assert "Unmatched tokens are not patched" in told(at) and "“old”" in told(at)


def test_two_passes_of_one_measure_have_no_percentages():
    at = opened(text=DOCTOR, **{"with": NURSE, "patch-word": "he", "patch-instead": "he"})
    assert "there is nothing to restore" in at.title[0].value


def test_a_model_of_other_sizes_is_refused_in_words(tmp_path):
    at = opened(text=DOCTOR, against=str(random_checkpoint(tmp_path / "other")))
    assert "only models of the same sizes" in told(at) and not at.get("plotly_chart")


@pytest.mark.parametrize("kind", ["base-without-pooler", "sequence-classification"])
def test_what_answers_no_words_is_measured_by_its_classes_or_not_at_all(tmp_path, kind):
    at = opened(model=str(random_checkpoint(tmp_path / kind, kind=kind)), text="the cat sat", **{"with": "the mat sat"})
    if kind == "sequence-classification":
        assert at.get("plotly_chart") and "two words" not in at.selectbox[0].options
    else:
        assert "no answer in common" in told(at)


def test_an_answer_in_a_text_is_measured_at_the_matched_token_of_the_other_pass(tmp_path):
    """Where the other pass answers otherwise, too: its own answer is another number."""
    model = bv.load_model(random_checkpoint(tmp_path, kind="question-answering"))
    one = bv.run(model, "who sat", "the cat sat on the mat")
    start, end = find_answer(one).start, find_answer(one).end
    other = one.with_changes({"qa_outputs[token=9,bound=0]": 60.0, "qa_outputs[token=9,bound=1]": 60.0})
    assert 9 not in (start, end) and find_answer(other) == Span(9, 9)
    sides = [Side(trace, "", 1, "who sat", "the cat sat on the mat", ()) for trace in (one, other)]
    pairs = tuple((i, i) for i in range(len(one.tokens)))
    cells = f"qa_outputs.start.probs[start={start}]", f"qa_outputs.end.probs[end={end}]"
    shared = list_shared(*sides, pairs)
    assert [tuple(str(measure.cell) for measure in both) for both in shared.values()] == [
        (cell, cell) for cell in cells
    ]
    moved = list_shared(*sides, tuple((i, i - 1) for i, _ in pairs if i not in (0, start)))
    assert [str(there.cell) for _, there in moved.values()] == [f"qa_outputs.end.probs[end={end - 1}]"] * (end != start)


@pytest.mark.parametrize("where", ["embeddings.LayerNorm.patched", "embeddings.LayerNorm.patched[token=99]"])
def test_an_address_that_names_no_patch_is_refused(model, where):
    with pytest.raises(bv.AddressError, match="names no patch"):
        read_patch(bv.run(model, DOCTOR), read_address(where))


def test_a_special_token_gives_the_place_to_one_that_both_have():
    at = opened(**HE_SHE, token="0")
    assert "words are read at “[MASK]”" in told(at) and "carries" in at.title[0].value


def test_where_one_word_alone_is_likely_it_is_compared_with_the_next(model):
    text = "When in Rome, do as the [MASK] do."
    at = visit(text=text, token="2")
    likely = bv.run(model, text)["cls.predictions.probs[token=2]"]
    assert (likely > 0.01).sum() == 1
    words = {box.label: box.value for box in at.selectbox}
    assert model.tokenizer.token(int(likely.argmax())) in {words["Word"], words["Less the word"]}
    assert words["Word"] != words["Less the word"] and "there is nothing to restore" not in at.title[0].value


def test_words_are_offered_in_the_order_of_both_passes_together(model):
    one, two = (bv.run(model, text)["cls.predictions.probs[token=5]"].astype(float) for text in (DOCTOR, NURSE))
    offered = {box.label: box for box in opened(**HE_SHE).selectbox}["Word"].options
    ids = [model.tokenizer.id(word) for word in offered]
    assert ids == sorted(ids, key=lambda i: -(one[i] + two[i]))
    assert all(ids != sorted(ids, key=lambda i: -row[i]) for row in (one, two))


def test_a_row_is_named_after_the_layer_whose_vectors_it_patches(model):
    trace = bv.run(model, DOCTOR)
    for grid in GRIDS:
        paths = list_paths(trace, grid)
        known = SimpleNamespace(grids={grid: SimpleNamespace(paths=paths)})
        layers = [Address(path).layer for path in paths]
        assert _name_rows(known, grid) == ["embed" if layer is None else f"layer {layer}" for layer in layers]


def test_tokens_matched_by_hand_are_turned_round_with_the_two_passes():
    at = opened(**HE_SHE, pairs="0-0.2-2.5-4", walk="encoder.layer.4.output.LayerNorm.patched[token=2]")
    at.button(key="patch-keep").click().run()
    assert not at.exception and at.session_state["pairs"] == "0-0.2-2.4-5"
