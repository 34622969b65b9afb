"""What one number was made from: the row that it stands in, a point on a curve, a sum and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_number

_FAR = 0.45  # opacity of what is not picked
_FEW = {"nticks": 4, "tickangle": 0}  # an axis that may be narrow


@dataclass(frozen=True)
class Spread:
    """A row's mean and variance, drawn as a line and as a band of one standard deviation around it."""

    mean: float
    variance: float
    color: str


def draw_softmax_row(scores: np.ndarray, shares: np.ndarray, names: Sequence[str], picked: int, colors: Palette,
                     color: str) -> go.Figure:  # fmt: skip
    """One softmax: the scores that go in on the left, the shares that come out on the right, one row each."""
    rows, height = list(range(len(names))), 22 if len(names) <= 24 else 13
    opacity = [1.0 if i == picked else _FAR for i in rows]
    text = [format_number(float(share)) for share in shares] if height > 13 else None
    chart = make_figure(
        [
            go.Bar(x=scores.astype(np.float32), y=rows, orientation="h", customdata=list(names),
                   marker={"color": colors.faint, "opacity": opacity},
                   hovertemplate="%{customdata}<br>score: <b>%{x:.6f}</b><extra></extra>"),
            go.Bar(x=shares.astype(np.float32), y=rows, orientation="h", customdata=list(names), xaxis="x2",
                   marker={"color": color, "opacity": opacity}, text=text, textposition="outside", cliponaxis=False,
                   textfont={"family": MONOSPACE, "size": 11, "color": colors.text},
                   hovertemplate="%{customdata}<br>share: <b>%{x:.6f}</b><extra></extra>"),
        ],
        height * len(rows) + 70, colors, right=12,
    )  # fmt: skip
    ticks = {"autorange": "reversed", "tickmode": "array", "tickvals": rows, "ticktext": list(names)}
    small = {"family": MONOSPACE, "size": 12 if height > 13 else 10, "color": colors.text}
    top = 1.6 * float(shares.max(initial=1e-12)) if text else float(shares.max(initial=1e-12))
    chart.update_layout(
        bargap=0.25, yaxis={**set_axis(colors), **ticks, "tickfont": small},
        xaxis={**set_axis(colors, "score", grid=True), **_FEW, "domain": [0, 0.44]},
        xaxis2={**set_axis(colors, "share", grid=True), **_FEW, "domain": [0.52, 1], "range": [0, top]},
    )  # fmt: skip
    return chart


def draw_row(values: np.ndarray, picked: int | None, colors: Palette, color: str, *, title: str,
             spread: Spread | None = None) -> go.Figure:  # fmt: skip
    """A vector component by component, the picked one marked. title: of the axis of components."""
    places = np.arange(len(values), dtype=np.int32)
    marked = [] if picked is None else [picked]
    chart = make_figure(
        [
            go.Scatter(x=places, y=values.astype(np.float32), mode="lines",
                       line={"color": color, "width": 1.2, "shape": "hvh"},
                       hovertemplate=f"{title} %{{x}}<br><b>%{{y:.6f}}</b><extra></extra>"),
            go.Scatter(x=places[marked], y=values[marked].astype(np.float32), mode="markers", hoverinfo="skip",
                       marker={"color": colors.text, "size": 10, "symbol": "circle-open", "line": {"width": 2}}),
        ],
        280, colors, right=16, top=28,
    )  # fmt: skip
    chart.update_layout(xaxis=set_axis(colors, title), yaxis=set_axis(colors, grid=True))
    for i in marked:
        _say(chart, f"○ {i}: {format_number(float(values[i]))}", "left", colors.text)
    if spread is not None:
        _draw_spread(chart, spread)
    return chart


def _say(chart: go.Figure, text: str, side: str, color: str) -> None:
    """A line of numbers above the chart, at one side."""
    chart.add_annotation(
        text=text, xref="paper", yref="paper", x=float(side == "right"), y=1, xanchor=side, yanchor="bottom",
        showarrow=False, font={"family": MONOSPACE, "size": 12, "color": color},
    )  # fmt: skip


