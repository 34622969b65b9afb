"""Vectors under each other as strips of cells, and a few of their components with every number printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    Chart,
    Spec,
    make_chart,
    make_outline,
    name_rows,
    pack,
    set_axis,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_short

_UPPER, _LOWER = (0.56, 1.0), (0.0, 0.46)  # of the height: all components, and some of them enlarged


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
    lower = [{**_draw_strip(strip, i, shown, colors, enlarged=True), "xaxis": "x2", "yaxis": "y2"}
             for i, strip in enumerate(strips)]  # fmt: skip
    bottom, first, last = len(strips) - 0.5, shown.start - 0.5, shown.stop - 0.5
    refs = {"xref": "x2", "yref": "y2"}
    rings = [
        make_outline((first, last), (-0.5, bottom), colors, width=1),
        make_outline((chosen - 0.5, chosen + 0.5), (-0.5, bottom), colors, width=2, **refs),
    ]
    rows = name_rows(names, colors)
    return make_chart(
        [*upper, *lower], 44 * len(strips) + 76, colors, top=26, shapes=rings,
        xaxis=set_axis(colors, anchor="y", side="top"), yaxis={**rows, "domain": list(_UPPER)},
        xaxis2=set_axis(colors, anchor="y2", side="top", tickvals=list(shown), ticktext=list(map(str, shown)),
                        tickangle=0),
        yaxis2={**rows, "domain": list(_LOWER)},
    )  # fmt: skip


def _draw_strip(strip: Strip, row: int, shown: range, colors: Palette, *, enlarged: bool = False) -> Spec:
    """The shown components of one vector, as a heat map of one row."""
    part = strip.values[shown.start : shown.stop]
    numbers: Spec = {"text": [[format_short(float(x)) for x in part]], "texttemplate": Rich("%{text}"), "xgap": 1,
                     "ygap": 1, "textfont": {"size": 12}} if enlarged else {}  # fmt: skip
    return {
        "type": "heatmap", "z": pack(part[None, :]), "x0": shown.start, "dx": 1, "y0": row, "dy": 1, "ygap": 3,
        "zmin": -strip.end, "zmax": strip.end, "colorscale": colors.shade(strip.kind), "showscale": False,
        "meta": strip.cells,
        "hovertemplate": Rich(f"{escape(strip.name)}, component %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"), **numbers,
    }  # fmt: skip
