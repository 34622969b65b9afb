"""A residual sum as a triangle of lengths, with how long the sum of two such vectors can be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_degrees, format_number, format_short

_Way = tuple[tuple[float, float], tuple[float, float]]  # from a point to a point

_SIDES = ("was", "added", "sum")
_ARC = 24  # points of the angle's arc
_TRIANGLE = 270  # pixels high, with the line below it


def draw_triangle(
    skip: float,
    added: float,
    total: float,
    angle: float,
    colors: Palette,
    inks: tuple[str, str, str],
    cells: Sequence[str] = (),
    before: tuple[float, float, float, float] | None = None,
) -> Chart:
    """Two vectors added, true to length and angle: the skip lies flat, what is added leads from its tip to the sum's.

    Below it a line from the shortest that such a sum can be to the longest, with a mark where this one is.

    angle: between the two, in degrees; NaN where one of them has no length. inks: of skip, added and sum; cells: the
    addresses of their lengths, each offered by a dot on its side, "" where there is none; before: skip, added, total
    and angle in the pass before a change, a dashed outline.
    """
    turn, tip = _find_tip(skip, added, angle)
    ways = (((0.0, 0.0), (skip, 0.0)), ((skip, 0.0), tip), ((0.0, 0.0), tip))
    body = "M 0,0 L {:.4f},0 L {:.4f},{:.4f} Z".format(skip, *tip)
    marks, named, axes = _draw_reach(skip, added, total, inks[2], colors)
    return make_chart(
        [
            *([_draw_before(*before, colors)] if before else []),
            *_draw_sides(ways, (skip, added, total), inks),
            *_draw_angle(skip, added, turn, colors),
            *marks,
            *_offer_sides(ways, (skip, added, total), inks, cells),
        ],
        _TRIANGLE,
        colors,
        left=16,
        right=16,
        top=20,
        bottom=38,
        annotations=[*_name_sides(ways, (skip, added, total), inks, angle, colors), *named],
        shapes=[{"type": "path", "path": body, "fillcolor": colors.zero, "line": {"width": 0}, "layer": "below"}],
        xaxis=set_axis(colors, visible=False),
        yaxis=set_axis(colors, visible=False, scaleanchor="x", domain=[0.3 if marks else 0.0, 1]),
        **axes,
    )


def _find_tip(skip: float, added: float, angle: float) -> tuple[float, tuple[float, float]]:
    """The angle in radians, 0 where there is none; and where the sum ends if the skip lies flat."""
    turn = math.radians(angle) if math.isfinite(angle) else 0.0
    return turn, (skip + added * math.cos(turn), added * math.sin(turn))


def _draw_before(skip: float, added: float, total: float, angle: float, colors: Palette) -> Spec:
    _, (x, y) = _find_tip(skip, added, angle)
    told = f"was {format_number(skip)}, added {format_number(added)}, sum {format_number(total)}"
    return {
        "type": "scatter",
        "x": [0.0, skip, x, 0.0],
        "y": [0.0, 0.0, y, 0.0],
        "mode": "lines",
        "name": "before",
        "line": {"color": colors.faint, "width": 1.5, "dash": "dash"},
        "hovertemplate": Rich(f"before<br>{told}<extra></extra>"),
    }


def _draw_sides(ways: Sequence[_Way], lengths: Sequence[float], inks: Sequence[str]) -> list[Spec]:
    """The three vectors as arrows."""
    return [
        {
            "type": "scatter",
            "x": [start[0], end[0]],
            "y": [start[1], end[1]],
            "mode": "lines+markers",
            "name": name,
            "line": {"color": ink, "width": 3},
            "hovertemplate": Rich(f"{escape(name)}<br><b>{format_number(length)}</b><extra></extra>"),
            "marker": {"color": ink, "size": [0, 12], "symbol": "arrow", "angleref": "previous"},
        }
        for (start, end), name, ink, length in zip(ways, _SIDES, inks, lengths, strict=True)
    ]


def _offer_sides(
    ways: Sequence[_Way], lengths: Sequence[float], inks: Sequence[str], cells: Sequence[str]
) -> list[Spec]:
    """A dot in the middle of each side, which offers the side's length."""
    return [
        {
            "type": "scatter",
            "x": [(start[0] + end[0]) / 2],
            "y": [(start[1] + end[1]) / 2],
            "mode": "markers",
            "name": name,
            "text": [name],
            "hovertemplate": Rich(f"{escape(name)}<br><b>{format_number(length)}</b><extra></extra>"),
            "marker": {"color": ink, "size": 9},
            "meta": [cell],
        }
        for (start, end), name, length, ink, cell in zip(ways, _SIDES, lengths, inks, cells, strict=False)
        if cell
    ]


