"""Charts: every kind is what Plotly takes, small, its own, and says what it draws."""

import importlib
import inspect
import json
import pkgutil
from typing import get_type_hints

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from bertviz_core import figures
from bertviz_core.figures.areas import draw_areas
from bertviz_core.figures.attention import draw_denominator, draw_products
from bertviz_core.figures.bars import SHARES, draw_bars, draw_counts, draw_curve
from bertviz_core.figures.base import Chart, to_plotly
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.histogram import draw_histogram
from bertviz_core.figures.lines import draw_growing_sum, draw_shares_by_stage
from bertviz_core.figures.matrices import Projection, draw_cut, draw_projection
from bertviz_core.figures.operands import Spread, draw_point_on_curve, draw_row, draw_softmax_row, draw_sum_of_parts
from bertviz_core.figures.pairs import draw_pairs
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.paths import draw_paths
from bertviz_core.figures.positions import draw_nearness
from bertviz_core.figures.stages import draw_by_stage
from tests.test_pages import decoded

SIZE = 6
WORDS = [f"{i} word" for i in range(SIZE)]
INK = "#123456"


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


SIGNED, MATRIX, LARGE = numbers(SIZE), numbers(SIZE, 8), numbers(60, 300)
SHARE = np.exp(SIGNED.astype(float)) / np.exp(SIGNED.astype(float)).sum()
LINE = np.linspace(-3, 3, 50)
SIDES = Side("token", WORDS), Side("hidden")
SERIES = {"first": SHARE, "second": SHARE[::-1]}
PROJECTION = Projection(SIGNED, numbers(4, SIZE), {"XW": numbers(4), "b": numbers(4, seed=1)}, (1.0, 2.0, 3.0), 5)

