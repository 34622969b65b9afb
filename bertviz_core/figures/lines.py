"""Lines: probabilities from stage to stage, and a sum that grows towards 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette

_DASHES, _MARKERS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
_DRAWN = 400


def draw_shares_by_stage(
    series: Mapping[str, np.ndarray], stages: Sequence[str], colors: Palette, color: str
) -> go.Figure:
    """Probabilities at every stage, one line a name, told apart by dash and marker; the scale's end is printed."""
    end = min(1.0, 1.25 * max(float(values.max()) for values in series.values()))
    chart = make_figure(
        [
            go.Scatter(x=list(range(len(stages))), y=values.astype(np.float32), mode="lines+markers", name=name,
                       line={"color": color, "width": 2, "dash": dash}, marker={"symbol": marker, "size": 8},
                       customdata=list(stages),
                       hovertemplate=name.replace("%{", "% {") + ", %{customdata}<br><b>%{y:.6f}</b><extra></extra>")
            for (name, values), dash, marker in zip(series.items(), _DASHES, _MARKERS, strict=False)
        ],
        320, colors, right=16,
    )  # fmt: skip
    chart.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0,
                                                 "font": {"family": MONOSPACE, "size": 12}})  # fmt: skip
    ticks = {"tickmode": "array", "tickvals": list(range(len(stages))), "ticktext": list(stages)}
    chart.update_xaxes(**set_axis(colors, "after", grid=True), **ticks)
    chart.update_yaxes(**set_axis(colors, "probability", grid=True), range=[-0.02 * end, 1.02 * end],
                       tickformat=".4~f")  # fmt: skip
    return chart


def draw_growing_sum(shares: np.ndarray, marks: Mapping[float, int], colors: Palette, color: str) -> go.Figure:
    """A sum's share of its whole after each of its terms, largest first, over a logarithmic count of terms.

    marks: shares to point out, with the number of terms that reach them.
    """
    drawn = np.unique(np.geomspace(1, len(shares), _DRAWN).round().astype(int))
    chart = make_figure(
        [
            go.Scatter(x=drawn.astype(np.float32), y=shares[drawn - 1].astype(np.float32), mode="lines",
                       line={"color": color, "width": 2, "shape": "hv"},
                       hovertemplate="the best %{x:,}<br><b>%{y:.6f}</b><extra></extra>"),
            go.Scatter(x=list(marks.values()), y=[shares[count - 1] for count in marks.values()], mode="markers",
                       marker={"color": color, "size": 9}, hoverinfo="skip"),
        ],
        320, colors, right=24, top=24,
    )  # fmt: skip
    for share, count in marks.items():
        late = count > len(shares) ** 0.5  # above the line there is room for words to its left, below it to its right
        chart.add_annotation(
            x=np.log10(count), y=shares[count - 1], text=f"{share:.0%}: {count:,}", showarrow=False,
            xanchor="right" if late else "left", xshift=-6 if late else 8, yshift=10 if late else -12,
            font={"family": MONOSPACE, "size": 12, "color": colors.text},
        )  # fmt: skip
    chart.update_xaxes(**set_axis(colors, "entries, best first (logarithmic)", grid=True), type="log", dtick=1,
                       tickformat=",d")  # fmt: skip
    chart.update_yaxes(**set_axis(colors, "share of the denominator", grid=True), range=[0, 1.04])
    return chart
