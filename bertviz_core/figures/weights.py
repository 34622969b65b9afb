"""Attention weights: one head's matrix with the chosen row's numbers in it, and a long input's in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_outline, set_font, write_text
from bertviz_core.figures.heatmap import FRAME, Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.figures.tints import mix, tint_cell
from bertviz_core.formula.numbers import write_fixed
from bertviz_core.formula.steps import ATTENTION

ROW, USUAL, LOWEST = 25, 17, 7  # pixels: of a row at most; of one where they are not few; of one at least
LOW, HIGHEST = 216, 400  # pixels of all rows: as long as these are few; where they are many
_BELOW, _RIGHT = 45, 44  # pixels below the rows, for the scale; beside them, for the last slanted word
_LETTER, _SLANT = 7.3, 0.72  # pixels of a letter; how much of it a slanted word needs in height
_ACROSS, _APART = 330, 18  # pixels that the columns have at least; from one slanted word to the next
_WRITTEN, _LEAST = 16, 0.005  # keys whose numbers have room in their cells; the smallest that is written there
_GHOST = 0.92, 0.26  # parts of a cell's width and height
_SEEN = 0.02  # of the scale: a difference between two colours that can be seen
_DOWN = 14  # pixels from one row's word to the next
_BESIDE = 16  # pixels beside a square, for half of the scale's last number
NAMED = 24  # tokens at most whose columns are named: of more the cells are square, and some rows have their word


def measure_top(words: Sequence[str]) -> int:
    """The pixels above the first row, which the columns' slanted words need."""
    return int(min(110, 8 + _SLANT * _LETTER * max(map(len, words), default=0)))


def measure_row(count: int, high: int = LOW) -> int:
    """The pixels of one of so many rows. high: of all of them, as long as these are few."""
    return max(LOWEST, min(ROW, max(high // count, min(USUAL, HIGHEST // count))))


def write_shares(row: np.ndarray, shown: Sequence[int]) -> dict[int, str]:
    """What stands in the cells of a row, in percent, by place; nothing where many cells have no room, or little is."""
    written = [i for i in shown if row[i] >= _LEAST] if has_room(len(shown)) else []
    return {i: write_fixed(100 * float(row[i]), 0) for i in written}


def has_room(columns: int) -> bool:
    """Whether the cells of so many columns are wide enough for numbers."""
    return columns <= _WRITTEN


def draw_weights(
    values: np.ndarray,
    words: Sequence[str],
    start: int,
    colors: Palette,
    *,
    end: float,
    query: int,
    texts: Mapping[int, str],
    high: int = LOW,
    ghosts: np.ndarray | None = None,
) -> Chart:
    """Weights (query, key) of neighbouring tokens, from 0 to `end`; the columns' words stand above.

    words: of the tokens; start: the first one's position; query: the chosen one, whose row is framed; texts: numbers in
    cells of that row, by position of the key; high: pixels of all rows, where few; ghosts: what the weights were before
    a change, in the lower part of their cells, where these are few.
    """
    count = len(values)
    chart = draw_heatmap(
        values,
        Side("query", words, start),
        Side("key", words, start),
        colors,
        ATTENTION,
        share=True,
        end=end,
        selected=query,
    )
    row, top = measure_row(count, high), measure_top(words)
    scale = {**chart.traces[0]["colorbar"], "yref": "paper", "y": 0, "ypad": 6}
    shades = {position: float(values[query - start, position - start]) / end for position in texts}
    ticks = Side("key", words, start).ticks(count, max(1, -(-count * _APART // _ACROSS)))
    rows = Side("query", words, start).ticks(count, -(-_DOWN // row), query - start)
    layout = {
        **chart.layout,
        "height": top + count * row + _BELOW,
        "margin": {"l": 8, "r": _RIGHT, "t": top, "b": _BELOW},
        "xaxis": {**chart.layout["xaxis"], **ticks, "side": "top", "automargin": False, "title": {"text": ""}},
        "yaxis": {**chart.layout["yaxis"], **rows, "tickangle": 0},
        "annotations": [*chart.layout["annotations"], *_write_shares(texts, shades, query, colors)],
    }
    if ghosts is not None and has_room(count):
        layout["shapes"] = [*_draw_ghosts(values / end, ghosts / end, start, colors), *layout["shapes"]]
    return replace(chart, traces=({**chart.traces[0], "colorbar": scale},), layout=layout)


def _draw_ghosts(after: np.ndarray, before: np.ndarray, start: int, colors: Palette) -> list[Spec]:
    """Where colours differ, the one before as a grey in the lower part of the cell; in half where nothing else is left.
    after, before: 1 at the scale's end."""
    high = _GHOST[1] if after.any() else 0.5
    seen, was = np.clip(after, 0, 1), np.clip(before, 0, 1)
    moved = np.argwhere(np.abs(seen - was) >= _SEEN)
    return [
        {
            "type": "rect",
            "x0": start + column - _GHOST[0] / 2,
            "x1": start + column + _GHOST[0] / 2,
            "y0": start + row + 0.5 - high,
            "y1": start + row + 0.5,
            "fillcolor": mix(colors.zero, colors.faint, float(was[row, column])),
            "line": {"width": 0},
        }
        for row, column in moved.tolist()
    ]


def draw_square(
    values: np.ndarray, words: Sequence[str], start: int, colors: Palette, *, end: float, query: int, side: int
) -> Chart:
    """Weights (query, key) of many neighbouring tokens as a square, from 0 to `end`; some of them are named.

    words, start, query: as in `draw_weights`; side: of the square in pixels, where the card is as wide.
    """
    chart = draw_heatmap(
        values,
        Side("query", words, start),
        Side("key", words, start),
        colors,
        ATTENTION,
        share=True,
        end=end,
        selected=query,
        gaps=False,
        square=True,
        height=side + FRAME,
    )
    return replace(chart, layout={**chart.layout, "margin": {**chart.layout["margin"], "r": _BESIDE}})


def _write_shares(texts: Mapping[int, str], shades: Mapping[int, float], row: int, colors: Palette) -> list[Spec]:
    """Numbers in cells of a row, each in the ink that can be read there. shades: of the cells, 1 at the scale's end."""
    return [
        write_text(text, position, row, set_font(tint_cell(shades[position], ATTENTION, colors).ink))
        for position, text in texts.items()
    ]


def draw_overview(
    blocks: np.ndarray, places: np.ndarray, side: int, window: range, colors: Palette, end: float
) -> Chart:
    """The largest weight of every block of `side` x `side` tokens, from 0 to `end`; framed: the window drawn beside.

    places: (row, column, 2) the query and the key of each largest weight, {q} and {k} in the cells that are offered.
    """
    axis = {"start": (side - 1) / 2, "step": side}
    chart = draw_heatmap(
        blocks,
        Side("queries", **axis),
        Side("keys", **axis),
        colors,
        ATTENTION,
        share=True,
        end=end,
        gaps=False,
        height=270,
        name_inside=True,
    )
    said = Rich(
        "query %{customdata[0]}, key %{customdata[1]}<br><b>%{z:.4g}</b>, the largest of its block<extra></extra>"
    )
    drawn = {**chart.traces[0], "customdata": places.tolist(), "hovertemplate": said}
    edges = (window.start - 0.5, window.stop - 0.5)
    shapes: list[Spec] = [make_outline(edges, edges, colors)]
    return replace(chart, traces=(drawn,), layout={**chart.layout, "shapes": shapes})
