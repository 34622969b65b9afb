"""What tokens carried to a number, end to end; beside each, what is left of the number with that token hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    LETTER,
    SANS,
    Chart,
    Spec,
    make_chart,
    name_rows,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.figures.tints import mix
from bertviz_core.formula.numbers import format_short

ROW = 17  # pixels
_THIN = 0.16  # of a row: a bar of the pass before a change
_TOP = 24
_LIGHTER = 0.2  # than the total, its parts
_CARRIED, _NUMBERS, _HIDDEN = (0.0, 0.48), 0.67, (0.73, 0.99)  # of the width: bars, where their numbers end, rings


@dataclass(frozen=True)
class Row:
    """A part, with its address; and what is left with its token hidden, as it is written and with its address.

    left: NaN where nothing is known or can be; note: what stands there instead.
    """

    name: str
    part: float
    cell: str
    left: float = float("nan")
    written: str = ""
    left_cell: str = ""
    note: str = ""


@dataclass(frozen=True)
class Carried:
    """Rows of parts, that of the biases last; total: what they add up to, and the number that is hidden from, as it is.

    heads: what the two columns are, behind their names; chosen: the row whose number is explained, if any; before: the
    rows' parts in the pass before a change, which are drawn thin below.
    """

    rows: Sequence[Row]
    total: Row
    heads: tuple[str, str]
    color: str
    chosen: int | None = None
    before: Sequence[float] = ()


def draw_carried(shown: Carried, colors: Palette) -> Chart:
    """The parts as a waterfall at the left; at the right rings that hang on a dashed line, as it is now.

    Parts add up and are bars; what hiding leaves does not, so it has another form.
    """
    every, parts = [*shown.rows, shown.total], np.array([row.part for row in shown.rows])
    ends, ghosts = np.cumsum(parts), np.array([*shown.before, sum(shown.before)] if shown.before else [])
    starts = np.append(ends - parts, 0.0)
    reached = starts[: len(ghosts)] + ghosts
    left = np.array([row.left for row in every])
    longest = max(len(row.written or row.note) for row in every)
    count = len(shown.rows)
    return make_chart(
        [
            _lead_on(ends, colors),
            _draw_bars(every, starts, shown.color, colors),
            *([_draw_before(ghosts, starts, colors)] if shown.before else []),
            _draw_way(left, colors),
            _draw_rings(shown, colors),
        ],
        ROW * len(every) + _TOP + 6,
        colors,
        top=_TOP,
        bottom=6,
        right=round(LETTER * longest) + 6,
        bargap=0.4,
        barmode="overlay",
        shapes=_draw_lines(shown, colors),
        annotations=[*_write_heads(shown, colors), *_write_numbers(every, round(LETTER * longest) + 4, colors)],
        yaxis={
            **name_rows([*(row.name for row in shown.rows), bold(shown.total.name)], colors),
            "autorange": False,
            "range": [count + 0.5, -0.5],
        },
        xaxis=set_axis(
            colors,
            domain=list(_CARRIED),
            showticklabels=False,
            range=_find_ends(np.concatenate([ends, reached, [0.0]])),
        ),
        xaxis2=set_axis(
            colors, domain=list(_HIDDEN), anchor="y", showticklabels=False, range=_find_ends(left[np.isfinite(left)])
        ),
    )


def _find_ends(values: np.ndarray) -> list[float]:
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 1.0
    return [low - room, high + room]


def _draw_bars(rows: Sequence[Row], starts: np.ndarray, color: str, colors: Palette) -> Spec:
    """One bar a row, the last but one hatched, since the biases are of no token."""
    lengths = [row.part for row in rows]
    return {
        "type": "bar",
        "x": pack(np.array(lengths)),
        "base": pack(starts).tolist(),
        "y": list(range(len(rows))),
        "orientation": "h",
        "customdata": [row.name for row in rows],
        "meta": [row.cell for row in rows],
        "hovertemplate": Rich("%{customdata}<br><b>%{text}</b><extra></extra>"),
        "marker": {
            "color": [*colors.ink(lengths[:-2], mix(color, colors.surface, _LIGHTER)), colors.faint, color],
            "pattern": {"shape": [*[""] * (len(rows) - 2), "/", ""], "bgcolor": colors.surface, "size": 5},
        },
        "text": [format_short(x) for x in lengths],
        "textposition": "none",
    }


def _draw_before(parts: np.ndarray, starts: np.ndarray, colors: Palette) -> Spec:
    """A thin bar a row, below the row's own and from where that starts."""
    return {
        "type": "bar",
        "x": pack(parts),
        "base": pack(starts).tolist(),
        "y": list(range(len(parts))),
        "orientation": "h",
        "width": _THIN,
        "offset": 0.5 - _THIN,
        "name": "before",
        "marker": {"color": colors.faint},
        "hovertemplate": Rich("before<br><b>%{text}</b><extra></extra>"),
        "text": [format_short(x) for x in parts.tolist()],
        "textposition": "none",
    }


