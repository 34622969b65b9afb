"""Charts: every kind is what Plotly takes, small, its own, and says what it draws."""

import importlib
import inspect
import json
import pkgutil
from dataclasses import replace
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
from bertviz_core.figures.blocks import Block, Terms, draw_blocks, draw_terms
from bertviz_core.figures.carried import Carried, draw_carried
from bertviz_core.figures.carried import Row as FromRow
from bertviz_core.figures.compared import Run, draw_angles, draw_mirrored, draw_sorted
from bertviz_core.figures.compared import Side as Aside
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.figures.head_sums import HeadSums, draw_head_sums
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.histogram import draw_histogram
from bertviz_core.figures.inked import ink_texts
from bertviz_core.figures.inside import draw_inside
from bertviz_core.figures.lines import draw_growing_sum, draw_shares_by_stage
from bertviz_core.figures.margins import settle
from bertviz_core.figures.matrices import Projection, draw_cut, draw_projection
from bertviz_core.figures.methods import draw_methods
from bertviz_core.figures.operands import Spread, draw_point_on_curve, draw_row, draw_softmax_row, draw_sum_of_parts
from bertviz_core.figures.pairs import draw_pairs
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.patched import Moves, draw_grid, draw_moves, draw_way
from bertviz_core.figures.paths import draw_paths
from bertviz_core.figures.positions import draw_nearness
from bertviz_core.figures.softmax import SortedTerms, draw_all_scores, draw_rank_curve, draw_sorted_terms, draw_stack
from bertviz_core.figures.stages import draw_by_stage, draw_runs
from bertviz_core.figures.step_counts import StageCounts, draw_step_counts
from bertviz_core.figures.strips import Strip, draw_enlarged_strips
from bertviz_core.figures.taken import BarColumn, Squares, draw_bar_columns, draw_taken_squares
from bertviz_core.figures.texts import Rich
from bertviz_core.figures.training import draw_loss_along, draw_losses, draw_word_rises
from bertviz_core.figures.weights import draw_overview, draw_square, draw_weights
from bertviz_core.figures.written import draw_written, draw_written_blocks
from tests.test_pages import decoded
from tests.test_vector_figures import VECTORS

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
PROJECTION = Projection(
    SIGNED, numbers(4, SIZE), {"XW": numbers(4), "b": numbers(4, seed=1)}, (1.0, 2.0, 3.0), 5, "query"
)
BLOCKS = [Block(kind, kind, numbers(SIZE, 4, seed=i), f"L.{kind}[x={{x}}]") for i, kind in enumerate(("query", "key"))]
TERMS = Terms(SIGNED, numbers(SIZE, seed=2), ("L.x[i={x}]", "L.w[i={x}]"), (1.0, 2.0), 3)
WEIGHTS = np.exp(numbers(SIZE, SIZE)) / np.exp(numbers(SIZE, SIZE)).sum(axis=1, keepdims=True)
HEAD_SUMS = HeadSums(numbers(4, 3), numbers(4, 3, 8), MATRIX, SHARE, (1.0, 2.0, 3.0), [f"L.a[x={i}]" for i in WORDS])
COLUMNS = [
    BarColumn("weight", SHARE, [f"{x:.2f}" for x in SHARE], INK, 1.0, [f"L.a[x={i}]" for i in range(SIZE)]),
    BarColumn("part", np.where(SIGNED > 1, np.nan, SIGNED), ["" if x > 1 else f"{x:.2f}" for x in SIGNED], INK),
]
SQUARES = Squares(
    WEIGHTS[:3],
    WEIGHTS[:3] * np.abs(numbers(3, SIZE)),
    ["1.0", "2.0", "3.0"],
    [f"L.a[h={h},x={i}]" for h in range(3) for i in range(SIZE)],
)
PLACES = np.stack(np.meshgrid(4 * np.arange(SIZE), 4 * np.arange(SIZE), indexing="ij"), axis=-1)
UNKNOWN = [FromRow("[MASK]", 0.0, "a.part[source=0]", note="the blank"), FromRow("biases", 0.0, "a.biases")]
CARRIED = Carried(
    [FromRow(WORDS[0], -2.5, "a.part[source=0]", 0.2, "20 %", "a.hidden[source=0]"), *UNKNOWN],
    FromRow("logit", -2.5, "a.parts", 0.3, "30 %"), ("into the logit", "“<b>” has"), INK,
)  # fmt: skip
CASES = {
    "draw_bar_columns": {
        "with a sum": lambda c: draw_bar_columns(WORDS, COLUMNS, c, marked=[1], last=True),
        "plain": lambda c: draw_bar_columns(WORDS, COLUMNS, c),
    },
    "draw_carried": {
        "known": lambda c: draw_carried(CARRIED, c),
        "nothing known, zeros": lambda c: draw_carried(replace(CARRIED, rows=UNKNOWN, chosen=0), c),
        "another before": lambda c: draw_carried(replace(CARRIED, before=[1.0, 0.5, -4.0]), c),
    },
    "draw_written": {
        "two layers": lambda c: draw_written(SIGNED.reshape(2, -1), "a[x={x},y={y}]", c),
        "many heads": lambda c: draw_written(LARGE[:2, :40], "a[x={x},y={y}]", c),
        "zeros": lambda c: draw_written(np.zeros((1, 1)), "a[x={x},y={y}]", c),
    },
    "draw_written_blocks": {
        "two layers": lambda c: draw_written_blocks(SIGNED[:2], "b[n={n}]", c, INK),
        "zeros": lambda c: draw_written_blocks(np.zeros(1), "b[n={n}]", c, INK),
    },
    "draw_inside": {
        "biases alone": lambda c: draw_inside(np.array([[0.0, 0.0, 1.0], [0.5, 0.2, 0.3]]), WORDS[:2], WORDS[:3], 0, c),
        "no room for numbers": lambda c: draw_inside(np.full((20, 21), 0.1), ["led"] * 20, ["led"] * 21, 1, c),
    },
    "draw_methods": {"a blank": lambda c: draw_methods(np.array([[1, np.nan], [0, -2]]), "ab", "ab", ["", "0.50"], c)},
    "draw_taken_squares": {
        "heads": lambda c: draw_taken_squares(SQUARES, WORDS, 1, c),
        "weights below 0": lambda c: draw_taken_squares(replace(SQUARES, weights=-SQUARES.weights), WORDS, 1, c),
    },
    "draw_angles": {
        "a token": lambda c: draw_angles([Run("a", SHARE * 90, ["L.x"] * SIZE)], 0, WORDS, c, INK, 200),
        "one without a direction": lambda c: draw_angles(
            [Run("a", np.full(SIZE, np.nan), [""] * SIZE), Run("b", np.zeros(SIZE), [""] * SIZE)],
            1, WORDS, c, INK, 200,
        ),
    },
    "draw_mirrored": {
        "both": lambda c: draw_mirrored(WORDS, Aside("1", SHARE, ["L.x"] * SIZE), Aside("2", SHARE[::-1]), c, INK),
        "none": lambda c: draw_mirrored(["a"], Aside("1", np.array([np.nan])), Aside("2", np.zeros(1)), c, INK),
    },
    "draw_sorted": {
        "many": lambda c: draw_sorted(SHARE, WORDS, 2, c, INK, 150),
        "one": lambda c: draw_sorted(np.zeros(1), ["a"], 8, c, INK, 150),
    },
    "draw_grid": {
        "of the way": lambda c: draw_grid(MATRIX, WORDS, WORDS * 2, c, "ffn", 1.0, of_way=True, unmatched=[1]),
        "its own unit": lambda c: draw_grid(np.eye(2, 3) / 50, ["a", "b"], ["0", "1", "2"], c, "query", 1.0,
                                       of_way=False, slanted=False, unmatched=[1]),
    },
    "draw_moves": {
        "two": lambda c: draw_moves(
            [Moves("a", SIGNED, INK, ["L.x"] * SIZE), Moves("b", np.full(SIZE, np.nan), INK, [""] * SIZE)],
            WORDS, c, 200, of_way=True,
        ),
    },
    "draw_way": {
        "two passes": lambda c: draw_way({"a": 1.0, "b": -2.0}, c, INK),
        "three alike": lambda c: draw_way({"a": 1.0, "b": 1.0, "c": 1.0}, c, INK),
    },
    "draw_head_sums": {"four heads": lambda c: draw_head_sums(HEAD_SUMS, WORDS, [2], c)},
    **VECTORS,
    "draw_products": {
        "all terms": lambda c: draw_products(WORDS, SIGNED, SIGNED.cumsum(), c, color=INK, title="component"),
        "some terms": lambda c: draw_products(WORDS, -SHARE, -SHARE.cumsum(), c, color=INK, title="",
                                              total=(-4.0, 1234)),
    },
    "draw_denominator": {"a row": lambda c: draw_denominator(SHARE, SHARE.cumsum(), WORDS, c)},
    "draw_bars": {
        "signed": lambda c: draw_bars(SIGNED, WORDS, c, INK, name="value"),
        "none below 0": lambda c: draw_bars(SHARE, WORDS, c, INK, name="value"),
        "shares": lambda c: draw_bars(SHARE, WORDS, c, INK, name="share", ends=SHARES),
    },
    "draw_areas": {
        "a narrow last column": lambda c: draw_areas({"a": {WORDS[0]: 50, "c": 1}, "d": {WORDS[1]: 1, "f": 0, "g": 1}},
                                                     dict.fromkeys([*WORDS, "c", "f", "g"], INK), c),
    },
    "draw_step_counts": {
        "one and many": lambda c: draw_step_counts([StageCounts(WORDS[0], WORDS[:1], [1], [INK]),
                                                    StageCounts(WORDS[1], WORDS[:3], [20, 3, 366_264], [INK] * 3)], c),
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
        "signed": lambda c: draw_heatmap(MATRIX, *SIDES, c, "key", selected=2),
        "shares": lambda c: draw_heatmap(np.abs(MATRIX), *SIDES, c, "key", share=True, end=1.0),
        "large": lambda c: draw_heatmap(LARGE, Side("token", list(map(str, range(60)))), Side("hidden"), c, "key"),
        "in blocks": lambda c: draw_heatmap(MATRIX, Side("row", start=1.5, step=4, labelled=False),
                                            Side("column", step=2), c, "key", gaps=False, name_inside=True, height=300),
        "with numbers": lambda c: draw_heatmap(MATRIX[:, :SIZE] / 4, Side("", WORDS), Side("", WORDS), c, "norm",
                                                       end=1.0, selected=2, square=True, numbers=True, height=260),
        "with texts": lambda c: draw_heatmap(MATRIX, *SIDES, c, "key", texts=[["x"] * 8] * SIZE),
        "empty of numbers": lambda c: draw_heatmap(np.zeros((2, 3)), Side("a"), Side("b"), c, "key"),
    },
    "draw_runs": {
        "two": lambda c: draw_runs(SERIES, list(map(str, range(SIZE))), "second", c, INK),
    },
    "draw_histogram": {"sizes": lambda c: draw_histogram(np.array([3, 0, 5]), np.linspace(-1, 1, 4), c, INK, "value")},
    "draw_losses": {
        "nothing yet": lambda c: draw_losses(np.zeros(0), np.zeros(0), {"plain": np.zeros(0)}, 60, c),
        "two lines": lambda c: draw_losses(9 * SHARE, np.arange(1, 7), {"plain": 9 * SHARE, "AdamW": 4 * SHARE}, 60, c),
        "ran away": lambda c: draw_losses(np.array([1, 2, 1e200]), np.ones(3), {"plain": LINE + np.inf}, 3, c),
    },
    "draw_word_rises": {
        "nothing yet": lambda c: draw_word_rises(np.zeros(0), np.zeros((0, SIZE)), WORDS, [], 60, c),
        "bold": lambda c: draw_word_rises(np.array([0, 3, 6]), WEIGHTS[:3], WORDS, [0, 2, 4], 9, c),
        "means": lambda c: draw_word_rises(np.arange(3), WEIGHTS[:3], WORDS, [0, 2], 9, c, 264, 0, WEIGHTS[1:4]),
    },
    "draw_loss_along": {"a parabola": lambda c: draw_loss_along(LINE, LINE**2, (1.0, 1.0), (0.5, 0.25), 2.0, c)},
    "draw_shares_by_stage": {"two words": lambda c: draw_shares_by_stage(SERIES, WORDS, c, INK)},
    "draw_growing_sum": {
        "marks": lambda c: draw_growing_sum(np.linspace(0.3, 1, 5_000), {0.5: 3, 0.99: 4_000}, c, INK),
    },
    "draw_projection": {"a head": lambda c: draw_projection(PROJECTION, 2, c)},
    "draw_cut": {
        "cut": lambda c: draw_cut(MATRIX.ravel(), SIZE, 2, 1.0, c, "query"),
        "merged": lambda c: draw_cut(MATRIX.ravel(), SIZE, 0, 1.0, c, "value", merged=True),
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
    "draw_weights": {
        "with numbers": lambda c: draw_weights(np.abs(numbers(SIZE, SIZE)), WORDS, 0, c, end=1.0, query=2,
                                               texts={3: "63", 0: "2"}),
        "a window": lambda c: draw_weights(numbers(40, 40) ** 2, ["w"] * 40, 100, c, end=2.0, query=120, texts={}),
    },
    "draw_square": {"many": lambda c: draw_square(numbers(SIZE, SIZE) ** 2, WORDS, 0, c, end=1.0, query=2, side=300)},
    "draw_overview": {"blocks": lambda c: draw_overview(np.abs(numbers(SIZE, SIZE)), PLACES, 4, range(4, 12), c, 1.0)},
    "draw_blocks": {
        "two": lambda c: draw_blocks(BLOCKS, WORDS, 7, c, end=1.0, at=(8, "key", 3)),
        "many rows": lambda c: draw_blocks([Block("a", "value", numbers(30, 4), "")], list(map(str, range(30))), 0, c,
                                           end=9.0, at=(8, "key", 3)),
    },
    "draw_terms": {"a sum": lambda c: draw_terms(TERMS, ("x", "W", "x · W"), c, "query")},
    "draw_sorted_terms": {
        "one": lambda c: draw_sorted_terms([SortedTerms(WORDS[0], SIGNED, 0.5)], WORDS, c, INK, 300),
        "two": lambda c: draw_sorted_terms([SortedTerms(word, SIGNED, 0.5, "a[b={n}]") for word in WORDS[:2]],
                                           WORDS, c, INK, 300),
    },
    "draw_all_scores": {
        "three marked": lambda c: draw_all_scores(np.array([3, 0, 5]), np.linspace(-1, 1, 4),
                                                  dict(zip(WORDS, (0.9, 0.5, -0.5), strict=False)), WORDS[1], c, INK),
    },
    "draw_stack": {
        "with groups": lambda c: draw_stack({WORDS[0]: 0.5, WORDS[1]: 0.01, "3–30": 0.3, "31 on": 0.19}, WORDS[0], 2, c,
                                             INK),
        "without": lambda c: draw_stack({WORDS[0]: 0.6, WORDS[1]: 0.4}, WORDS[1], 0, c, INK),
    },
    "draw_rank_curve": {
        "one pass": lambda c: draw_rank_curve(np.sort(SHARE)[::-1], {WORDS[0]: 1, WORDS[1]: SIZE}, c, INK),
        "two passes": lambda c: draw_rank_curve(np.sort(SHARE)[::-1], {"first": 1}, c, INK, np.sort(SHARE)[::-1]),
    },
    "draw_enlarged_strips": {
        "two scales": lambda c: draw_enlarged_strips(
            [Strip(word, row, end, f"{word}[hidden={{x}}]", "embedding")
             for word, row, end in zip(WORDS, numbers(3, 40), (1.0, 1.0, 3.0), strict=False)], range(4, 11), 7, c),
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
        name
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("draw_")
        and function.__module__ == module.__name__
        and get_type_hints(function).get("return") is Chart
    }


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
    valid, ours = plain(sent(go.Figure(ink_texts(chart.spec)))), plain(sent(to_plotly(chart)))
    assert ours["layout"].pop("datarevision") == 0 and "template" not in ours["layout"]  # see `to_plotly`
    assert valid["layout"].pop("template") == {"data": {"scatter": [{"type": "scatter"}]}}  # nothing for any trace
    assert valid["data"] and ours == {**valid, "layout": settle(valid["layout"])}


@pytest.mark.parametrize("draw", VARIANTS)
def test_a_chart_is_plain_and_small(draw):
    for part in walk(draw(LIGHT).spec):
        assert type(part) in (dict, list, tuple, str, Rich, int, float, bool, np.ndarray), type(part)
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
