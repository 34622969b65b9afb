"""Vectors under each other as strips of cells, and a few of their components with every number printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    SANS,
    Chart,
    Spec,
    make_chart,
    make_outline,
    name_rows,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.inked import WRITTEN
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_short, write_fixed

_LETTERS = 6  # of a number in a cell
_THIN, _HIGH = 18, 21  # pixels of a strip, and of its enlarged part
_TOP, _BETWEEN = 18, 40  # pixels for the names of columns, and from the strips to what is enlarged
_LENGTH = 44  # pixels from a strip's end to that of its length, which no part of it that is enlarged has beside it
_RINGED = 5  # pixels above enlarged cells that the ring around one takes


@dataclass(frozen=True)
class Strip:
    """A vector (component,) as one row. end: of its scale; cells: its address, with {x} for the component;
    kind: of vector."""

    name: str
    values: np.ndarray
    end: float
    cells: str
    kind: str


def draw_enlarged_strips(strips: Sequence[Strip], shown: range, chosen: int, colors: Palette) -> Chart:
    """Strips under each other over all components, and below them the shown ones enlarged, with their numbers.

    chosen: the component that is ringed through all of them. Each strip has its own scale.
    """
    names = [strip.name for strip in strips]
    upper = [_draw_strip(strip, i, range(len(strip.values)), colors) for i, strip in enumerate(strips)]
    lower = [
        {**_draw_strip(strip, i, shown, colors, enlarged=True), "xaxis": "x2", "yaxis": "y2"}
        for i, strip in enumerate(strips)
    ]
    count, width = len(strips), len(strips[0].values)
    bottom = count - 0.5
    high = count * (_THIN + _HIGH) + _BETWEEN
    below, above = count * _HIGH / high, 1 - count * _THIN / high
    rings = [
        make_outline((shown.start - 0.5, shown.stop - 0.5), (-0.5, bottom), colors, width=1),
        make_outline((chosen - 0.5, chosen + 0.5), (-0.5, bottom), colors, width=2, xref="x2", yref="y2"),
    ]
    rows = {**name_rows(names, colors), "autorange": False, "range": [bottom, -0.5]}
    return make_chart(
        [*upper, *lower],
        high + _TOP + 6,
        colors,
        top=_TOP,
        right=_LENGTH,
        bottom=6,
        shapes=[*rings, *_lead_down((shown.start / width, shown.stop / width), above, below + 20 / high, colors)],
        annotations=[*_write_lengths(strips, colors), _name_enlarged(below, colors)],
        xaxis=set_axis(colors, anchor="y", side="top", showticklabels=False, range=[-0.5, width - 0.5]),
        yaxis={**rows, "domain": [above, 1.0]},
        xaxis2=_set_enlarged(shown, colors),
        yaxis2={**rows, "domain": [0.0, below], "automargin": False},  # the same names need the same margin
    )


def _set_enlarged(shown: range, colors: Palette) -> Spec:
    """The axis of the enlarged components, every one named."""
    ticks = {"tickvals": list(shown), "ticktext": list(map(str, shown)), "tickangle": 0, "ticklabelstandoff": _RINGED}
    return set_axis(colors, anchor="y2", side="top", **ticks, range=[shown.start - 0.5, shown.stop - 0.5])


def _name_enlarged(top: float, colors: Palette) -> Spec:
    """What the numbers over the enlarged cells count, above the names of the rows. top: of the cells, in the paper."""
    font = {"size": 12, "color": colors.faint}
    beside = {"xref": "paper", "xanchor": "right", "xshift": -4}
    return write_text("component", 0, top, font, yref="paper", yanchor="bottom", yshift=_RINGED - 3, **beside)


def _write_lengths(strips: Sequence[Strip], colors: Palette) -> list[Spec]:
    """How long each vector is, at the right of its strip."""
    right = {"xref": "paper", "xanchor": "right", "xshift": _LENGTH}
    lengths = [float(np.linalg.norm(strip.values.astype(np.float64))) for strip in strips]
    name = write_text("length", 1, 1, {"size": 12, "color": colors.faint}, yref="paper", yanchor="bottom", **right)
    font = set_font(colors.text)
    return [name, *(write_text(format_short(x), 1, i, font, **right) for i, x in enumerate(lengths))]


def _lead_down(part: tuple[float, float], above: float, below: float, colors: Palette) -> list[Spec]:
    """Lines from the shown part of the strips to where it is enlarged. part: of the strips' width; above, below: of
    the height."""
    line = {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "y0": above,
        "y1": below,
        "line": {"color": colors.faint, "width": 1},
    }
    return [{**line, "x0": start, "x1": stop} for start, stop in zip(part, (0, 1), strict=True)]


def _write_narrow(x: float) -> str:
    """A number for a cell that is narrow on a phone."""
    text = format_short(x)
    return text if len(text) <= _LETTERS else write_fixed(x, 3)


def _draw_strip(strip: Strip, row: int, shown: range, colors: Palette, *, enlarged: bool = False) -> Spec:
    """The shown components of one vector, as a heat map of one row."""
    part = strip.values[shown.start : shown.stop]
    numbers: Spec = (
        {
            "text": [[_write_narrow(float(x)) for x in part]],
            **WRITTEN,
            "xgap": 1,
            "ygap": 1,
            "textfont": {"size": 13, "family": SANS},  # in the cells of a phone six letters of the other have no room
        }
        if enlarged
        else {}
    )
    return {
        "type": "heatmap",
        "z": pack(part[None, :]),
        "x0": shown.start,
        "dx": 1,
        "y0": row,
        "dy": 1,
        "ygap": 3,
        "zmin": -strip.end,
        "zmax": strip.end,
        "colorscale": colors.shade(strip.kind),
        "showscale": False,
        "meta": strip.cells,
        "hovertemplate": Rich(f"{escape(strip.name)}, component %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"),
        **numbers,
    }
