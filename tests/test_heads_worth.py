"""The map of what heads are worth, as it is read: which colour, which order, which of two numbers is which."""

import re

import numpy as np
import pytest

from bertviz_core.analysis.ablation import Ablation, list_outcomes
from bertviz_core.analysis.heads import summarize
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.views.heads_worth import Worth, render_head_grid, render_ranking, render_words

CHANGES = {(0, 1): -0.30, (0, 2): 0.02, (1, 0): -0.10, (1, 3): 0.05}  # of all other heads 0


@pytest.fixture(scope="module")
def worth(rome):
    weighed = weigh(rome, CHANGES)
    weighed.found.without[1, 0, 1] = 0.75
    return weighed


def weigh(rome, changes):
    """The answer of 0.5 without each head that is in `changes` so much less or more probable."""
    outcomes = list_outcomes(rome, 8, 2)
    found = Ablation(rome, list(outcomes.values()))
    found.values[:2] = 0.5, 0.25
    found.without[:] = found.values[:, None, None]
    for place, change in changes.items():
        found.without[(0, *place)] += change
    return Worth(found, 0, tuple(outcomes), summarize(rome, 12), (0, 1))


def test_what_the_answer_needs_has_one_colour_and_what_is_in_its_way_the_other(worth):
    kinds = dict(re.findall(r'data-head="(\d+,\d+)" class="([^"]*)"', render_head_grid(worth)))
    needed = {place for place, kind in kinds.items() if "bv-needed" in kind}
    assert needed == {"0,1", "1,0"}
    assert [place for place, kind in kinds.items() if "bv-chosen" in kind] == ["0,1"]
    assert [place for place, kind in kinds.items() if "bv-strong" in kind] == ["0,1"]


def test_a_cell_says_both_probabilities(worth):
    assert f"{format_percent(0.5)} with it, {format_percent(0.2)} without" in render_head_grid(worth)


def test_without_stands_before_with_and_bars_share_one_scale(worth):
    body = render_words(worth)
    assert re.findall(r'<th scope="col">([^<]+)', body) == ["word", "without", "with"]
    numbers = re.findall(r"<td><b>([^<]+)</b></td><td>([^<]+)</td>", body)
    assert numbers[:2] == [(format_percent(0.2), format_percent(0.5)), (format_percent(0.75), format_percent(0.25))]
    widths = [float(width) for width in re.findall(r'<i style="width:([\d.]+)%', body)]
    np.testing.assert_allclose(widths[:4], 100 * np.array([0.2, 0.5, 0.75, 0.25]) / 0.75, atol=0.06)


def test_the_heads_that_matter_most_stand_first_on_both_sides(worth):
    needed, hinders = render_ranking(worth).split("In the way")
    assert re.findall(r'data-head="([^"]+)" class="bv-needed"', needed) == ["0,1", "1,0"]
    assert re.findall(r'data-head="([^"]+)" class="bv-hinders"', hinders) == ["1,3", "0,2"]
    assert "it falls" in needed and "it rises" in hinders


def test_heads_that_are_in_the_way_a_little_are_listed_beside_many_that_are_needed(rome):
    changes = {**{(2, head): -0.3 - 0.01 * head for head in range(6)}, (3, 1): 0.001, (3, 2): 0.02}
    needed, hinders = render_ranking(weigh(rome, changes)).split("In the way")
    assert re.findall(r'data-head="([^"]+)"', needed) == ["2,5", "2,4", "2,3", "2,2", "2,1"]
    assert re.findall(r'data-head="([^"]+)"', hinders) == ["3,2", "3,1"]