CASES = {
    "draw_products": {
        "all terms": lambda c: draw_products(WORDS, SIGNED, SIGNED.cumsum(), c, color=INK, title="component"),
        "some terms": lambda c: draw_products(WORDS, -SHARE, -SHARE.cumsum(), c, color=INK, title="", whole=False),
    },
    "draw_denominator": {"a row": lambda c: draw_denominator(SHARE, SHARE.cumsum(), WORDS, c)},
    "draw_bars": {
        "signed": lambda c: draw_bars(SIGNED, WORDS, c, INK, name="value"),
        "none below 0": lambda c: draw_bars(SHARE, WORDS, c, INK, name="value"),
        "shares": lambda c: draw_bars(SHARE, WORDS, c, INK, name="share", ends=SHARES),
    },
    "draw_areas": {
        "a narrow last column": lambda c: draw_areas({"a": {"b": 50, "c": 1}, "d": {"e": 1, "f": 0, "g": 1}},
                                                     dict.fromkeys("bcefg", INK), c),
    },
    "draw_counts": {"kinds": lambda c: draw_counts([1, 20, 30_000], WORDS[:3], c, INK, name="rows")},
    "draw_curve": {
        "alone": lambda c: draw_curve(LINE, LINE**2, SIGNED, SIGNED**2, c, INK),
        "beside others": lambda c: draw_curve(LINE, LINE**2, SIGNED, SIGNED**2, c, INK, {"a": LINE, "b": -LINE}),
    },
    "draw_head_grid": {
        "shares": lambda c: draw_head_grid(np.abs(MATRIX), 1.0, (2, 3), c),
        "signed, one not measured": lambda c: draw_head_grid(np.where(MATRIX > 2, np.nan, MATRIX), 1.0, (0, 0), c,
                                                             signed=True),
    },
    "draw_heatmap": {
        "signed": lambda c: draw_heatmap(MATRIX, *SIDES, c, selected=2),
        "shares": lambda c: draw_heatmap(np.abs(MATRIX), *SIDES, c, share=True, end=1.0),
        "large": lambda c: draw_heatmap(LARGE, Side("token", list(map(str, range(60)))), Side("hidden"), c),
        "in blocks": lambda c: draw_heatmap(MATRIX, Side("row", start=1.5, step=4, labelled=False),
                                            Side("column", step=2), c, gaps=False, name_inside=True, height=300),
        "empty of numbers": lambda c: draw_heatmap(np.zeros((2, 3)), Side("a"), Side("b"), c),
    },
    "draw_histogram": {"sizes": lambda c: draw_histogram(np.array([3, 0, 5]), np.linspace(-1, 1, 4), c, INK, "value")},
    "draw_shares_by_stage": {"two words": lambda c: draw_shares_by_stage(SERIES, WORDS, c, INK)},
    "draw_growing_sum": {
        "marks": lambda c: draw_growing_sum(np.linspace(0.3, 1, 5_000), {0.5: 3, 0.99: 4_000}, c, INK),
    },
    "draw_projection": {"a head": lambda c: draw_projection(PROJECTION, 2, c)},
    "draw_cut": {
        "cut": lambda c: draw_cut(MATRIX.ravel(), SIZE, 2, 1.0, c),
        "merged": lambda c: draw_cut(MATRIX.ravel(), SIZE, 0, 1.0, c, merged=True),
    },
    "draw_softmax_row": {
        "whole": lambda c: draw_softmax_row(np.append(SIGNED[:-1], np.nan), SHARE, WORDS, 1, c, INK),
        "long": lambda c: draw_softmax_row(numbers(40), np.full(40, 1 / 40), list(map(str, range(40))), 1, c, INK),
    },
    "draw_row": {
        "marked": lambda c: draw_row(SIGNED, 2, c, INK, title="hidden"),
        "with its spread": lambda c: draw_row(SIGNED, None, c, INK, title="hidden", spread=Spread(0.5, 4.0, INK)),
    },
    "draw_point_on_curve": {"gelu": lambda c: draw_point_on_curve(LINE, LINE**2, 1.5, 2.25, c, INK)},
    "draw_sum_of_parts": {
        "three": lambda c: draw_sum_of_parts(WORDS[:3], [1.0, -2.5, 0.5], [INK] * 4, c, "sum"),
        "zeros": lambda c: draw_sum_of_parts(WORDS[:1], [0.0], [INK] * 2, c, "sum"),
    },
    "draw_pairs": {"two": lambda c: draw_pairs(SERIES, WORDS, c, INK)},
    "draw_paths": {
        f"{n} components": lambda c, n=n: draw_paths(
            numbers(3, SIZE, n), WORDS, ["emb", "L0", "L1"], ["one", "two", "three"][:n], c, INK, chosen=1, at=2)
        for n in (2, 3)
    },
    "draw_nearness": {"two": lambda c: draw_nearness(SERIES, 2, c, INK)},
    "draw_by_stage": {
        "logarithmic": lambda c: draw_by_stage(SERIES, WORDS, c, INK, name="spread"),
        "between ends": lambda c: draw_by_stage(SERIES, WORDS, c, INK, name="cosine", ends=(0.0, 1.0),
                                                words=WORDS[::-1]),
    },
}  # fmt: skip
VARIANTS = [
    pytest.param(draw, id=f"{kind}: {name}") for kind, variants in CASES.items() for name, draw in variants.items()
]
LIGHT = PALETTES["light"]


def kinds():
    """Every function of the charts' package that returns a chart to others."""
    modules = [
        importlib.import_module(f"{figures.__name__}.{found.name}") for found in pkgutil.iter_modules(figures.__path__)
    ]
    return {
        name for module in modules for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("draw_") and function.__module__ == module.__name__
        and get_type_hints(function).get("return") is Chart
    }  # fmt: skip


def walk(value):
    """A specification's parts, from the whole down to its leaves."""
    yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for part in inside:
        yield from walk(part)


def changeable(chart):
    return {id(part): part for part in walk(chart.spec) if isinstance(part, dict | list | np.ndarray)}


def sent(figure):
    return json.loads(plotly.io.to_json(figure, validate=False))


def plain(value):
    """A specification as it was sent, its arrays as lists; NaN, which equals nothing, as a word."""
    if isinstance(value, dict) and "bdata" in value:
        return [str(number) for number in decoded(value).ravel().astype(np.float32)]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def test_every_kind_of_chart_has_a_case():
    assert kinds() == set(CASES)


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("draw", VARIANTS)
def test_plotly_takes_every_kind_as_it_is(draw, theme):
    chart = draw(PALETTES[theme]).offer("L.a[x={x}]")
    valid, ours = plain(sent(go.Figure(chart.spec))), plain(sent(to_plotly(chart)))
    assert ours["layout"].pop("template") == {}  # validators write into it that it has nothing for any type of trace
    assert valid["layout"].pop("template") == {"data": {"scatter": [{"type": "scatter"}]}}
    assert valid["data"] and ours == valid


