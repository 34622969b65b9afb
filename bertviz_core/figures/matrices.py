"""Matrices put together: a vector through its weights, and a long vector cut into the rows of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.figures.base import (
    Chart,
    Spec,
    make_chart,
    make_outline,
    name_ticks,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.heatmap import KEY_HEIGHT, make_color_bar
from bertviz_core.figures.palette import Palette, Scale
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_short

_SPLIT, _GAP = 0.77, 0.04  # where the weights end and the results begin
_MAX_HEIGHT = 520


@dataclass(frozen=True, eq=False)
class Projection:
    """A vector times a matrix, lying down: x (hidden,), weight (head_dim, hidden), the first hidden index drawn.

    results: columns (head_dim,) by name, on one scale; ends: of the scales of x, weight and results; kind: of
    the results.
    """

    x: np.ndarray
    weight: np.ndarray
    results: Mapping[str, np.ndarray]
    ends: tuple[float, float, float]
    start: int
    kind: str


def draw_projection(shown: Projection, row: int, colors: Palette) -> Chart:
    """x above the weights that it is multiplied with, column by column; at the right, what every row sums to.

    row: a component of the result to mark, with its weights.
    """
    x_end, weight_end, end = shown.ends
    columns = np.stack(list(shown.results.values()), axis=1)
    height, width = shown.weight.shape
    scale = colors.shade(shown.kind)
    place = {"x0": shown.start, "dx": 1, "showscale": False}
    corner = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "bottom", "xshift": -2}
    name = write_text(f"W to ±{format_short(weight_end)}", 0, 0.86, set_font(colors.text), **corner)
    return make_chart(
        [
            _make_map(shown.x[None], x_end, scale, "hidden %{x}<br>X ", **place, yaxis="y2"),
            _make_map(shown.weight, weight_end, scale, "component %{y}<br>hidden %{x}<br>weight ", **place),
            _make_map(
                columns, end, scale, "component %{y}<br>", xaxis="x2", xgap=1, colorbar=_make_bar(columns, end, colors)
            ),
        ],
        min(_MAX_HEIGHT, height * 9 + 190),
        colors,
        top=KEY_HEIGHT,
        right=30,
        bottom=44,
        annotations=[name],
        shapes=[_frame(colors, shown.start, width, row), _frame(colors, 0, columns.shape[1], row, xref="x2")],
        **_set_projection_axes(list(shown.results), x_end, colors),
    )


def _set_projection_axes(names: Sequence[str], x_end: float, colors: Palette) -> Spec:
    """The weights with x above them, and beside them the results, under their names."""
    beside = {"domain": [_SPLIT + _GAP, 1], "anchor": "y", "automargin": False, "tickangle": 0}
    above = {"domain": [0.92, 1], "anchor": "x", "tickmode": "array", "tickvals": [0]}
    return {
        "xaxis": set_axis(colors, "hidden", domain=[0, _SPLIT], anchor="y", automargin=False),
        "xaxis2": set_axis(colors, **name_ticks(names), **beside),
        "yaxis": set_axis(colors, domain=[0, 0.86], autorange="reversed", anchor="x"),
        "yaxis2": set_axis(colors, ticktext=[f"X to ±{format_short(x_end)}"], **above),
    }


def draw_cut(
    vector: np.ndarray, heads: int, head: int, end: float, colors: Palette, kind: str, *, merged: bool = False
) -> Chart:
    """A vector of all heads side by side above the matrix with one row a head; merged: below it. One scale."""
    rows = vector.reshape(heads, -1)
    width, scale = rows.shape[1], colors.shade(kind)
    long = {"xref": "x2", "yref": "y2"}
    return make_chart(
        [
            _make_map(vector[None], end, scale, "concat %{x}<br>", xaxis="x2", yaxis="y2", showscale=False),
            _make_map(
                rows,
                end,
                scale,
                "head %{y}<br>component %{x}<br>",
                xgap=1,
                ygap=1,
                colorbar=_make_bar(rows, end, colors),
            ),
        ],
        max(280, heads * 18 + 190),
        colors,
        top=KEY_HEIGHT,
        right=30,
        **_set_cut_axes([i * width for i in range(heads)], merged, colors),
        shapes=[
            *(_cut(colors, i * width - 0.5, **long) for i in range(1, heads)),
            _frame(colors, head * width, width, 0, **long),
            _frame(colors, 0, width, head),
        ],
    )


def _set_cut_axes(starts: Sequence[int], merged: bool, colors: Palette) -> Spec:
    """The matrix's axes, and those of the vector above it, or below. starts: of the heads in the vector."""
    matrix, strip = ([0.3, 1.0], [0.0, 0.12]) if merged else ([0.0, 0.7], [0.88, 1.0])
    ticks = {"tickmode": "array", "tickvals": starts}
    return {
        "xaxis": set_axis(colors, "head_dim", domain=[0, 1], anchor="y"),
        "xaxis2": set_axis(colors, "concat", domain=[0, 1], anchor="y2", **ticks),
        "yaxis": set_axis(colors, domain=matrix, autorange="reversed", dtick=1, anchor="x"),
        "yaxis2": set_axis(colors, domain=strip, showticklabels=False, anchor="x2"),
    }


def _make_map(values: np.ndarray, end: float, scale: Scale, where: str, **settings: object) -> Spec:
    """A signed map without an axis name of its own. where: what a cell is called, pointed at."""
    return {
        "type": "heatmap",
        "z": pack(values),
        "zmin": -end,
        "zmax": end,
        "colorscale": scale,
        "hovertemplate": Rich(f"{where}<b>%{{z:.4g}}</b><extra></extra>"),
        **settings,
    }


def _make_bar(values: np.ndarray, end: float, colors: Palette) -> Spec:
    return make_color_bar(values, -end, end, colors)


def _frame(colors: Palette, first: int, width: int, row: int, **refs: Any) -> Spec:
    """A frame around some columns of one row."""
    return make_outline((first - 0.5, first + width - 0.5), (row - 0.5, row + 0.5), colors, **refs)


def _cut(colors: Palette, x: float, **refs: str) -> Spec:
    """A thin line between two columns of the first row."""
    line = {"color": colors.faint, "width": 1}
    return {"type": "line", "x0": x, "x1": x, "y0": -0.5, "y1": 0.5, "line": line, **refs}
