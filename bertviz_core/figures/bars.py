"""Bars: one number per token or per vocabulary entry, and the curve of an activation function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import (
    BAR_GAP,
    Chart,
    Spec,
    leave_room,
    make_chart,
    make_tracks,
    name_rows,
    pack,
    set_axis,
    set_font,
    set_legend,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number

BAR_HEIGHT = 26
SHARES = (0.0, 1.0)  # the ends of a scale of probabilities
_DASHES = ("dash", "dot", "dashdot")


def draw_bars(
    values: np.ndarray,
    words: Sequence[str],
    colors: Palette,
    color: str,
    *,
    name: str,
    ends: tuple[float, float] | None = None,
    row: int = BAR_HEIGHT,
) -> Chart:
    """Horizontal bars in the given order, first on top.

    ends: of the scale, by default those of the values; row: height of each in pixels.
    """
    texts = [format_number(float(x)) for x in values]
    scale: Spec = {"range": list(ends)} if ends else _leave_room(np.asarray(values))
    axis = set_axis(colors, name, grid=True, **scale)
    hover = Rich("%{customdata}<br><b>%{text}</b><extra></extra>")
    return _draw_rows(values, words, texts, colors, color, axis, hover, row)


def draw_counts(numbers: Sequence[int], words: Sequence[str], colors: Palette, color: str, *, name: str) -> Chart:
    """Whole numbers from 1 up as horizontal bars, first on top, where every grid line is ten times the one before."""
    end = float(np.log10(max(*numbers, 10))) * 1.02
    axis = set_axis(colors, f"{name}, logarithmic", grid=True, type="log", range=[0, end], dtick=1)
    texts = [f"{n:,}" for n in numbers]
    hover = Rich("%{customdata}<br><b>%{text}</b><extra></extra>")
    return _draw_rows(np.array(numbers), words, texts, colors, color, axis, hover)


def _draw_rows(
    values: np.ndarray,
    words: Sequence[str],
    texts: Sequence[str],
    colors: Palette,
    color: str,
    axis: Spec,
    hover: str,
    row: int = BAR_HEIGHT,
) -> Chart:
    """One bar a row on a light track, its number beside it. axis: of the numbers."""
    bars = {
        "type": "bar",
        "x": pack(values),
        "y": list(range(len(values))),
        "orientation": "h",
        "marker": {"color": colors.ink(values, color)},
        "text": texts,
        "textposition": "outside",
        "textfont": set_font(colors.text),
        "cliponaxis": False,
        "customdata": list(words),
        "hovertemplate": hover,
    }
    return make_chart(
        [bars],
        len(values) * row + 70,
        colors,
        right=leave_room(texts),
        bargap=BAR_GAP,
        xaxis=axis,
        yaxis=name_rows(words, colors),
        shapes=make_tracks(len(values), colors),
    )


def _leave_room(values: np.ndarray) -> Spec:
    """A range that leaves room for the numbers beside bars to the left; none where there are no such bars."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    return {"range": [low - 0.8 * (high - low), high + 0.02 * (high - low)]} if low < 0 else {}


def draw_curve(
    x: np.ndarray,
    y: np.ndarray,
    at: np.ndarray,
    on: np.ndarray,
    colors: Palette,
    color: str,
    others: Mapping[str, np.ndarray] | None = None,
    height: int = 340,
    size: int = 5,
) -> Chart:
    """A function as a line (x, y), and the points (at, on) that one token's numbers take on it, `size` pixels wide.

    others: further functions of x to compare with, by name, as dashed lines named at their right end. Only the points
    offer cells.
    """
    lines = [
        _draw_compared(x, line, name, {"color": colors.faint, "width": 1.5, "dash": dash})
        for (name, line), dash in zip((others or {}).items(), _DASHES, strict=False)
    ]
    points = {
        "type": "scatter",
        "x": pack(at),
        "y": pack(on),
        "mode": "markers",
        "name": "this token",
        "marker": {"color": color, "size": size, "opacity": 0.55},
        "hovertemplate": Rich("%{pointNumber}<br>%{x:.4g} becomes <b>%{y:.4g}</b><extra></extra>"),
    }
    return make_chart(
        [*lines, _draw_model(x, y, colors), points],
        height,
        colors,
        right=16,
        picked_from=len(lines) + 1,
        showlegend=bool(others),
        legend=set_legend(),
        xaxis=set_axis(colors, "pre-activation", grid=True),
        yaxis=set_axis(colors, "activation", grid=True),
    )


def _draw_model(x: np.ndarray, y: np.ndarray, colors: Palette) -> Spec:
    """The model's own function, which is drawn over those it is compared with."""
    return {
        "type": "scatter",
        "x": pack(x),
        "y": pack(y),
        "mode": "lines",
        "name": "this model",
        "line": {"color": colors.text, "width": 1.5},
        "hoverinfo": "skip",
    }


def _draw_compared(x: np.ndarray, y: np.ndarray, name: str, line: Spec) -> Spec:
    """A further function, named where it is pointed at and in the legend."""
    return {
        "type": "scatter",
        "x": pack(x),
        "y": pack(y),
        "mode": "lines",
        "name": name,
        "hoverinfo": "name",
        "line": line,
    }
