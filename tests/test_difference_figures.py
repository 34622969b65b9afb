"""A chart minus the one before a change: numbers, scales, names; and no difference where the places are others."""

import numpy as np
import plotly.graph_objects as go
import pytest

from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import to_plotly
from bertviz_core.figures.blocks import Block, draw_blocks
from bertviz_core.figures.differences import is_same, subtract_charts
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.histogram import draw_histogram
from bertviz_core.figures.lines import draw_shares_by_stage
from bertviz_core.figures.palette import DARK, LIGHT, PALETTES
from tests.test_figures import CASES

COLORS = PALETTES[LIGHT]
RANDOM = np.random.default_rng(3)
WORDS = ["0 the", "1 cat", "2 sat"]
ONE, OTHER = RANDOM.normal(size=(2, 3, 3))


def draw_map(values, words=WORDS):
    return draw_heatmap(values, Side("token", words), Side("key", words), COLORS, "key").offer(
        "embeddings.sum[token={y}]"
    )


def test_a_map_is_subtracted_around_zero():
    chart, largest = subtract_charts(draw_map(ONE), draw_map(OTHER), COLORS)
    (drawn,) = chart.traces
    np.testing.assert_allclose(drawn["z"], OTHER - ONE, atol=1e-6)
    assert largest == pytest.approx(np.abs(OTHER - ONE).max(), abs=1e-6) == drawn["zmax"] == -drawn["zmin"]
    assert drawn["colorscale"] == COLORS.shade("key") and next(iter(drawn["colorbar"]["tickvals"])) == drawn["zmax"]
    assert "after − before <b>" in drawn["hovertemplate"]
    assert chart.cells == draw_map(OTHER).cells and chart.layout["xaxis"] == draw_map(OTHER).layout["xaxis"]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["map", "bars", "line"])
def test_the_scale_ends_at_the_largest_change_whether_it_is_up_or_down(kind, sign):
    draw = {
        "map": draw_map,
        "bars": lambda values: draw_bars(values[0], WORDS, COLORS, "#123456", name="value"),
        "line": lambda values: draw_shares_by_stage({"rome 5": values[0]}, WORDS, COLORS, "#123456"),
    }[kind]
    size = np.array([[0.25, 0.5, 3.0]] * 3)
    before, after = (draw(values) for values in (2.0 + 0 * size, 2.0 + sign * size * [1, -1, 1]))
    chart, largest = subtract_charts(before, after, COLORS)
    assert largest == 3.0
    if kind == "map":
        assert (chart.traces[0]["zmin"], chart.traces[0]["zmax"]) == (-3.0, 3.0)
    else:
        low, high = chart.layout["xaxis" if kind == "bars" else "yaxis"]["range"]
        assert -low == high >= 3.0


def test_bars_and_lines_are_subtracted_on_a_symmetric_axis():
    pair = [draw_bars(values[0], WORDS, COLORS, "#123456", name="cosine", ends=(0.0, 1.0)) for values in (ONE, OTHER)]
    chart, _ = subtract_charts(*pair, COLORS)
    apart = OTHER[0] - ONE[0]
    np.testing.assert_allclose(chart.traces[0]["x"], apart, atol=1e-6)
    low, high = chart.layout["xaxis"]["range"]
    assert low == -high and high > np.abs(apart).max()
    assert chart.layout["xaxis"]["title"]["text"] == "cosine, after − before"
    colors = chart.traces[0]["marker"]["color"]
    assert [color == colors[int(apart.argmax())] for color in colors] == [bool(x >= 0) for x in apart]

    pair = [draw_shares_by_stage({"rome 5": values[0]}, WORDS, COLORS, "#123456") for values in np.abs((ONE, OTHER))]
    chart, _ = subtract_charts(*pair, COLORS)
    np.testing.assert_allclose(chart.traces[0]["y"], np.abs(OTHER[0]) - np.abs(ONE[0]), atol=1e-6)
    assert chart.layout["yaxis"]["range"][0] == -chart.layout["yaxis"]["range"][1]


def test_what_is_below_nothing_is_slate_and_the_rest_keeps_its_colour():
    before, after = (
        draw_bars(np.array(values), ["a", "b"], COLORS, "#123456", name="x") for values in ([1, 2], [3, 1])
    )
    drawn, _ = subtract_charts(before, after, COLORS)
    assert drawn.traces[0]["marker"]["color"] == ["#123456", COLORS.negative]
    bars = draw_bars(np.array([2.0, -1.0]), ["a", "b"], COLORS, "#123456", name="x").traces[0]
    assert bars["marker"]["color"] == ["#123456", COLORS.negative]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_maps_on_one_scale_stay_on_one(order):
    def draw(values):
        blocks = [Block(name, name, values[:, [i]], "") for i, name in zip(order, ("query", "key"), strict=True)]
        return draw_blocks(blocks, WORDS, 0, COLORS, end=2.0, at=(0, "query", 0))

    chart, largest = subtract_charts(draw(ONE), draw(OTHER), COLORS)
    assert [trace["zmax"] for trace in chart.traces] == [pytest.approx(largest)] * 2


def test_a_swapped_token_is_the_same_place():
    words = ["0 the", "1 dog", "2 sat"]
    assert subtract_charts(draw_map(ONE), draw_map(OTHER, words), COLORS) is None
    chart, _ = subtract_charts(draw_map(ONE), draw_map(OTHER, words), COLORS, {"1 cat": "1 dog"})
    assert chart.layout["yaxis"]["ticktext"] == words


@pytest.mark.parametrize(("before", "after"), {
    "a ranking": (draw_bars(ONE[0], WORDS, COLORS, "#123456", name="cosine"),
                  draw_bars(ONE[0], WORDS[::-1], COLORS, "#123456", name="cosine")),
    "another window": (draw_map(ONE), draw_heatmap(ONE, Side("token", WORDS, 4), Side("key", WORDS), COLORS, "key")),
    "another size": (draw_map(ONE[:2, :2], WORDS[:2]), draw_map(OTHER)),
    "a histogram": (draw_histogram(np.array([1, 2]), np.array([0.0, 1.0, 2.0]), COLORS, "#123456", name="value"),
                    draw_histogram(np.array([1, 2]), np.array([0.0, 3.0, 6.0]), COLORS, "#123456", name="value")),
    "another kind": (draw_map(ONE), draw_bars(ONE[0], WORDS, COLORS, "#123456", name="cosine")),
}.values())  # fmt: skip
def test_other_places_have_no_difference(before, after):
    assert subtract_charts(before, after, COLORS) is None and not is_same(before, after)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("kind", CASES)
def test_every_kind_of_chart_is_as_itself_and_0_where_it_is_subtracted(kind, theme):
    for draw in CASES[kind].values():
        chart = draw(PALETTES[theme])
        assert is_same(chart, chart)
        found = subtract_charts(chart, chart, PALETTES[theme])
        if found is not None:
            assert found[1] == 0
            go.Figure(to_plotly(found[0]).to_plotly_json())
            assert all("meta" not in trace for trace in found[0].silent.spec["data"])
