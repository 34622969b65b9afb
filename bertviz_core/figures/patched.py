"""Patches: how far each moves a measure, as grids on one scale and as lines over the layers; and the way it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from bertviz_core.figures.base import LETTER, Chart, Spec, make_chart, name_ticks, pack, set_axis, set_font, write_text
from bertviz_core.figures.ends import spread
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_short, write_fixed

LEAST = 0.05  # of the way, for its number to be written
_SLANT = 0.72  # how much of a letter a slanted word needs in height
_CELLS = 230  # pixels across the cells of a grid, at least: of three beside each other, or of one on a phone
_APART = 16  # pixels from one slanted word to the next
_LINE = 14  # pixels from one name of a line to the next
_NEAR = 0.3  # of the axis: marks between which there is no room for two names
_CLEAR = 0.12  # of the axis: from 0 to the nearest number, for 0 to be written too
_DASHES = ("solid", "solid", "dash", "dot")


def write_moved(value: float, of_way: bool) -> str:
    """A part of the way in percent; where there is no way, the measure's own change."""
    return write_fixed(100 * value, 0) if of_way else format_short(value)


def _tell(value: float, of_way: bool) -> str:
    return f"{write_moved(value, of_way)}{' %' * of_way}"


def draw_grid(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    colors: Palette,
    kind: str,
    end: float,
    *,
    of_way: bool,
    ticks: Sequence[str] | None = None,
    slanted: bool = True,
    row: int = 26,
    unmatched: Sequence[int] = (),
) -> Chart:
    """(row, column) how far each patch moves the measure, from -end to end; larger numbers are written in their cells.

    of_way: whether parts of a way; ticks: what stands beside the rows, if not their names; slanted: columns are words
    above it, otherwise heads; row: pixels of a row; unmatched: the columns that no patch reaches, which are framed.
    What is not known has no cell.
    """
    texts = [[write_moved(x, of_way) if abs(x) >= LEAST * end else "" for x in line] for line in values]
    chart = draw_heatmap(
        values,
        Side("", ticks or rows),
        Side("", columns, angle=-45 if slanted else 0),
        colors,
        kind,
        end=end,
        texts=texts,
    )
    top = min(96, 14 + ceil(_SLANT * LETTER * max(map(len, columns), default=0))) if slanted else 24
    layout = {
        **chart.layout,
        "height": top + row * len(rows) + 2,
        "margin": {"l": 8, "r": 28 if slanted else 8, "t": top, "b": 2},
        "xaxis": {**chart.layout["xaxis"], **_thin(columns, slanted), "side": "top", "automargin": False},
        "shapes": [*chart.layout.get("shapes", ()), *(_frame(column, len(rows), colors) for column in unmatched)],
    }
    across = "%{x}" if slanted else "head %{x}"
    unit = "%{customdata[1]} of the way" if of_way else "%{customdata[1]}"
    said = [[[name, _tell(x, of_way)] for x in line] for name, line in zip(rows, values, strict=True)]
    shown = {
        **{key: part for key, part in chart.traces[0].items() if key != "colorbar"},
        "showscale": False,
        "hoverongaps": False,  # of what is not known there is nothing to tell
        "customdata": said,
        "hovertemplate": Rich(f"%{{customdata[0]}}, {across}<br><b>{unit}</b><extra></extra>"),
    }
    return replace(chart, traces=(shown,), layout=layout)


def _thin(columns: Sequence[str], slanted: bool) -> Spec:
    """Every few of the columns' slanted words, where all of them have no room."""
    every = ceil(len(columns) * _APART / _CELLS) if slanted and columns else 1
    return Side("", columns).ticks(len(columns), every) if every > 1 else {}


def _frame(column: int, rows: int, colors: Palette) -> Spec:
    """A column that no patch reaches."""
    line = {"color": colors.faint, "width": 1, "dash": "dot"}
    return {"type": "rect", "x0": column - 0.45, "x1": column + 0.45, "y0": -0.45, "y1": rows - 0.55, "line": line}


@dataclass(frozen=True, eq=False)
class Moves:
    """One token's patches, by row. cells: the address of each."""

    name: str
    values: np.ndarray
    color: str
    cells: Sequence[str]


