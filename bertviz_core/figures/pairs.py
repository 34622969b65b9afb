"""Two probabilities for each word, side by side: told apart by fill, not by colour alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette

_ROW_HEIGHT = 40


def draw_pairs(series: Mapping[str, np.ndarray], words: Sequence[str], colors: Palette, color: str) -> go.Figure:
    """Two bars a word from 0 to 1, the first series hollow, the second filled; words from top to bottom."""
    rows = list(range(len(words)))
    fills = ({"color": colors.surface, "line": {"color": color, "width": 1.5}}, {"color": color})
    chart = make_figure(
        [
            go.Bar(x=np.asarray(values, dtype=np.float32), y=rows, orientation="h", name=name, marker=fill,
                   text=[f"{x:.4f}" for x in values], textposition="outside", cliponaxis=False, customdata=list(words),
                   textfont={"family": MONOSPACE, "size": 11, "color": colors.text},
                   hovertemplate=f"{name}, %{{customdata}}<br><b>%{{x:.6f}}</b><extra></extra>")
            for (name, values), fill in zip(series.items(), fills, strict=True)
        ],
        len(rows) * _ROW_HEIGHT + 110, colors, right=52,
    )  # fmt: skip
    chart.update_layout(bargap=0.25, barmode="group", showlegend=True,
                        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0})  # fmt: skip
    chart.update_yaxes(**set_axis(colors), autorange="reversed", tickmode="array", tickvals=rows, ticktext=list(words))
    chart.update_xaxes(**set_axis(colors, "share", grid=True), range=[0, 1])
    return chart
