"""Numbers from stage to stage of the pass, one line a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette

_STYLES = (("solid", "circle"), ("dash", "square"), ("dot", "diamond"))


def draw_by_stage(
    series: Mapping[str, np.ndarray], stages: Sequence[str], colors: Palette, color: str, *, name: str,
    ends: tuple[float, float] | None = None, words: Sequence[str] | None = None,
) -> go.Figure:  # fmt: skip
    """Up to three lines, told apart by dash and marker.

    name: of the numbers; ends: of their scale, which is logarithmic where none are given (numbers are positive then);
    words: what to write below the stages, if not their names.
    """
    chart = make_figure(
        [_draw_line(title, values, stages, color, i) for i, (title, values) in enumerate(series.items())],
        320,
        colors,
        right=16,
    )
    chart.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}},
    )
    ticks = {"tickmode": "array", "tickvals": list(range(len(stages))), "ticktext": list(words or stages)}
    chart.update_xaxes(**set_axis(colors, "", grid=True), **ticks)
    if ends:
        room = 0.06 * (ends[1] - ends[0])
        chart.update_yaxes(**set_axis(colors, name, grid=True), range=[ends[0] - room, ends[1] + room])
    else:
        chart.update_yaxes(
            **set_axis(colors, f"{name}, logarithmic", grid=True), type="log", dtick=1, exponentformat="power"
        )
    return chart


def _draw_line(title: str, values: np.ndarray, stages: Sequence[str], color: str, place: int) -> go.Scatter:
    dash, marker = _STYLES[place]
    return go.Scatter(
        x=list(range(len(stages))), y=np.asarray(values, dtype=np.float32), mode="lines+markers", name=title,
        line={"color": color, "width": 2, "dash": dash}, marker={"symbol": marker, "size": 8},
        customdata=list(stages), hoverlabel={"font": {"family": MONOSPACE}},
        hovertemplate=f"{title}, %{{customdata}}<br><b>%{{y:.6~g}}</b><extra></extra>",
    )  # fmt: skip
