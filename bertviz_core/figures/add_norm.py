"""A residual sum as a triangle of lengths, and a LayerNorm as strips that line up component by component."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.figures.base import LETTER, Chart, Spec, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import FULL_WIDTH, format_degrees, format_number, format_short

_ARC = 24  # points of the angle's arc
_STRIP, _GAP = 58, 0.03  # pixels of a strip; the part of the chart between two
_SHIFT = 16  # pixels before the chosen component's numbers, at the right: on a strip its lines would read as a minus
_ASIDE = _SHIFT + math.ceil(LETTER * FULL_WIDTH)


def draw_triangle(
    skip: float, added: float, total: float, angle: float, colors: Palette, inks: tuple[str, str, str]
) -> Chart:
    """Two vectors added, true to length and angle: the skip lies flat, what is added leads from its tip to the sum's.

    angle: between the two, in degrees; NaN where one of them has no length. inks: of skip, added and sum.
    """
    turn = math.radians(angle) if math.isfinite(angle) else 0.0
    tip = (skip + added * math.cos(turn), added * math.sin(turn))
    ways = (((0.0, 0.0), (skip, 0.0)), ((skip, 0.0), tip), ((0.0, 0.0), tip))
    names = ("skip", "added", "sum")
    lines = [
        {"type": "scatter", "x": [start[0], end[0]], "y": [start[1], end[1]], "mode": "lines+markers", "name": name,
         "line": {"color": ink, "width": 3},
         "hovertemplate": Rich(f"{escape(name)}<br><b>{format_number(length)}</b><extra></extra>"),
         "marker": {"color": ink, "size": [0, 12], "symbol": "arrow", "angleref": "previous"}}
        for (start, end), name, ink, length in zip(ways, names, inks, (skip, added, total), strict=True)
    ]  # fmt: skip
    return make_chart(
        [*lines, *_draw_angle(skip, added, turn, colors)], 250, colors, left=12, right=12, top=16, bottom=26,
        annotations=_name_sides(ways, (skip, added, total), inks, angle, colors),
        xaxis=set_axis(colors, visible=False), yaxis=set_axis(colors, visible=False, scaleanchor="x"),
    )  # fmt: skip


def _draw_angle(skip: float, added: float, turn: float, colors: Palette) -> list[Spec]:
    """The skip's direction dotted on beyond its tip, and the arc from there to what is added."""
    if not turn:
        return []
    radius = 0.25 * min(skip, added)
    arc = np.linspace(0, turn, _ARC)
    line = {"color": colors.faint, "width": 1}
    return [
        {"type": "scatter", "x": [skip, skip + 1.6 * radius], "y": [0.0, 0.0], "mode": "lines", "hoverinfo": "skip",
         "line": {**line, "dash": "dot"}},
        {"type": "scatter", "x": pack(skip + radius * np.cos(arc)), "y": pack(radius * np.sin(arc)), "mode": "lines",
         "hoverinfo": "skip", "line": line},
    ]  # fmt: skip


def _name_sides(
    ways: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    lengths: Sequence[float],
    inks: Sequence[str],
    angle: float,
    colors: Palette,
) -> list[Spec]:
    """Name and length beside the middle of each side: below the skip, right of what is added, left of the sum."""
    places: tuple[Spec, ...] = (
        {"yanchor": "top", "yshift": -4},
        {"xanchor": "left", "xshift": 8},
        {"xanchor": "right", "xshift": -8, "yshift": 8},
    )
    sides = zip(ways, ("skip", "added", "sum"), lengths, inks, places, strict=True)
    named = [
        write_text(Rich(f"{escape(name)} <b>{format_short(length)}</b>"), (start[0] + end[0]) / 2,
                   (start[1] + end[1]) / 2, set_font(ink, 13), **place)
        for (start, end), name, length, ink, place in sides
    ]  # fmt: skip
    if not math.isfinite(angle):
        return named
    corner = ways[0][1]
    place = {"yanchor": "top", "xanchor": "left", "xshift": 8, "yshift": -4}
    return [*named, write_text(bold(format_degrees(angle)), *corner, set_font(colors.text, 13), **place)]


@dataclass(frozen=True, eq=False)
class Strip:
    """One vector among several that line up. cell: the address of its components, {n} for which; color: of its bars;
    band: mean and standard deviation of its numbers, if they are to be seen."""

    name: str
    values: np.ndarray
    cell: str
    color: str
    band: tuple[float, float] | None = None


