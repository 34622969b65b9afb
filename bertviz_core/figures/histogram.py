"""How often each size occurs among many numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import make_figure, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_number


def name_intervals(edges: np.ndarray) -> list[str]:
    """What lies between every two neighbouring edges, in words."""
    return [f"{format_number(float(low))} to {format_number(float(high))}" for low, high in pairwise(edges)]


def draw_histogram(counts: np.ndarray, edges: np.ndarray, colors: Palette, color: str, name: str) -> go.Figure:
    """Bars between the edges (bar + 1,), as high as the counts (bar,). name: of the numbers that were counted."""
    centers = (edges[:-1] + edges[1:]) / 2
    chart = make_figure(
        go.Bar(
            x=centers.astype(np.float32), y=counts.astype(np.float32), width=float(edges[1] - edges[0]),
            customdata=name_intervals(edges), marker={"color": color, "line": {"width": 0}},
            hovertemplate="%{customdata}<br><b>%{y:,.0f}</b> numbers<extra></extra>",
        ),
        300, colors, right=16,
    )  # fmt: skip
    chart.update_layout(bargap=0)
    chart.update_xaxes(**set_axis(colors, name))
    chart.update_yaxes(**set_axis(colors, "how many", grid=True), tickformat=",d")
    return chart