def _lead_on(ends: np.ndarray, colors: Palette) -> Spec:
    """A thin line from where each part ends down to the next row."""
    return {
        "type": "scatter",
        "x": _break_up(ends, ends),
        "y": _break_up(np.arange(len(ends)), np.arange(1, len(ends) + 1)),
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": colors.faint, "width": 1},
    }


def _break_up(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Where lines start and end, with a gap behind each."""
    return pack(np.stack([starts, ends, np.full(len(starts), np.nan)], axis=1).ravel())


def _draw_way(left: np.ndarray, colors: Palette) -> Spec:
    """From the number as it is to what is left of it, a line a row. left: (row,) the number as it is last."""
    known = np.flatnonzero(np.isfinite(left[:-1]))
    return {
        "type": "scatter",
        "x": _break_up(np.full(len(known), left[-1]), left[known]),
        "y": _break_up(known, known),
        "xaxis": "x2",
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": colors.faint, "width": 1.5},
    }


def _draw_rings(shown: Carried, colors: Palette) -> Spec:
    known = [i for i, row in enumerate(shown.rows) if np.isfinite(row.left)]
    rows = [shown.rows[i] for i in known]
    return {
        "type": "scatter",
        "x": pack(np.array([row.left for row in rows])),
        "y": known,
        "xaxis": "x2",
        "mode": "markers",
        "cliponaxis": False,
        "customdata": [row.name for row in rows],
        "text": [row.written for row in rows],
        **({"meta": [row.left_cell for row in rows]} if rows else {}),
        "hovertemplate": Rich("%{customdata}, hidden<br><b>%{text}</b><extra></extra>"),
        "marker": {"color": colors.surface, "size": 9, "line": {"width": 2, "color": shown.color}},
    }


def _draw_lines(shown: Carried, colors: Palette) -> list[Spec]:
    """The zero of the parts, the number as it is, the rule above the total, and a band through the chosen row."""
    count, now = len(shown.rows), shown.total.left
    line = {"type": "line", "layer": "below", "line": {"color": colors.text, "width": 1}}
    thin = {"color": colors.line, "width": 1}
    dashed = {"color": colors.faint, "width": 1, "dash": "dash"}
    band = {"type": "rect", "layer": "below", "xref": "paper", "x0": 0, "x1": 1, "fillcolor": colors.zero}
    return [
        *(
            [{**band, "y0": shown.chosen - 0.5, "y1": shown.chosen + 0.5, "line": {"width": 0}}]
            if shown.chosen is not None
            else []
        ),
        {**line, "x0": 0, "x1": 0, "y0": -0.5, "y1": count + 0.5},
        {**line, "xref": "x2", "x0": now, "x1": now, "y0": -0.5, "y1": count + 0.5, "line": dashed},
        {**line, "xref": "paper", "x0": 0, "x1": 1, "y0": count - 0.5, "y1": count - 0.5, "line": thin},
    ]


def _write_heads(shown: Carried, colors: Palette) -> list[Spec]:
    font = {"family": SANS, "size": 12, "color": colors.faint}
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 2}
    return [
        write_text(Rich(f"{bold(name)} {escape(head)}"), x, 1, font, **place)
        for name, head, x in zip(("Carried", "Hidden"), shown.heads, (0, _HIDDEN[0]), strict=True)
    ]


def _write_numbers(rows: Sequence[Row], shift: int, colors: Palette) -> list[Spec]:
    """The parts right of their bars; what hiding leaves, or why there is nothing, at the very right."""
    plain, quiet = set_font(colors.text), {"family": SANS, "size": 12, "color": colors.faint}
    place, last = {"xref": "paper", "xanchor": "right"}, len(rows) - 1
    texts: list[Spec] = []
    for i, row in enumerate(rows):
        strong = bold if i == last else escape
        texts.append(write_text(strong(format_short(row.part)), _NUMBERS, i, plain, **place))
        if row.written or row.note:
            font = plain if row.written else quiet
            texts.append(write_text(strong(row.written or row.note), 1, i, font, xshift=shift, **place))
    return texts
