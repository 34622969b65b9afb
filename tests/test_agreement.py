"""Spearman's rank correlation: cases worked by hand, pandas, and three sentences of the bundled model worked again."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.agreement import correlate_ranks, has_near_ties, rank_amounts
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from tests.often import one_in
from tests.token_parts import transcribe_parts

SENTENCES = (
    "When in Rome, do as the [MASK] do.",
    "The doctor put the [MASK] on the table.",
    "She opened the door and walked into the [MASK] to cook dinner.",
)


def test_equal_amounts_share_the_mean_of_their_ranks():
    np.testing.assert_array_equal(rank_amounts(np.array([3.0, 1.0, 3.0, 7.0, 3.0])), [3, 1, 3, 5, 3])


def test_amounts_that_rounding_tells_apart_are_equal():
    """Two tokens alike, hidden one after the other, leave numbers that differ by what single precision rounds off."""
    np.testing.assert_array_equal(rank_amounts(np.array([0.3, 0.1, 0.3 + 2e-7, -0.2])), [3.5, 2, 3.5, 1])
    np.testing.assert_array_equal(rank_amounts(np.array([0.3, 0.1, 0.3 + 2e-5, -0.2])), [3, 2, 4, 1])
    np.testing.assert_array_equal(rank_amounts(np.array([np.inf, 0.1, np.inf, -0.2])), [3.5, 2, 3.5, 1])


def test_what_rounding_makes_of_small_amounts_is_equal_too():
    """Of a token that makes hardly a difference no other one is further apart than the passes are by rounding."""
    np.testing.assert_array_equal(rank_amounts(np.array([2e-7, 3e-2, -6e-7, 2e-3])), [1.5, 4, 1.5, 3])
    np.testing.assert_array_equal(rank_amounts(np.array([1e-6, 3e-6, 2e-6])), [2, 2, 2])


def test_amounts_that_differ_and_have_one_rank_are_found():
    for amounts, near in (([0.3, 0.3 + 2e-7, 1], True), ([0.3, 0.3, 1], False), ([0.3, 0.3 + 2e-5, 1], False)):
        assert has_near_ties(np.array([*amounts, np.nan])) == near


def test_without_ties_it_is_the_formula_of_squared_differences():
    """Ranks 1 2 3 4 5 and 2 1 4 3 5: differences 1 1 1 1 0, so 1 - 6 * 4 / (5 * 24) = 0.8."""
    left, right = np.array([-4.0, 0.0, 0.1, 2.0, 90.0]), np.array([0.2, 0.1, 8.0, 0.3, 9.0])
    assert correlate_ranks(left, right) == pytest.approx(0.8, abs=1e-15)
    assert correlate_ranks(left, -right) == pytest.approx(-0.8, abs=1e-15)


def test_with_ties_it_is_the_correlation_of_mean_ranks():
    """Ranks 1 2.5 2.5 4 and 1 2 3 4: deviations -1.5 0 0 1.5 and -1.5 -.5 .5 1.5: 4.5 / sqrt(4.5 * 5)."""
    left, right = np.array([1.0, 2.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0, 40.0])
    assert correlate_ranks(left, right) == pytest.approx(4.5 / np.sqrt(22.5), abs=1e-15)


def test_it_is_that_of_pandas_with_many_ties():
    random = np.random.default_rng(0)
    for size in (3, 8, 40):
        left, right = random.integers(0, 6, (2, size)).astype(float)
        expected = pd.DataFrame({"left": left, "right": right}).corr(method="spearman").iloc[0, 1]
        assert correlate_ranks(left, right) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_a_pair_without_a_number_is_left_out(missing):
    left, right = np.array([1.0, 99.0, 2.0, 3.0]), np.array([3.0, missing, 2.0, 1.0])
    assert correlate_ranks(left, right) == pytest.approx(-1, abs=1e-15)


@pytest.mark.parametrize("left", [[1.0, 2.0], [5.0, 5.0, 5.0], [np.nan, 1.0, 2.0]])
def test_ranks_that_say_nothing_have_no_correlation(left):
    assert correlate_ranks(np.array(left), np.arange(len(left), dtype=float)) is None


@pytest.fixture(scope="module")
def library():
    return BertForPreTraining.from_pretrained(BUNDLED_FOLDER).double().eval()


@pytest.fixture(scope="module")
def doubled():
    return bv.load_model(dtype=torch.float64)


def hide_by_hand(library, trace, token, word):
    """(token,) by how much the logarithm of a word's probability falls with [MASK] for each token; NaN at a blank."""
    mask, ids = trace.model.tokenizer.mask_id, torch.tensor([trace.encoding.ids] * (len(trace.tokens) + 1))
    for i in range(len(trace.tokens)):
        ids[i + 1, i] = mask
    with torch.inference_mode():
        logs = library(input_ids=ids).prediction_logits[:, token].log_softmax(-1)[:, word].numpy()
    return np.where(ids[0].numpy() == mask, np.nan, logs[0] - logs[1:])


@pytest.mark.parametrize("text", one_in(3, SENTENCES))
def test_parts_agree_with_hiding_as_far_as_both_worked_again_do(doubled, library, text):
    trace = bv.run(doubled, text)
    token = trace.tokens.index("[MASK]")
    word = int(trace[f"cls.predictions.probs[token={token}]"].argmax())
    found = {
        method: bv.attribute(trace, f"cls.predictions.decoder[token={token},vocab={word}]", method=method).parts
        for method in ("parts", "hiding")
    }
    worked = pd.DataFrame(
        {"parts": transcribe_parts(trace, token, word)[:-1], "hiding": hide_by_hand(library, trace, token, word)}
    ).dropna()
    assert len(worked) == len(trace.tokens) - 1, "all tokens but the blank"
    assert correlate_ranks(found["parts"], found["hiding"]) == pytest.approx(worked.corr(method="spearman").iloc[0, 1])
