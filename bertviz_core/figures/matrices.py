"""Matrices put together: a vector through its weights, and a long vector cut into the rows of a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.heatmap import make_color_bar
from bertviz_core.figures.palette import Palette

_SPLIT, _GAP = 0.77, 0.04  # where the weights end and the results begin
_MAX_HEIGHT = 520


@dataclass(frozen=True, eq=False)
class Projection:
    """A vector times a matrix, lying down: x (hidden,), weight (head_dim, hidden), the first hidden index drawn.

    results: columns (head_dim,) by name, on one scale; ends: of the scales of x, weight and results.
    """

    x: np.ndarray
    weight: np.ndarray
    results: Mapping[str, np.ndarray]
    ends: tuple[float, float, float]
    start: int


def draw_projection(shown: Projection, row: int, colors: Palette) -> go.Figure:
    """x above the weights that it is multiplied with, column by column; at the right, what every row sums to.

    row: a component of the result to mark, with its weights.
    """
    x_end, weight_end, end = shown.ends
    columns = np.stack(list(shown.results.values()), axis=1)
    x, weight = {"x0": shown.start, "dx": 1}, "component %{y}<br>hidden %{x}<br>weight <b>%{z:.6f}</b><extra></extra>"
    height = len(shown.weight)
    chart = make_figure(
        [
            _make_map(shown.x[None], x_end, colors, **x, yaxis="y2", showscale=False,
                      hovertemplate="hidden %{x}<br>X <b>%{z:.6f}</b><extra></extra>"),
            _make_map(shown.weight, weight_end, colors, **x, hovertemplate=weight, showscale=False),
            _make_map(columns, end, colors, xaxis="x2", colorbar=_make_bar(columns, end, colors, 1.0, 0.6), xgap=1,
                      hovertemplate="component %{y}<br><b>%{z:.6f}</b><extra></extra>"),
        ],
        min(_MAX_HEIGHT, height * 9 + 190), colors, top=48, right=30,
    )  # fmt: skip
    names = {"tickmode": "array", "tickvals": list(range(columns.shape[1])), "ticktext": list(shown.results)}
    chart.update_layout(
        xaxis={**set_axis(colors, "hidden"), "domain": [0, _SPLIT], "anchor": "y", "automargin": False},
        xaxis2={**set_axis(colors), **names, "domain": [_SPLIT + _GAP, 1], "anchor": "y", "automargin": False,
                "tickangle": 0},
        yaxis={**set_axis(colors), "domain": [0, 0.86], "autorange": "reversed", "anchor": "x"},
        yaxis2={**set_axis(colors), "domain": [0.92, 1], "tickmode": "array", "tickvals": [0], "anchor": "x",
                "ticktext": [f"X to ±{x_end:.2f}"]},
    ).update_layout(margin_b=44)  # fmt: skip
    chart.add_annotation(text=f"W to ±{weight_end:.2f}", x=0, y=0.86, xref="paper", yref="paper", xanchor="right",
                         yanchor="bottom", xshift=-2, showarrow=False,
                         font={"family": MONOSPACE, "size": 12, "color": colors.text})  # fmt: skip
    _frame(chart, colors, shown.start - 0.5, shown.start + shown.weight.shape[1] - 0.5, row)
    _frame(chart, colors, -0.5, columns.shape[1] - 0.5, row, xref="x2")
    return chart


def draw_cut(
    vector: np.ndarray, heads: int, head: int, end: float, colors: Palette, *, merged: bool = False
) -> go.Figure:
    """A vector of all heads side by side above the matrix with one row a head; merged: below it. One scale."""
    rows = vector.reshape(heads, -1)
    width = rows.shape[1]
    matrix, strip = ([0.3, 1.0], [0.0, 0.12]) if merged else ([0.0, 0.7], [0.88, 1.0])
    chart = make_figure(
        [
            _make_map(vector[None], end, colors, xaxis="x2", yaxis="y2", showscale=False,
                      hovertemplate="concat %{x}<br><b>%{z:.6f}</b><extra></extra>"),
            _make_map(rows, end, colors, xgap=1, ygap=1, colorbar=_make_bar(rows, end, colors, 1.0, 0.6),
                      hovertemplate="head %{y}<br>component %{x}<br><b>%{z:.6f}</b><extra></extra>"),
        ],
        max(280, heads * 18 + 190), colors, top=48, right=30,
    )  # fmt: skip
    firsts = {"tickmode": "array", "tickvals": [i * width for i in range(heads)]}
    chart.update_layout(
        xaxis={**set_axis(colors, "head_dim"), "domain": [0, 1], "anchor": "y"},
        xaxis2={**set_axis(colors, "concat"), "domain": [0, 1], "anchor": "y2", **firsts},
        yaxis={**set_axis(colors), "domain": matrix, "autorange": "reversed", "dtick": 1, "anchor": "x"},
        yaxis2={**set_axis(colors), "domain": strip, "showticklabels": False, "anchor": "x2"},
    )
    for i in range(1, heads):
        chart.add_shape(type="line", x0=i * width - 0.5, x1=i * width - 0.5, y0=-0.5, y1=0.5, xref="x2", yref="y2",
                        line={"color": colors.faint, "width": 1})  # fmt: skip
    _frame(chart, colors, head * width - 0.5, (head + 1) * width - 0.5, 0, xref="x2", yref="y2")
    _frame(chart, colors, -0.5, width - 0.5, head)
    return chart


def _make_map(values: np.ndarray, end: float, colors: Palette, **settings: Any) -> go.Heatmap:
    z = np.ascontiguousarray(values, dtype=np.float32)
    return go.Heatmap(z=z, zmin=-end, zmax=end, colorscale=colors.signed, **settings)


def _make_bar(values: np.ndarray, end: float, colors: Palette, right: float, length: float) -> dict[str, Any]:
    return {**make_color_bar(values, -end, end, colors), "x": right, "len": length}


def _frame(chart: go.Figure, colors: Palette, left: float, right: float, row: int, **refs: str) -> None:
    chart.add_shape(type="rect", x0=left, x1=right, y0=row - 0.5, y1=row + 0.5, **refs,
                    line={"color": colors.text, "width": 1.5})  # fmt: skip
