"""Bars: one number per token or per vocabulary entry, and the curve of an activation function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette

BAR_HEIGHT = 26


def draw_bars(
    values: np.ndarray, words: Sequence[str], colors: Palette, color: str, *, name: str, share: bool = False
) -> go.Figure:
    """Horizontal bars in the given order, first on top. share: values are probabilities, drawn from 0 to 1."""
    chart = make_figure(
        go.Bar(
            x=np.asarray(values, dtype=np.float32), y=list(range(len(values))), orientation="h", marker_color=color,
            text=[f"{x:.4f}".replace("-", "\N{MINUS SIGN}") for x in values], textposition="outside",
            cliponaxis=False, customdata=list(words),
            textfont={"family": MONOSPACE, "size": 12, "color": colors.text},
            hovertemplate="%{customdata}<br><b>%{x:.6f}</b><extra></extra>",
        ),
        len(values) * BAR_HEIGHT + 70, colors, right=52,
    )  # fmt: skip
    chart.update_layout(bargap=0.25)
    chart.update_yaxes(
        **set_axis(colors),
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(words))),
        ticktext=list(words),
    )
    chart.update_xaxes(**set_axis(colors, name, grid=True), range=[0, 1] if share else _leave_room(np.asarray(values)))
    return chart


def draw_counts(numbers: Sequence[int], words: Sequence[str], colors: Palette, color: str, *, name: str) -> go.Figure:
    """Whole numbers from 1 up as horizontal bars, first on top, where every grid line is ten times the one before."""
    chart = draw_bars(np.array(numbers, dtype=np.float64), words, colors, color, name=f"{name}, in powers of ten")
    chart.update_traces(text=[f"{n:,}" for n in numbers], hovertemplate="%{customdata}<br><b>%{x:,}</b><extra></extra>")
    chart.update_xaxes(type="log", range=[0, float(np.log10(max(*numbers, 10))) * 1.02], dtick=1)
    return chart


def _leave_room(values: np.ndarray) -> list[float] | None:
    """A range that leaves room for the numbers beside bars to the left; none where there are no such bars."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    return [low - 0.5 * (high - low), high + 0.02 * (high - low)] if low < 0 else None


def draw_curve(
    x: np.ndarray,
    y: np.ndarray,
    at: np.ndarray,
    on: np.ndarray,
    colors: Palette,
    color: str,
    others: Mapping[str, np.ndarray] | None = None,
) -> go.Figure:
    """A function as a line (x, y), and the points (at, on) that one token's numbers take on it.

    others: further functions of x to compare with, by name, as dashed lines named at their right end.
    """
    dashes = ["dash", "dot", "dashdot"]
    lines = [
        go.Scatter(x=x.astype(np.float32), y=line.astype(np.float32), mode="lines", name=name, hoverinfo="name",
                   line={"color": colors.faint, "width": 1.5, "dash": dash})
        for (name, line), dash in zip((others or {}).items(), dashes, strict=False)
    ]  # fmt: skip
    chart = make_figure(
        [
            *lines,
            go.Scatter(x=x.astype(np.float32), y=y.astype(np.float32), mode="lines", name="this model",
                       line={"color": colors.text, "width": 1.5}, hoverinfo="skip"),
            go.Scatter(x=at.astype(np.float32), y=on.astype(np.float32), mode="markers", name="this token",
                       marker={"color": color, "size": 5, "opacity": 0.55},
                       hovertemplate="%{pointNumber}<br>%{x:.6f} becomes <b>%{y:.6f}</b><extra></extra>"),
        ],
        340, colors, right=16,
    )  # fmt: skip
    chart.update_layout(showlegend=bool(others), legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    chart.update_xaxes(**set_axis(colors, "before the activation", grid=True))
    chart.update_yaxes(**set_axis(colors, "after", grid=True))
    return chart
