"""Positions compared: how near one position's vector is to every other one's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bertviz_core.figures.base import MONOSPACE, Chart, make_chart, pack, set_axis, set_legend
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape


def draw_nearness(series: Mapping[str, np.ndarray], chosen: int, colors: Palette, color: str) -> Chart:
    """Cosines from -1 to 1 over positions, one line a name, the first one solid. chosen: a position to mark."""
    styles = ({"color": color, "width": 2}, {"color": colors.faint, "width": 1.5, "dash": "dash"})
    mark = {
        "type": "line",
        "x0": chosen,
        "x1": chosen,
        "y0": -1.05,
        "y1": 1.05,
        "line": {"color": colors.text, "width": 1, "dash": "dot"},
    }
    return make_chart(
        [
            {
                "type": "scatter",
                "x0": 0,
                "dx": 1,
                "y": pack(values),
                "mode": "lines",
                "name": name,
                "line": style,
                "hovertemplate": Rich(f"{escape(name)}, position %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
            }
            for (name, values), style in zip(series.items(), styles, strict=True)
        ],
        320,
        colors,
        right=16,
        shapes=[mark],
        showlegend=True,
        legend=set_legend({"family": MONOSPACE, "size": 12}),
        xaxis=set_axis(colors, "position", grid=True),
        yaxis=set_axis(colors, "cosine", grid=True, range=[-1.05, 1.05]),
    )
