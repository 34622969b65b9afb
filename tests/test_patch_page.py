"""The page Patch: its grids beside patches made by hand, the patch that is kept, and what it says where none can be."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.formula.address import read_address
from bertviz_core.ui.frame.resources import get_findings
from bertviz_core.ui.views.patch_number import read_patch
from tests.factory import random_checkpoint

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
    assert get_findings().settle(60)
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


def measure(model, trace, token=5):
    row = trace[f"cls.predictions.decoder[token={token}]"].astype(float)
    return row[model.tokenizer.id("he")] - row[model.tokenizer.id("she")]


def put(source, target, path, columns=slice(None), token=slice(None)):
    """The target's pass with some numbers of the source's, put in as a plain array."""
    numbers = target[path].copy()
    numbers[token, columns] = source[path][token, columns]
    return target.with_changes({path: numbers})


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
    value = measure(model, put(source, target, path, token=2))
    moved = (value - measure(model, target)) / (measure(model, source) - measure(model, target))
    shown = drawer_of(at)
    assert f"{moved:.4f}" in shown and f"{value:.4f}" in shown and "three passes" in shown


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
