"""How often each size occurs among many numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bertviz_core.figures.base import Chart, make_chart, pack, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number


def name_intervals(edges: np.ndarray) -> list[str]:
    """What lies between every two neighbouring edges, in words."""
    return [f"{format_number(float(low))} to {format_number(float(high))}" for low, high in pairwise(edges)]


def draw_histogram(counts: np.ndarray, edges: np.ndarray, colors: Palette, color: str, name: str) -> Chart:
    """Bars between the edges (bar + 1,), as high as the counts (bar,). name: of the numbers that were counted."""
    bars = {
        "type": "bar",
        "x": pack((edges[:-1] + edges[1:]) / 2),
        "y": pack(counts),
        "width": float(edges[1] - edges[0]),
        "customdata": name_intervals(edges),
        "marker": {"color": color, "line": {"width": 0}},
        "hovertemplate": Rich("%{customdata}<br><b>%{y:,.0f}</b> numbers<extra></extra>"),
    }
    return make_chart(
        [bars],
        300,
        colors,
        right=16,
        bargap=0,
        xaxis=set_axis(colors, name),
        yaxis=set_axis(colors, "count", grid=True, tickformat=",d"),
    )
