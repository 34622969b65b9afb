"""Windows of long inputs, and the ends of scales."""

import numpy as np
import pytest

from bertviz_core.analysis.ranking import center_range
from bertviz_core.ui.panels.charts import find_limit


@pytest.mark.parametrize(
    ("center", "shown"), [(0, range(4)), (1, range(4)), (5, range(3, 7)), (8, range(6, 10)), (9, range(6, 10))]
)
def test_a_window_stays_within_what_there_is(center, shown):
    assert center_range(center, 4, 10) == shown
    assert center_range(center, 20, 10) == range(10)


def test_masked_scores_do_not_stretch_a_scale():
    assert find_limit(np.array([1.0, -3.0, -1e38])) == 3.0
