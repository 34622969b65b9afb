"""What is said where a change applies another function, or puts numbers beside those that are told of."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.ui.panels.put import tell_way
from bertviz_core.ui.views import embeddings_said, heads_ablation
from bertviz_core.ui.views.attention_output_bringing import read_bringing
from tests.canvas import look
from tests.test_put import opened
from tests.test_said_after_changes import read_all

TEXT = "Iron rusts, gold [MASK] not."
LAYER = "encoder.layer.2"


@pytest.fixture(scope="module")
def iron(bundled):
    return bv.run(bundled, TEXT)


@pytest.mark.parametrize(("value", "zero"), [(0.0, True), (0, True), (0.5, False), (bv.run, False), (None, False)])
def test_a_head_is_left_out_where_it_is_0_and_not_where_it_is_changed(value, zero):
    assert heads_ablation.is_zero(value) == zero


@pytest.mark.parametrize(("rule", "left"), [("uniform", False), ("scale=0.5", False), (0.0, True)])
def test_heads_says_so_of_the_chosen_one(rule, left):
    changes = {f"{LAYER}.attention.self.probs[head=4]": rule}
    at = opened("heads", changes, TEXT, token="5", layer="2", head="4")
    labels = [button.label for button in at.button]
    assert ("Layer 2, head 4 is left out" in labels) == left and ("Show that pass" in labels) != left


def test_the_pooler_is_told_of_by_the_function_that_it_applies():
    changes = {"pooler.activation": "relu", "cls.predictions.transform.activation": "relu"}
    page = read_all(opened("sentence", changes, TEXT, token="5", open="pooler"))
    assert "after ReLU" in page and "on the curve of ReLU" in page and "A change applies ReLU to each number." in page
    assert not re.search(r"after tanh|the tanh curve|where tanh|tanh of that vector|before tanh", page)
    plain = read_all(opened("sentence", {}, TEXT, token="5", open="pooler"))
    assert "after tanh" in plain and "on the curve of tanh" in plain and "where tanh is nearly flat" in plain
    folds = [fold.label for fold in opened("predictions", changes, TEXT, token="5").expander]
    assert any("Transform" in fold for fold in folds) and not any("GELU" in fold for fold in folds)


@pytest.mark.parametrize("leaf", ["scaled", "scores"])
def test_weights_are_not_said_to_come_from_dot_products_that_a_change_passes_over(leaf):
    at = opened("query_key_value", {f"{LAYER}.attention.self.{leaf}": 0.5}, TEXT, token="5", layer="2", head="4")
    page = read_all(at)
    assert "after scaling and softmax" not in page and "by softmax, of scores that a change puts" in page
    assert "after scaling and softmax" in read_all(opened("query_key_value", {}, TEXT, token="5", layer="2", head="4"))


@pytest.mark.parametrize("part", ["mean", "variance", "normalized"])
@pytest.mark.parametrize("norm", ["embeddings.LayerNorm", "encoder.layer.5.output.LayerNorm"])
def test_norms_do_not_rest_on_gamma_where_a_change_puts_numbers_into_a_layer_norm(norm, part):
    page = read_all(opened("layers", {f"{norm}.{part}": 0.01}, TEXT, token="5", open="all"))
    assert "Every stage ends with a LayerNorm, so" not in page and "a change lets some end otherwise" in page


@pytest.mark.parametrize("part", ["mean", "variance", "normalized"])
def test_the_deviation_after_a_layer_norm_with_other_numbers_is_the_recorded_one(iron, part):
    trace = iron.with_changes({f"embeddings.LayerNorm.{part}": 100.0})
    told = embeddings_said.tell_deviation(look(trace, token=5)).text
    was, now = (trace[name][5].astype(float).std() for name in ("embeddings.sum", "embeddings.LayerNorm"))
    found = [float(each) for each in re.findall(r"\d+\.\d+", told)]
    np.testing.assert_allclose(found, [was, now], rtol=2e-3)
    assert "1.0000" not in told and "γ and β" not in told


def test_masked_scores_that_a_change_puts_are_not_said_to_be_masked_out():
    at = opened("attention", {f"{LAYER}.attention.self.scores": 0}, TEXT, pad="16", token="5", layer="2", open="all")
    page = read_all(at)
    assert "Masked scores: a change puts some" in page and "padding masked out" not in page


def test_padding_of_which_something_is_taken_is_among_the_rows(bundled):
    text = "She reads. [MASK] reads too."
    padded = bv.run(bundled, text, pad_to=11)
    seen = look(padded.with_changes({f"{LAYER}.attention.self.scores": 0.0}), token=4, head=(2, 3))
    found = read_bringing(seen)
    assert list(found.shown) == list(range(11)) and not found.others
    assert found.found.weights[3][list(found.shown)].sum() == pytest.approx(1, abs=1e-6)
    assert 10 not in read_bringing(look(padded, token=4, head=(2, 3))).shown


def test_a_verdict_needs_two_segments():
    page = read_all(opened("sentence", {"token_type_ids": 1}, "hello", token="1"))
    assert "segment 0" not in page.split("**")[0] and "Does segment 1 follow" not in page


def test_a_way_between_is_told_as_it_was_where_no_change_reaches_it(iron):
    row = Address(f"{LAYER}.attention.self.probs").fix(head=0, query=5)
    assert tell_way(look(iron, token=5), row, "softmax") == "softmax"