@pytest.mark.parametrize("draw", VARIANTS)
def test_a_chart_is_plain_and_small(draw):
    for part in walk(draw(LIGHT).spec):
        assert type(part) in (dict, list, tuple, str, int, float, bool, np.ndarray), type(part)
        if isinstance(part, np.ndarray):
            assert part.dtype in (np.float32, np.int32), part.dtype


def test_a_large_map_carries_its_numbers_once():
    chart = CASES["draw_heatmap"]["large"](LIGHT)
    spec = chart.spec
    assert sum(isinstance(part, str | int | float) for part in walk(spec)) < 250
    assert sum(part.size for part in walk(spec) if isinstance(part, np.ndarray)) == LARGE.size
    assert len(json.dumps(sent(to_plotly(chart)))) < 4 / 3 * LARGE.nbytes + 6_000  # in base64, and all the rest


@pytest.mark.parametrize("draw", VARIANTS)
def test_no_two_charts_share_what_could_be_changed(draw):
    one, other = draw(LIGHT), draw(LIGHT)
    assert sent(to_plotly(one)) == sent(to_plotly(other))
    shared = changeable(one).keys() & changeable(other).keys()
    assert not shared, [changeable(one)[key] for key in shared]
    arrays = [part for part in changeable(one).values() if isinstance(part, np.ndarray)]
    given = (SIGNED, MATRIX, LARGE, SHARE, LINE, PROJECTION.weight)
    assert not any(np.shares_memory(array, source) for array in arrays for source in given)


def test_what_a_chart_offers_is_part_of_it():
    cells = ["L.a[i=0]", "L.a[i=1]"]
    plain = draw_bars(SIGNED, WORDS, LIGHT, INK, name="value")
    offering = plain.offer(cells)
    assert (plain.cells, offering.cells) == ("", cells)
    assert [trace.get("meta") for trace in (*plain.spec["data"], *offering.spec["data"])] == [None, cells]
    with pytest.raises(AttributeError):
        offering.cells = ""
    both = draw_denominator(SHARE, SHARE.cumsum(), WORDS, LIGHT).offer(cells)
    assert [trace["meta"] for trace in both.spec["data"]] == [cells, cells]


@pytest.mark.parametrize(("variant", "lines"), [("alone", 1), ("beside others", 3)])
def test_only_the_points_on_a_curve_are_cells(variant, lines):
    *rest, points = CASES["draw_curve"][variant](LIGHT).offer("L.a[i={n}]").spec["data"]
    assert points["mode"] == "markers" and points["meta"] == "L.a[i={n}]"
    assert len(rest) == lines and not any("meta" in line for line in rest)


def test_signed_maps_are_symmetric_and_shares_begin_at_nothing():
    (signed,), (share,) = (
        draw_heatmap(values, *SIDES, LIGHT, share=share, end=end).traces
        for values, share, end in ((MATRIX, False, None), (np.abs(MATRIX), True, 0.5))
    )
    largest = float(np.abs(MATRIX).max())
    assert (signed["zmin"], signed["zmax"], signed["colorscale"]) == (-largest, largest, LIGHT.signed)
    assert (share["zmin"], share["zmax"], share["colorscale"]) == (0.0, 0.5, LIGHT.share)
    assert share["colorbar"]["ticktext"] == ["≥ 0.5000", "0"] and share["colorbar"]["tickvals"] == [0.5, 0.0]
    assert not any(text[0] in "≥≤" for text in signed["colorbar"]["ticktext"])
    assert np.array_equal(signed["z"], MATRIX)


def test_a_map_frames_what_is_marked_where_it_is_drawn():
    rows, columns = Side("token", WORDS, 10), Side("hidden", None, 100)
    for selected, drawn in ((9, 0), (10, 1), (15, 1), (16, 0)):
        shapes = draw_heatmap(MATRIX, rows, columns, LIGHT, selected=selected).layout.get("shapes", [])
        assert len(shapes) == drawn
    frame = draw_heatmap(MATRIX, rows, columns, LIGHT, selected=12).layout["shapes"][0]
    assert [frame[key] for key in ("x0", "x1", "y0", "y1")] == [99.5, 107.5, 11.5, 12.5]
    (frame,) = draw_head_grid(MATRIX, 1.0, (2, 3), LIGHT).layout["shapes"]
    assert [frame[key] for key in ("x0", "x1", "y0", "y1")] == [2.5, 3.5, 1.5, 2.5]


