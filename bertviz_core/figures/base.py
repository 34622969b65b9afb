"""What all figures share: no template (it weighs more than the data), the theme's colours, one font for numbers."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from bertviz_core.figures.palette import Palette

_CLEAR = "rgba(0,0,0,0)"
Figure = go.Figure  # by this name for who shows one: only figures import Plotly
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


def make_figure(traces: Any, height: int, colors: Palette, right: int = 8, top: int = 8) -> go.Figure:
    """A figure with these traces, transparent, without zoom or legend."""
    return go.Figure(
        traces,
        layout={
            "template": {}, "height": height, "margin": {"l": 8, "r": right, "t": top, "b": 8}, "dragmode": False,
            "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "font": {"color": colors.text}, "showlegend": False,
            "hoverlabel": {"bgcolor": colors.surface, "bordercolor": colors.faint,
                           "font": {"family": MONOSPACE, "color": colors.text}},
        },
    )  # fmt: skip


def set_axis(colors: Palette, title: str = "", grid: bool = False) -> dict[str, Any]:
    """Settings of one axis: fixed, numbers in monospace."""
    return {
        "showgrid": grid, "gridcolor": colors.line, "zeroline": grid, "zerolinecolor": colors.faint, "fixedrange": True,
        "automargin": True, "ticks": "", "tickfont": {"family": MONOSPACE, "size": 12, "color": colors.text},
        "title": {"text": title, "font": {"size": 12, "color": colors.faint}, "standoff": 6},
    }  # fmt: skip
