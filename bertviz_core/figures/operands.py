"""What one number was made from: the row that it stands in, a point on a curve, a sum and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    NUMBER_SHIFT,
    Chart,
    Spec,
    leave_room,
    make_chart,
    name_rows,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_number

_FAR = 0.45  # opacity of what is not picked


@dataclass(frozen=True)
class Spread:
    """A row's mean and variance, drawn as a line and as a band of one standard deviation around it."""

    mean: float
    variance: float
    color: str


def draw_softmax_row(
    scores: np.ndarray, shares: np.ndarray, names: Sequence[str], picked: int, colors: Palette, color: str
) -> Chart:
    """One softmax: the scores that go in on the left, the shares that come out on the right, one row each."""
    wide = len(names) <= 24
    opacity = [1.0 if i == picked else _FAR for i in range(len(names))]
    numbers = {"text": [format_number(float(share)) for share in shares]} if wide else {}
    top = (1.6 if wide else 1.0) * float(shares.max(initial=1e-12))
    few = {"nticks": 4, "tickangle": 0}  # an axis that may be narrow
    return make_chart(
        [
            {
                **_lay_bars(scores, names),
                "marker": {"color": colors.faint, "opacity": opacity},
                "hovertemplate": Rich("%{customdata}<br>score: <b>%{x:.4g}</b><extra></extra>"),
            },
            {
                **_lay_bars(shares, names),
                "xaxis": "x2",
                "marker": {"color": color, "opacity": opacity},
                **numbers,
                "textposition": "outside",
                "cliponaxis": False,
                "textfont": set_font(colors.text),
                "hovertemplate": Rich("%{customdata}<br>probability: <b>%{x:.4g}</b><extra></extra>"),
            },
        ],
        (22 if wide else 16) * len(names) + 70,
        colors,
        right=24 if wide else 12,  # the number beside the longest bar ends there where the chart is narrow
        bargap=0.25,
        yaxis=name_rows(names, colors),
        xaxis=set_axis(colors, "score", grid=True, domain=[0, 0.44], **few),
        xaxis2=set_axis(colors, "probability", grid=True, domain=[0.52, 1], range=[0, top], **few),
    )


def _lay_bars(values: np.ndarray, names: Sequence[str]) -> Spec:
    """One bar a row, without its looks."""
    return {
        "type": "bar",
        "x": pack(values),
        "y": list(range(len(names))),
        "orientation": "h",
        "customdata": list(names),
    }


def draw_row(
    values: np.ndarray, picked: int | None, colors: Palette, color: str, *, title: str, spread: Spread | None = None
) -> Chart:
    """A vector component by component, the picked one marked. title: of the axis of components."""
    places = np.arange(len(values), dtype=np.int32)
    marked = [] if picked is None else [picked]
    said = [_say(f"○ {i}: {format_number(float(values[i]))}", "left", colors.text) for i in marked]
    shapes, told = _draw_spread(spread) if spread else ([], [])
    return make_chart(
        [
            {
                "type": "scatter",
                "x": places,
                "y": pack(values),
                "mode": "lines",
                "line": {"color": color, "width": 1.2, "shape": "hvh"},
                "hovertemplate": Rich(f"{escape(title)} %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
            },
            _ring(marked, values[marked], colors),
        ],
        280,
        colors,
        right=16,
        top=28,
        xaxis=set_axis(colors, title),
        yaxis=set_axis(colors, grid=True),
        annotations=[*said, *told],
        shapes=shapes,
    )


def _ring(places: Sequence[int], values: np.ndarray, colors: Palette) -> Spec:
    """Rings around points of a line."""
    return {
        "type": "scatter",
        "x": places,
        "y": pack(values),
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"color": colors.text, "size": 10, "symbol": "circle-open", "line": {"width": 2}},
    }


def _say(text: str, side: str, color: str) -> Spec:
    """A line of numbers above the chart, at one side."""
    return write_text(
        text, float(side == "right"), 1, set_font(color), xref="paper", yref="paper", xanchor=side, yanchor="bottom"
    )