def test_the_words_beside_a_map_stand_at_their_rows():
    words = [f"{i} word" for i in range(7, 107)]
    axis = draw_heatmap(numbers(100, 3), Side("token", words, 7), Side("b"), LIGHT).layout["yaxis"]
    assert axis["ticktext"] == [f"{i} word" for i in axis["tickvals"]]
    assert axis["tickvals"][0] == 7 and len(axis["tickvals"]) < 50 and axis["autorange"] == "reversed"


def test_sums_are_laid_end_to_end():
    bars, line = CASES["draw_denominator"]["a row"](LIGHT).traces
    assert np.allclose(bars["base"] + bars["x"], SHARE.cumsum(), atol=1e-6)
    assert np.array_equal(line["x"], SHARE.cumsum().astype(np.float32))
    chart = CASES["draw_sum_of_parts"]["three"](LIGHT)
    bars, line = chart.traces
    assert bars["x"].tolist() == [1.0, -2.5, 0.5, -1.0] and bars["base"] == [0.0, 1.0, -1.5, 0.0]
    assert line["x"].tolist() == [1.0, 1.0, -1.5, -1.5, -1.0, -1.0] and line["y"].tolist() == [0, 1, 1, 2, 2, 3]
    assert [(note["y"], note["text"]) for note in chart.layout["annotations"]] == [
        (0, "1.0000"), (1, "−2.5000"), (2, "0.5000"), (3, "−1.0000")]  # fmt: skip


def test_what_a_chart_says_is_what_it_draws():
    (end,) = CASES["draw_products"]["all terms"](LIGHT).layout["annotations"]
    assert (end["x"], end["text"]) == (SIZE - 1, f"sum {SIGNED.cumsum()[-1]:.4f}".replace("-", "−"))
    assert CASES["draw_products"]["some terms"](LIGHT).layout["annotations"][0]["text"] == "sum so far −1.0000"
    bars = CASES["draw_bars"]["signed"](LIGHT).traces[0]
    assert bars["text"] == [f"{x:.4f}".replace("-", "−") for x in SIGNED] and np.array_equal(bars["x"], SIGNED)
    half, most = CASES["draw_growing_sum"]["marks"](LIGHT).layout["annotations"]
    assert (half["text"], most["text"]) == ("50%: 3", "99%: 4,000")
    assert [10 ** note["x"] for note in (half, most)] == pytest.approx([3, 4_000])
    counts = CASES["draw_histogram"]["sizes"](LIGHT).traces[0]
    edges = np.stack([counts["x"] - counts["width"] / 2, counts["x"] + counts["width"] / 2])
    assert np.allclose(edges, [[-1, -1 / 3, 1 / 3], [-1 / 3, 1 / 3, 1]]) and counts["y"].tolist() == [3, 0, 5]


def test_a_spread_is_a_line_and_one_deviation_to_each_side():
    chart = CASES["draw_row"]["with its spread"](LIGHT)
    band, line = chart.layout["shapes"]
    assert (band["y0"], band["y1"], line["y0"], line["y1"]) == (-1.5, 2.5, 0.5, 0.5)
    assert chart.layout["annotations"][0]["text"] == "μ 0.5000   σ² 4.0000"


@pytest.mark.parametrize(("variant", "head"), [("cut", 2), ("merged", 0)])
def test_a_cut_vector_is_the_matrix_row_by_row(variant, head):
    chart = CASES["draw_cut"][variant](LIGHT)
    strip, rows = chart.traces
    assert np.array_equal(rows["z"].ravel(), strip["z"][0]) and rows["z"].shape == MATRIX.shape
    *cuts, long, row = chart.layout["shapes"]
    assert [cut["x0"] for cut in cuts] == [7.5, 15.5, 23.5, 31.5, 39.5]
    assert (long["x0"], long["x1"], row["y0"], row["y1"]) == (8 * head - 0.5, 8 * head + 7.5, head - 0.5, head + 0.5)
    above, below = chart.layout["yaxis2"]["domain"], chart.layout["yaxis"]["domain"]
    assert (above[0] > below[1]) == (variant == "cut")