def _draw_reach(
    skip: float, added: float, total: float, ink: str, colors: Palette
) -> tuple[list[Spec], list[Spec], Spec]:
    """How long the sum of two vectors of these lengths can be, and is: lines, their names and axes; none without."""
    low, high = abs(skip - added), skip + added
    if not (skip and added):
        return [], [], {}
    at = {"opposed": low, "at 90°": math.hypot(skip, added), "same way": high}
    room = 0.16 * (high - low)
    axes = {
        "xaxis2": set_axis(colors, visible=False, anchor="y2", range=[low - room, high + room]),
        "yaxis2": set_axis(colors, visible=False, anchor="x2", domain=[0.0, 0.07], range=[-1, 1]),
    }
    return _mark_lengths(list(at.values()), total, ink, colors), _name_lengths(at, colors), axes


def _mark_lengths(places: Sequence[float], total: float, ink: str, colors: Palette) -> list[Spec]:
    """A line from the first of the lengths to the last, a tick at each, and a dot at the sum's own."""
    line = {
        "type": "scatter",
        "xaxis": "x2",
        "yaxis": "y2",
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": colors.faint, "width": 1.5},
    }
    along = {**line, "x": [places[0], places[-1]], "y": [0.0, 0.0], "line": {"color": colors.line, "width": 6}}
    mark = {
        **line,
        "mode": "markers",
        "x": [total],
        "y": [0.0],
        "marker": {"color": ink, "size": 12},
        "name": "the sum",
        "hoverinfo": "all",
        "hovertemplate": Rich("the sum<br><b>%{x:.4g}</b><extra></extra>"),
    }
    return [along, *({**line, "x": [place, place], "y": [-1.0, 1.0]} for place in places), mark]


def _name_lengths(at: Mapping[str, float], colors: Palette) -> list[Spec]:
    """How the two vectors lie for each of these lengths, and the length, below its tick."""
    font, below = {"size": 12, "color": colors.faint}, {"xref": "x2", "yref": "y2", "yanchor": "top", "yshift": -2}
    return [
        write_text(Rich(f"{escape(name)}<br>{format_short(place)}"), place, -1, font, **below)
        for name, place in at.items()
    ]


def _draw_angle(skip: float, added: float, turn: float, colors: Palette) -> list[Spec]:
    """The skip's direction dotted on beyond its tip, and the arc from there to what is added."""
    if not turn:
        return []
    radius = 0.25 * min(skip, added)
    arc = np.linspace(0, turn, _ARC)
    line = {"color": colors.faint, "width": 1}
    return [
        {
            "type": "scatter",
            "x": [skip, skip + 1.6 * radius],
            "y": [0.0, 0.0],
            "mode": "lines",
            "hoverinfo": "skip",
            "line": {**line, "dash": "dot"},
        },
        {
            "type": "scatter",
            "x": pack(skip + radius * np.cos(arc)),
            "y": pack(radius * np.sin(arc)),
            "mode": "lines",
            "hoverinfo": "skip",
            "line": line,
        },
    ]


def _name_sides(
    ways: Sequence[_Way],
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
    sides = zip(ways, _SIDES, lengths, inks, places, strict=True)
    named = [
        write_text(
            Rich(f"{escape(name)} <b>{format_short(length)}</b>"),
            (start[0] + end[0]) / 2,
            (start[1] + end[1]) / 2,
            set_font(ink, 13),
            bgcolor=colors.surface,
            **place,
        )
        for (start, end), name, length, ink, place in sides
    ]
    if not math.isfinite(angle):
        return named
    corner = ways[0][1]
    place = {"yanchor": "top", "xanchor": "left", "xshift": 8, "yshift": -4}
    return [*named, write_text(bold(format_degrees(angle)), *corner, set_font(colors.text, 13), **place)]