def draw_aligned(strips: Sequence[Strip], chosen: int, colors: Palette) -> Chart:
    """Vectors under each other as bars, one column a component, each on its own scale with its ends printed.

    chosen: a component whose numbers stand at the right; each vector's largest is written in it; bars beyond a
    scale's end are cut.
    """
    count = len(strips)
    height = (1 - _GAP * (count - 1)) / count
    traces, texts, shapes, axes = [], [], [], {}
    for i, strip in enumerate(strips):
        axis = f"y{i + 1 if i else ''}"
        top = 1 - i * (height + _GAP)
        limit = _find_limit(strip.values)
        axes[f"yaxis{i + 1 if i else ''}"] = _set_strip_axis(strip, limit, (top - height, top), colors)
        traces.append(_draw_strip(strip, axis))
        texts += _write_largest(strip, chosen, axis, limit, colors)
        texts.append(_write_aside(bold(format_number(float(strip.values[chosen]))), top - height / 2, colors))
        shapes += _draw_band(strip, axis)
    width = len(strips[0].values)
    frame = {"type": "rect", "xref": "x", "yref": "paper", "x0": chosen - 1.5, "x1": chosen + 1.5, "y0": 0, "y1": 1,
             "line": {"color": colors.text, "width": 1.5}}  # fmt: skip
    across = {"range": [-1.5, width + 0.5], "anchor": "free", "position": 0, "tickvals": [0, chosen, width - 1]}
    return make_chart(
        traces, count * _STRIP + 36, colors, left=96, right=_ASIDE, bottom=28, bargap=0, hovermode="x",
        annotations=[*texts, _write_aside(f"at {chosen}", 0, colors, yanchor="top", yshift=-5)],
        shapes=[*shapes, frame], xaxis=set_axis(colors, **across), **axes,
    )  # fmt: skip


def _find_limit(values: np.ndarray) -> float:
    """The end of a strip's scale. Few outliers would flatten all others: then they are cut off."""
    sizes = np.abs(values)
    largest, usual = float(sizes.max(initial=0.0)), float(np.quantile(sizes, 0.98))
    return 1.08 * (1.3 * usual if 0 < 1.3 * usual < largest else largest) or 1.0


def _draw_strip(strip: Strip, axis: str) -> Spec:
    return {
        "type": "bar", "x0": 0, "dx": 1, "y": pack(strip.values), "yaxis": axis, "name": strip.name, "meta": strip.cell,
        "marker": {"color": strip.color, "line": {"width": 0}},
        "hovertemplate": Rich(f"{escape(strip.name)}, component %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }  # fmt: skip


def _set_strip_axis(strip: Strip, limit: float, domain: tuple[float, float], colors: Palette) -> Spec:
    """From the strip's largest size below 0 to the same above, where anything lies below; its name at the left."""
    low = -limit if strip.values.min(initial=0.0) < 0 else 0.0
    return set_axis(
        colors, domain=list(domain), range=[low, limit], zeroline=True, zerolinecolor=colors.line,
        tickmode="array", tickvals=[limit / 2 if low == 0 else 0], ticktext=[strip.name], tickfont={"size": 13},
    )  # fmt: skip


def _write_aside(text: str, y: float, colors: Palette, **settings: Any) -> Spec:
    """A text at the right of the strips. y: part of the chart's height."""
    return write_text(text, 1, y, set_font(colors.text), xref="paper", yref="paper", xanchor="left", xshift=_SHIFT,
                      **{"yanchor": "middle", **settings})  # fmt: skip


def _write_largest(strip: Strip, chosen: int, axis: str, limit: float, colors: Palette) -> list[Spec]:
    """The strip's largest number beside its bar, where there is room for it."""
    width, largest = len(strip.values), int(np.abs(strip.values).argmax())
    if abs(largest - chosen) <= 0.12 * width:
        return []
    left, value = largest < 0.85 * width, float(strip.values[largest])
    return [write_text(format_short(value), largest,
                       float(np.clip(value, -0.7 * limit, 0.7 * limit)), set_font(colors.text),
                       bgcolor=colors.surface, opacity=0.9, yref=axis, xanchor="left" if left else "right",
                       xshift=7 if left else -7)]  # fmt: skip


def _draw_band(strip: Strip, axis: str) -> list[Spec]:
    if strip.band is None:
        return []
    mean, deviation = strip.band
    return [{"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": mean - deviation,
             "y1": mean + deviation, "fillcolor": strip.color, "opacity": 0.14, "line": {"width": 0},
             "layer": "below"}]  # fmt: skip
