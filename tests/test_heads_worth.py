"""The map of what heads are worth, as it is read: which colour, which order, which of two numbers is which."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analysis.ablation import Ablation, list_outcomes
from bertviz_core.analysis.heads import summarize
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.tints import measure_contrast, tint_cell
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.panels.worth import Worth
from bertviz_core.ui.views.heads_ablation import _tell_fall
from bertviz_core.ui.views.heads_worth import list_marks, render_ranking, render_words

CHANGES = {(0, 1): -0.30, (0, 2): 0.02, (1, 0): -0.10, (1, 3): 0.05}  # of all other heads 0


@pytest.fixture(scope="module")
def worth(rome):
    return weigh(rome, {**CHANGES, (1, 0, 1): 0.50})


def weigh(rome, changes):
    """The answer of 0.5 without each head that is in `changes` so much less or more probable."""
    outcomes = list_outcomes(rome, 8, 2)
    values = np.array([0.5, 0.25, *[0.1] * (len(outcomes) - 2)])
    without = np.tile(values[:, None, None], (1, 6, 12))
    for place, change in changes.items():
        without[place if len(place) == 3 else (0, *place)] += change
    return Worth(Ablation(tuple(outcomes.values()), values, without), outcomes, 0, summarize(rome, 12), (0, 1))


@pytest.mark.parametrize("theme", PALETTES)
def test_what_the_answer_needs_has_one_colour_and_what_is_in_its_way_the_other(worth, theme):
    colors = PALETTES[theme]
    marks = list_marks(worth, colors)
    assert [(i, mark["text"]) for i, mark in enumerate(marks) if mark["text"] != "0"] == [
        (1, "+30.0"),
        (2, "−2.0"),
        (12, "+10.0"),
        (15, "−5.0"),
    ]
    assert marks[1]["back"].upper() == colors.cells["attention"] and marks[0]["back"].upper() == colors.zero
    assert tint_cell(-1, "attention", colors).back.upper() == colors.negative


@pytest.mark.parametrize("theme", PALETTES)
def test_numbers_can_be_read_on_every_tint(theme):
    colors = PALETTES[theme]
    least = min(
        measure_contrast(tint.back, tint.ink)
        for part in np.linspace(-1, 1, 201)
        for tint in [tint_cell(float(part), "attention", colors)]
    )
    assert least >= 4.5
    assert measure_contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert measure_contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_both_probabilities_are_told_and_nothing_of_what_is_not_known(worth):
    assert worth.write_both(0, 1).endswith(f"{format_percent(0.5)} with it, {format_percent(0.2)} without")
    unknown = replace(worth, found=None)
    assert unknown.write_both(0, 1) == "" and {mark["text"] for mark in list_marks(unknown, PALETTES["light"])} == {""}
    assert render_words(unknown).count("…") == 4


def read_bars(body):
    return [float(part) for part in re.findall(r"--(?:part|mark):([\d.]+)%", body)]


def test_without_stands_before_with_and_bars_share_one_scale(worth):
    body = render_words(worth)
    assert re.findall(r"<th[^>]*>(?:<span[^>]*>)?([^<]+)", body)[:4] == ["answer", "bars", "without", "with"]
    numbers = re.findall(r"<td><b>([^<]+)</b></td><td>([^<]+)</td>", body)
    assert numbers[:2] == [(format_percent(0.2), format_percent(0.5)), (format_percent(0.75), format_percent(0.25))]
    np.testing.assert_allclose(read_bars(body)[:4], 100 * np.array([0.2, 0.5, 0.75, 0.25]) / 0.75, atol=0.06)


def test_the_scale_has_room_for_what_was_likelier_with_the_head(rome):
    bars = read_bars(render_words(weigh(rome, CHANGES)))
    np.testing.assert_allclose(bars[:4], 100 * np.array([0.2, 0.5, 0.25, 0.25]) / 0.5, atol=0.06)


def test_the_heads_that_matter_most_stand_first_on_both_sides(worth):
    needed, hinders = render_ranking(worth, True).split("In the way")
    assert re.findall(r'data-head="([^"]+)" class="bv-needed"', needed) == ["0,1", "1,0"]
    assert re.findall(r'data-head="([^"]+)" class="bv-hinders"', hinders) == ["1,3", "0,2"]


def test_a_ranking_of_some_heads_does_not_pass_for_one_of_all(worth):
    assert "Needed most so far<" in render_ranking(worth, False)
    assert "so far" not in render_ranking(worth, True)


def test_heads_that_are_in_the_way_a_little_are_listed_beside_many_that_are_needed(rome):
    changes = {**{(2, head): -0.3 - 0.01 * head for head in range(6)}, (3, 1): 0.001, (3, 2): 0.02}
    needed, hinders = render_ranking(weigh(rome, changes), True).split("In the way")
    assert re.findall(r'data-head="([^"]+)"', needed) == ["2,5", "2,4", "2,3"]
    assert re.findall(r'data-head="([^"]+)"', hinders) == ["3,2", "3,1"]


def test_where_no_head_counts_at_all_none_is_named(rome):
    none, few = (str(_tell_fall(weigh(rome, changes).found, "people")) for changes in ({}, {(1, 0): 0.1}))
    assert none == f"None: without any one of them people stays at {format_percent(0.5)}"
    assert few.startswith("None by much: without **layer ")


def test_where_the_answer_rises_without_each_head_none_is_said_to_be_needed(rome):
    every = {(layer, head): 0.01 * (2 + layer) for layer in range(6) for head in range(12)}
    said = str(_tell_fall(weigh(rome, every).found, "people"))
    assert said == "None: even without **layer 0, head 0**, people rises from 50\xa0% to **52\xa0%**"