def draw_moves(runs: Sequence[Moves], rows: Sequence[str], colors: Palette, height: int, *, of_way: bool) -> Chart:
    """Lines over the layers, one a token, named at their ends; where a line ends at 0, at its highest place."""
    known = [run.values[np.isfinite(run.values)] for run in runs]
    high = max([1.0 if of_way else 0.0, *(float(each.max(initial=0.0)) for each in known)]) or 1.0
    low = min([0.0, *(float(each.min(initial=0.0)) for each in known)])
    room = 0.1 * (high - low)
    ends = {run.name: float(run.values[-1]) for run in runs if np.isfinite(run.values[-1])}
    places = spread(ends, _LINE * (high - low + 2 * room) / max(1, height - 40))
    return make_chart(
        [_draw_run(run, dash, rows, of_way) for run, dash in zip(runs, (*_DASHES, *["dot"] * len(runs)), strict=False)],
        height,
        colors,
        right=14 + ceil(LETTER * max((len(run.name) for run in runs), default=0)),
        annotations=[
            write_text(
                bold(run.name) if i < 2 else run.name,
                len(rows) - 1,
                places[run.name],
                {"size": 12, "color": run.color},
                xanchor="left",
                xshift=8,
            )
            for i, run in enumerate(runs)
            if run.name in places
        ],
        xaxis=set_axis(colors, standoff=2, **name_ticks(rows, 8), range=[-0.2, len(rows) - 0.9]),
        yaxis=set_axis(
            colors,
            grid=True,
            range=[low - room, high + room],
            **({"tickformat": ".0%", "dtick": 0.5} if of_way else {}),
        ),
    )


def _draw_run(run: Moves, dash: str, rows: Sequence[str], of_way: bool) -> Spec:
    return {
        "type": "scatter",
        "x": list(range(len(rows))),
        "y": pack(run.values),
        "name": run.name,
        "mode": "lines+markers",
        "line": {"color": run.color, "width": 2.25, "dash": dash},
        "marker": {"color": run.color, "size": 7},
        "customdata": [
            [row, f"{write_moved(float(x), of_way)}{' %' * of_way}"] for row, x in zip(rows, run.values, strict=True)
        ],
        "hovertemplate": Rich(f"{escape(run.name)}, %{{customdata[0]}}<br><b>%{{customdata[1]}}</b><extra></extra>"),
        "meta": list(run.cells),
    }


def draw_way(marks: Mapping[str, float], colors: Palette, color: str, height: int = 88) -> Chart:
    """A measure in several passes on one line, by the pass's name; between the first two lies the way.

    The second is where the way begins; a third is how far a patch goes, drawn as a ring that is called patched. Where
    the line crosses 0, that has a mark too.
    """
    values = list(marks.values())
    low, high = min(values), max(values)
    room = 0.25 * (high - low) or 1.0
    start, reached = values[1], values[2] if len(values) > 2 else values[0]
    names = list(marks)
    return make_chart(
        [
            _draw_way([low - room / 2, high + room / 2], colors.line, 2),
            _draw_way([start, reached], color, 5),
            {
                "type": "scatter",
                "x": pack(np.array(values)),
                "y": [0] * len(values),
                "mode": "markers",
                "marker": {
                    "opacity": 1,
                    "symbol": ["line-ns", "line-ns", "circle"][: len(values)],
                    "size": [18, 18, 13][: len(values)],
                    "color": colors.surface,
                    "line": {"color": [colors.text, colors.text, color][: len(values)], "width": 2.5},
                },
                "customdata": [[name, format_short(value)] for name, value in marks.items()],
                "hovertemplate": Rich("%{customdata[0]}<br><b>%{customdata[1]}</b><extra></extra>"),
            },
        ],
        height,
        colors,
        top=18,
        annotations=[
            *_name_marks(names[:2], values, 2 * room + high - low, colors),
            *([write_text(bold("patched"), reached, 0, {"size": 12, "color": color}, yshift=18)] if names[2:] else []),
        ],
        shapes=[_mark_zero(colors)] if low < 0 < high else [],
        xaxis=set_axis(colors, range=[low - room, high + room], showticklabels=False),
        yaxis=set_axis(colors, range=[-1, 1], showticklabels=False),
    )


def _mark_zero(colors: Palette) -> Spec:
    """Dashes at 0, where a difference changes its sign."""
    line = {"color": colors.faint, "width": 1, "dash": "dash"}
    return {"type": "line", "layer": "below", "x0": 0, "x1": 0, "y0": -0.5, "y1": 0.5, "line": line}


def _name_marks(names: Sequence[str], values: Sequence[float], whole: float, colors: Palette) -> Iterator[Spec]:
    """Above each mark the pass's name, below it the number; of marks that are near, at their sides; and 0 between them.

    whole: the axis.
    """
    near = abs(values[0] - values[1]) < _NEAR * whole
    left = int(values[1] < values[0])
    for i, (name, value) in enumerate(zip(names, values, strict=False)):
        side = {"xanchor": "right" if i == left else "left", "xshift": -4 if i == left else 4} if near else {}
        yield write_text(name, value, 0, {"size": 12, "color": colors.text}, yshift=34, **side)
        yield write_text(format_short(value), value, 0, set_font(colors.text), yshift=-22, **side)
    if min(values[:2]) < 0 < max(values[:2]) and min(map(abs, values[:2])) > _CLEAR * whole:
        yield write_text("0", 0, 0, set_font(colors.faint), yshift=-22)


def _draw_way(ends: Sequence[float], color: str, width: int) -> Spec:
    return {
        "type": "scatter",
        "x": list(ends),
        "y": [0, 0],
        "mode": "lines",
        "line": {"color": color, "width": width},
        "hoverinfo": "skip",
    }
