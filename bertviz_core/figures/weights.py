"""Attention weights: one head's matrix with the chosen row's numbers in it, and a long input's in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_outline, set_font, write_text
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.steps import ATTENTION

ROW, LOWEST, HIGHEST = 22, 7, 400  # pixels: of a row, of a row at least, of all rows where these are many
_BELOW, _RIGHT = 36, 44  # pixels below the rows, for the scale; beside them, for the last slanted word
_LETTER, _SLANT = 7.3, 0.72  # pixels of a letter; how much of it a slanted word needs in height
_ACROSS, _APART = 330, 18  # pixels that the columns have at least; from one slanted word to the next
_DOWN = 14  # pixels from one row's word to the next
_LIGHT = 0.55  # of the scale: above it numbers are as light as the panel


def measure_top(words: Sequence[str]) -> int:
    """The pixels above the first row, which the columns' slanted words need."""
    return int(min(110, 8 + _SLANT * _LETTER * max(map(len, words), default=0)))


def draw_weights(
    values: np.ndarray,
    words: Sequence[str],
    start: int,
    colors: Palette,
    *,
    end: float,
    at: tuple[int, int],
    texts: Mapping[int, str],
) -> Chart:
    """Weights (query, key) of neighbouring tokens, from 0 to `end`; the columns' words stand above.

    words: of the tokens; start: the first one's position; at: the chosen query and key, framed where they are drawn;
    texts: numbers in cells of the chosen row, by position of the key.
    """
    count = len(values)
    query, key = at
    inside = start <= key < start + count
    chart = draw_heatmap(
        values,
        Side("query", words, start),
        Side("key", words, start),
        colors,
        ATTENTION,
        share=True,
        end=end,
        selected=query,
        cell=(query, key) if inside else None,
    )
    row, top = max(LOWEST, min(ROW, HIGHEST // count)), measure_top(words)
    scale = {**chart.traces[0]["colorbar"], "yref": "paper", "y": 0, "ypad": 6}
    shades = {position: float(values[query - start, position - start]) / end for position in texts}
    ticks = Side("key", words, start).ticks(count, max(1, -(-count * _APART // _ACROSS)))
    rows = Side("query", words, start).ticks(count, -(-_DOWN // row))
    layout = {
        **chart.layout,
        "height": top + count * row + _BELOW,
        "margin": {"l": 8, "r": _RIGHT, "t": top, "b": _BELOW},
        "xaxis": {**chart.layout["xaxis"], **ticks, "side": "top", "automargin": False, "title": {"text": ""}},
        "yaxis": {**chart.layout["yaxis"], **rows, "tickangle": 0},
        "annotations": [*chart.layout["annotations"], *_write_shares(texts, shades, query, colors)],
    }
    return replace(chart, traces=({**chart.traces[0], "colorbar": scale},), layout=layout)


def _write_shares(texts: Mapping[int, str], shades: Mapping[int, float], row: int, colors: Palette) -> list[Spec]:
    """Numbers in cells of a row, each in the ink that can be read there. shades: of the cells, 1 at the scale's end."""
    return [
        write_text(text, position, row, set_font(colors.surface if shades[position] > _LIGHT else colors.text))
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