def _draw_spread(spread: Spread) -> tuple[list[Spec], list[Spec]]:
    """Shapes and texts of a mean and a variance, from side to side of the chart."""
    deviation = float(np.sqrt(max(spread.variance, 0.0)))
    across = {"x0": 0, "x1": 1, "xref": "x domain", "yref": "y"}
    band = {
        "type": "rect",
        "y0": spread.mean - deviation,
        "y1": spread.mean + deviation,
        "fillcolor": spread.color,
        "opacity": 0.16,
        "line": {"width": 0},
        **across,
    }
    line = {
        "type": "line",
        "y0": spread.mean,
        "y1": spread.mean,
        "line": {"color": spread.color, "width": 1.5, "dash": "dash"},
        **across,
    }
    text = f"μ {format_number(spread.mean)}   σ² {format_number(spread.variance)}"
    return [band, line], [_say(text, "right", spread.color)]


def draw_point_on_curve(x: np.ndarray, y: np.ndarray, at: float, on: float, colors: Palette, color: str) -> Chart:
    """A function as a line, one point on it, and dashes from the point to both axes."""
    low = float(min(y.min(), on))
    return make_chart(
        [
            {
                "type": "scatter",
                "x": pack(x),
                "y": pack(y),
                "mode": "lines",
                "hoverinfo": "skip",
                "line": {"color": colors.text, "width": 1.5},
            },
            {
                "type": "scatter",
                "x": [at, at, float(x[0])],
                "y": [low, on, on],
                "mode": "lines",
                "hoverinfo": "skip",
                "line": {"color": color, "width": 1, "dash": "dash"},
            },
            _draw_point(at, on, color),
        ],
        300,
        colors,
        right=16,
        top=28,
        annotations=[_say(f"{format_number(at)} → {format_number(on)}", "right", colors.text)],
        xaxis=set_axis(colors, "input", grid=True, range=[float(x[0]), float(x[-1])]),
        yaxis=set_axis(colors, "output", grid=True),
    )


def _draw_point(at: float, on: float, color: str) -> Spec:
    return {
        "type": "scatter",
        "x": [at],
        "y": [on],
        "mode": "markers",
        "marker": {"color": color, "size": 11},
        "cliponaxis": False,
        "hovertemplate": Rich("%{x:.4g} becomes <b>%{y:.4g}</b><extra></extra>"),
    }


def draw_sum_of_parts(
    names: Sequence[str], values: Sequence[float], kinds: Sequence[str], colors: Palette, total: str
) -> Chart:
    """The parts of a sum laid end to end, one row each, and what they add up to. kinds: the bars' colours, the total's
    last; total: what the sum is called."""
    parts = np.asarray(values, dtype=np.float64)
    ends = np.cumsum(parts)
    lengths, starts = np.append(parts, ends[-1]), np.append(ends - parts, 0.0)
    labels, texts = [*names, total], [format_number(float(value)) for value in lengths]
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    room = 0.04 * (high - low) or 1.0
    beside = {"xref": "paper", "xanchor": "left", "xshift": NUMBER_SHIFT}
    return make_chart(
        [
            {
                "type": "bar",
                "x": pack(lengths),
                "base": pack(starts).tolist(),
                "y": list(range(len(labels))),
                "orientation": "h",
                "customdata": labels,
                "hovertemplate": Rich("%{customdata}<br><b>%{text}</b><extra></extra>"),
                "marker": {"color": list(kinds)},
                "text": texts,
                "textposition": "none",
            },
            _lead_on(ends, colors),
        ],
        34 * len(labels) + 70,
        colors,
        right=leave_room(texts),
        bargap=0.35,
        yaxis=name_rows(labels, colors),
        xaxis=set_axis(colors, "sum of the parts", grid=True, showticklabels=False, range=[low - room, high + room]),
        annotations=[write_text(text, 1, i, set_font(colors.text), **beside) for i, text in enumerate(texts)],
    )


def _lead_on(ends: np.ndarray, colors: Palette) -> Spec:
    """Dots from where each part ends down to where the next one begins, and from the last one to the total."""
    return {
        "type": "scatter",
        "x": pack(np.repeat(ends, 2)),
        "y": np.repeat(np.arange(len(ends) + 1, dtype=np.int32), 2)[1:-1],
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": colors.faint, "width": 1, "dash": "dot"},
    }
