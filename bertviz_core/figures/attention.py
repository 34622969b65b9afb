"""Sums as they grow: a dot product term by term, and a softmax's denominator token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.bars import BAR_HEIGHT
from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_number


def draw_products(
    names: Sequence[str],
    terms: np.ndarray,
    running: np.ndarray,
    colors: Palette,
    *,
    color: str,
    title: str,
    whole: bool = True,
) -> go.Figure:
    """The terms of a sum as bars in the given order, and the sum so far as a line. title: of the axis of names;
    whole: these are all terms."""
    chart = make_figure(
        [
            go.Bar(x=names, y=terms.astype(np.float32), marker_color=color,
                   hovertemplate="%{x}<br>term: <b>%{y:.6f}</b><extra></extra>"),
            go.Scatter(x=names, y=running.astype(np.float32), mode="lines+markers", marker={"size": 4},
                       line={"color": colors.text, "width": 1.5, "shape": "hv"},
                       hovertemplate="with %{x}<br>sum so far: <b>%{y:.6f}</b><extra></extra>"),
        ],
        340, colors, right=16, top=24,
    )  # fmt: skip
    end = float(running[-1])
    chart.add_annotation(
        x=len(names) - 1, y=end, text=f"{'sum' if whole else 'sum so far'} {format_number(end)}", showarrow=False,
        xanchor="right",
        yshift=14 if end >= 0 else -14, bgcolor=colors.surface, opacity=0.9,
        font={"family": MONOSPACE, "size": 12, "color": colors.text},
    )  # fmt: skip
    chart.update_layout(bargap=0.2)
    chart.update_xaxes(**set_axis(colors, title), type="category")
    chart.update_yaxes(**set_axis(colors, grid=True))
    return chart


def draw_denominator(powers: np.ndarray, running: np.ndarray, words: Sequence[str], colors: Palette) -> go.Figure:
    """Exponentials laid end to end, one row a token, and as a line the denominator as it grows."""
    rows = list(range(len(powers)))
    chart = make_figure(
        [
            go.Bar(x=powers.astype(np.float32), base=(running - powers).astype(np.float32), y=rows, orientation="h",
                   marker_color=colors.kinds["attention"], customdata=list(words), texttemplate="%{x:.4f}",
                   text=powers.astype(np.float32), textposition="outside", cliponaxis=False,
                   textfont={"family": MONOSPACE, "size": 12, "color": colors.text},
                   hovertemplate="%{customdata}<br>e to (s − max): <b>%{text:.6f}</b><extra></extra>"),
            go.Scatter(x=running.astype(np.float32), y=rows, mode="lines+markers", marker={"size": 4},
                       line={"color": colors.text, "width": 1, "shape": "vh"}, customdata=list(words),
                       hovertemplate="with %{customdata}<br>denominator so far: <b>%{x:.6f}</b><extra></extra>"),
        ],
        len(rows) * BAR_HEIGHT + 70, colors, right=56,
    )  # fmt: skip
    chart.update_layout(bargap=0.35)
    chart.update_yaxes(**set_axis(colors), autorange="reversed", tickmode="array", tickvals=rows, ticktext=list(words))
    chart.update_xaxes(
        **set_axis(colors, "the exponentials, added up", grid=True), range=[0, 1.02 * float(running[-1])]
    )
    return chart
