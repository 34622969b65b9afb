"""Windows of long inputs, and the ends of scales."""

import numpy as np
import pytest

from bertviz_core.analysis.ranking import center_range, find_limit, rank_top


@pytest.mark.parametrize(
    ("center", "shown"), [(0, range(4)), (1, range(4)), (5, range(3, 7)), (8, range(6, 10)), (9, range(6, 10))]
)
def test_a_window_stays_within_what_there_is(center, shown):
    assert center_range(center, 4, 10) == shown
    assert center_range(center, 20, 10) == range(10)


def test_masked_scores_do_not_stretch_a_scale():
    assert find_limit(np.array([1.0, -3.0, -1e38])) == 3.0


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_come_in_order_and_equal_ones_by_their_index(seed):
    values = np.random.default_rng(seed).integers(0, 4, size=50).astype(np.float32)  # of each number there are many
    for k in (0, 1, 2, 7, 49, 50, 60):
        expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
        assert rank_top(values, k) == expected


def test_a_vector_of_equal_numbers_is_ranked_by_index():
    assert rank_top(np.zeros(30_000, np.float32), 3) == [0, 1, 2]


def test_what_is_no_number_comes_last():
    assert rank_top(np.array([np.nan, 1.0, -np.inf, np.nan, 2.0]), 4) == [4, 1, 0, 2]