def _draw_spread(chart: go.Figure, spread: Spread) -> None:
    deviation = float(np.sqrt(max(spread.variance, 0.0)))
    chart.add_hrect(
        spread.mean - deviation, spread.mean + deviation, fillcolor=spread.color, opacity=0.16, line_width=0
    )
    chart.add_hline(spread.mean, line={"color": spread.color, "width": 1.5, "dash": "dash"})
    _say(chart, f"μ {format_number(spread.mean)}   σ² {format_number(spread.variance)}", "right", spread.color)


def draw_point_on_curve(x: np.ndarray, y: np.ndarray, at: float, on: float, colors: Palette, color: str) -> go.Figure:
    """A function as a line, one point on it, and dashes from the point to both axes."""
    low = float(min(y.min(), on))
    chart = make_figure(
        [
            go.Scatter(x=x.astype(np.float32), y=y.astype(np.float32), mode="lines", hoverinfo="skip",
                       line={"color": colors.text, "width": 1.5}),
            go.Scatter(x=[at, at, float(x[0])], y=[low, on, on], mode="lines", hoverinfo="skip",
                       line={"color": color, "width": 1, "dash": "dash"}),
            go.Scatter(x=[at], y=[on], mode="markers", marker={"color": color, "size": 11}, cliponaxis=False,
                       hovertemplate="%{x:.6f} becomes <b>%{y:.6f}</b><extra></extra>"),
        ],
        300, colors, right=16, top=28,
    )  # fmt: skip
    _say(chart, f"{format_number(at)} → {format_number(on)}", "right", colors.text)
    chart.update_layout(
        xaxis={**set_axis(colors, "before", grid=True), "range": [float(x[0]), float(x[-1])]},
        yaxis=set_axis(colors, "after", grid=True),
    )
    return chart


def draw_sum_of_parts(names: Sequence[str], values: Sequence[float], kinds: Sequence[str], colors: Palette, total: str
                 ) -> go.Figure:  # fmt: skip
    """The parts of a sum laid end to end, one row each, and what they add up to. kinds: the bars' colours, the total's
    last; total: what the sum is called."""
    parts = np.asarray(values, dtype=np.float64)
    ends = np.cumsum(parts)
    lengths, starts = [*parts, ends[-1]], [*(ends - parts), 0.0]
    rows, labels = list(range(len(lengths))), [*names, total]
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    chart = make_figure(
        [
            go.Bar(x=np.asarray(lengths, np.float32), base=np.asarray(starts, np.float32), y=rows, orientation="h",
                   customdata=labels, hovertemplate="%{customdata}<br><b>%{text}</b><extra></extra>",
                   marker_color=list(kinds), text=[format_number(float(value)) for value in lengths],
                   textposition="none"),
            go.Scatter(x=np.repeat(ends.astype(np.float32), 2), y=np.ravel([[i, i + 1] for i in rows[:-1]]),
                       mode="lines", line={"color": colors.faint, "width": 1, "dash": "dot"}, hoverinfo="skip"),
        ],
        34 * len(rows) + 70, colors, right=84,
    )  # fmt: skip
    for i, value in enumerate(lengths):
        chart.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=8, y=i, text=format_number(float(value)), showarrow=False,
            font={"family": MONOSPACE, "size": 12, "color": colors.text},
        )  # fmt: skip
    room = 0.04 * (high - low) or 1.0
    chart.update_layout(
        bargap=0.35,
        xaxis={**set_axis(colors, "the parts, added up", grid=True), "showticklabels": False,
               "range": [low - room, high + room]},
        yaxis={**set_axis(colors), "autorange": "reversed", "tickmode": "array", "tickvals": rows, "ticktext": labels},
    )  # fmt: skip
    return chart
