"""Heat maps of tensors: rows are tokens in sentence order, signed data symmetric around 0, ends printed at the bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    MONOSPACE,
    Chart,
    Spec,
    make_chart,
    make_outline,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.inked import WRITTEN
from bertviz_core.figures.margins import measure_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.numbers import format_short

ROW_HEIGHT, MIN_HEIGHT, MAX_HEIGHT = 22, 150, 620
FRAME = 72  # pixels above and below the rows
KEY_HEIGHT = 26  # pixels of the colour bar above a map, with its numbers
_BAR = 96  # pixels: the length of a colour bar
CLEAR = 20  # pixels from the columns' entries to their name, where the usual few would let them touch
_GAPS = 24  # with more rows or columns than this, gaps between them would bleach the colours
_LETTER = 8  # pixels of one of the name's
_BESIDE = 6  # pixels from a row's word to its first cell, whose frame would cut it otherwise
_NUMBERED = 14  # columns at most whose cells have room for two digits
_LABEL, _SQUARE = 14, 190  # pixels of a row's label, and of the side of a map of square cells on a phone
_LABELLED_COLUMNS = 40  # with more columns than this, words would collide


@dataclass(frozen=True)
class Side:
    """One side of a heat map: the axis's name, and either words for its entries or the index of the first.

    step: how many indices lie from one entry to the next; angle: at which words stand below columns, "auto" as it fits;
    dtick: indices from one printed one to the next, if not as it fits; standoff: pixels from the columns' entries to
    their name; labelled: its entries are printed.
    """

    name: str
    words: Sequence[str] | None = None
    start: float = 0
    step: int = 1
    angle: int | str = -45
    dtick: int | None = None
    standoff: int = 6
    labelled: bool = True

    def ticks(self, size: int, thin: int = 1, kept: int | None = None) -> Spec:
        """Plotly's axis settings: every few entries named, or plain indices where they have no names.

        kept: an entry that is named in any case, and then none as near as names stand.
        """
        if self.words is None:
            return {} if self.dtick is None else {"dtick": self.dtick}
        shown = [i for i in range(0, size, thin) if kept is None or abs(i - kept) >= thin or i == kept]
        if kept is not None and 0 <= kept < size:
            shown = sorted({*shown, kept})
        places = [self.start + i for i in shown]
        words = [self.words[i] for i in shown]
        return {"tickmode": "array", "tickvals": places, "ticktext": words, "tickangle": self.angle}

    def edges(self, first: float, last: float) -> tuple[float, float]:
        """Where the first entry begins and the last one ends, both given by index."""
        return first - self.step / 2, last + self.step / 2


def has_room(columns: int) -> bool:
    """Whether the cells of so many columns are wide enough for numbers."""
    return columns <= _NUMBERED


def draw_heatmap(
    values: np.ndarray,
    rows: Side,
    columns: Side,
    colors: Palette,
    kind: str,
    *,
    share: bool = False,
    end: float | None = None,
    selected: int | None = None,
    cell: tuple[int, int] | None = None,
    gaps: bool = True,
    name_inside: bool = False,
    height: int | None = None,
    square: bool = False,
    numbers: bool = False,
    texts: Sequence[Sequence[str]] | None = None,
    face: str = MONOSPACE,
) -> Chart:
    """A matrix (row, column) as a heat map.

    kind: of vector, whose colour the largest values have. share: values lie between 0 and 1 (attention, probabilities)
    and are drawn from 0 to `end`; otherwise they are signed and drawn from -end to end. end: the scale's end, by
    default the largest absolute value; what lies beyond it has the end's colour. selected: a row to mark; cell: a row
    and column to mark. gaps: between cells, where these are few. name_inside: the rows' name stands above the map,
    where numbers leave it no room beside it. height: of the chart in pixels, by default as the rows need it. square:
    cells are as wide as they are high, and the map stands at the left. What is no number has no cell.
    numbers: those of the marked row stand in it, in hundredths, in place of the colour bar: where `has_room`.
    texts: what stands in the cells (row, column); face: its letters.
    """
    limit = float(end if end is not None else np.nanmax(np.abs(values), initial=0.0)) or 1.0
    low = 0.0 if share else -limit
    count, width = values.shape
    look = {
        "colorscale": colors.rise(kind) if share else colors.shade(kind),
        **({"showscale": False} if numbers else {"colorbar": make_color_bar(values, low, limit, colors)}),
        "xgap": int(gaps and width <= _GAPS),
        "ygap": int(gaps and count <= _GAPS),
        **({} if texts is None else {"text": texts, **WRITTEN, "textfont": {"size": 12, "family": face}}),
    }
    return make_chart(
        [_draw_cells(values, rows, columns, (low, limit), look)],
        height or min(MAX_HEIGHT, max(MIN_HEIGHT, count * ROW_HEIGHT + FRAME)),
        colors,
        right=8 if numbers else 34,
        top=8 if numbers else KEY_HEIGHT,
        left=_leave_room(rows, name_inside),
        annotations=[
            *([_name_rows(rows, colors, name_inside)] if rows.name else []),
            *(_write_numbers(values, limit, rows, columns, kind, colors, selected) if numbers else []),
        ],
        shapes=_mark(values.shape, rows, columns, colors, selected, cell),
        **_set_axes(values.shape, rows, columns, colors, square, selected),
    )


def _draw_cells(values: np.ndarray, rows: Side, columns: Side, ends: tuple[float, float], look: Spec) -> Spec:
    """The cells (row, column), where they stand and what they are called. ends: of the scale; look: its colours, and
    gaps."""
    return {
        "type": "heatmap",
        "z": pack(values),
        "x0": columns.start,
        "dx": columns.step,
        "y0": rows.start,
        "dy": rows.step,
        "zmin": ends[0],
        "zmax": ends[1],
        **look,
        "hovertemplate": Rich(
            f"{escape(rows.name)} %{{y}}<br>{escape(columns.name)} %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"
        ),
    }


def _leave_room(rows: Side, name_inside: bool) -> int:
    """The left margin in pixels for the rows' name, which ends where cells begin; words make room for themselves."""
    if name_inside:
        return 8
    return math.ceil(8 + measure_text(rows.name, 12)) if rows.words is not None else 8 + _LETTER * len(rows.name)


def _set_axes(
    shape: tuple[int, ...], rows: Side, columns: Side, colors: Palette, square: bool, selected: int | None
) -> Spec:
    thin_rows = max(1, -(-shape[0] * _LABEL // (_SQUARE if square else MAX_HEIGHT)))
    slanted = thin_rows + (thin_rows > 2)  # names of many columns stand aslant, which takes more room
    thin_columns = slanted if square else max(1, -(-shape[1] // _LABELLED_COLUMNS))
    down = {
        **rows.ticks(shape[0], thin_rows, None if selected is None else _find_row(rows, selected)),
        "tickangle": 0,
        "ticklabelstandoff": _BESIDE,
        "showticklabels": rows.labelled,
    }
    across = {**columns.ticks(shape[1], thin_columns), "showticklabels": columns.labelled}
    if square:
        down |= {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
        across |= {"constrain": "domain", "constraintoward": "left"}
    return {
        "yaxis": set_axis(colors, autorange="reversed", **down),
        "xaxis": set_axis(colors, columns.name, standoff=columns.standoff, **across),
    }


def _find_row(rows: Side, selected: int) -> int:
    return int(selected - rows.start) // rows.step


def _name_rows(rows: Side, colors: Palette, inside: bool) -> Spec:
    """The rows' name above them: an axis title beside the words would run into them."""
    place = {"xanchor": "left", "xshift": 0} if inside else {"xanchor": "right", "xshift": -4}
    return write_text(
        rows.name,
        0,
        1,
        {"size": 12, "color": colors.faint},
        xref="paper",
        yref="paper",
        yanchor="bottom",
        yshift=4,
        **place,
    )


def _write_numbers(
    values: np.ndarray, limit: float, rows: Side, columns: Side, kind: str, colors: Palette, selected: int | None
) -> list[Spec]:
    """The marked row's numbers in hundredths, in its cells."""
    if selected is None:
        return []
    row = values[_find_row(rows, selected)]
    return [
        write_text(
            f"{round(100 * x)}".replace("-", "\u2212"),
            columns.start + i * columns.step,
            selected,
            set_font(tint_cell(x / limit, kind, colors).ink),
        )
        for i, x in enumerate(row.tolist())
        if np.isfinite(x)
    ]


def _mark(
    shape: tuple[int, ...],
    rows: Side,
    columns: Side,
    colors: Palette,
    selected: int | None,
    cell: tuple[int, int] | None,
) -> list[Spec]:
    """Frames around what is marked: a row, where it is among those that are drawn, and a cell."""
    count, width = shape
    marks = []
    if selected is not None and rows.start <= selected < rows.start + count * rows.step:
        across = columns.edges(columns.start, columns.start + (width - 1) * columns.step)
        marks.append(make_outline(across, rows.edges(selected, selected), colors))
    if cell is not None:
        row, column = cell
        marks.append(make_outline(columns.edges(column, column), rows.edges(row, row), colors, width=2))
    return marks


def make_color_bar(values: np.ndarray, low: float, high: float, colors: Palette) -> Spec:
    """The colour bar, with its ends (and 0) printed; an end that values go beyond says so."""
    above, below = np.nanmax(values, initial=0.0) > high, np.nanmin(values, initial=0.0) < low
    texts = {high: f"{'≥ ' if above else ''}{write_end(high)}", 0.0: "0"}
    if low:
        texts[low] = f"{'≤ ' if below else ''}{write_end(low)}"
    return {
        "tickvals": list(texts),
        "ticktext": list(texts.values()),
        "ticklabeloverflow": "allow",
        "tickangle": 0,
        "orientation": "h",
        "thickness": 6,
        "lenmode": "pixels",
        "len": _BAR,
        "x": 1,
        "xanchor": "right",
        "xpad": 0,
        "yref": "container",  # so that it makes no room for itself
        "y": 1,
        "yanchor": "top",
        "ypad": 2,
        "outlinewidth": 0,
        "tickfont": set_font(colors.text, 12),
    }


def write_end(end: float) -> str:
    """An end of the scale, of which two digits are worth reading."""
    rounded = float(f"{end:.1e}")
    plain = 1e-3 <= abs(rounded) < 1e5
    return f"{rounded:,g}".replace("-", "\N{MINUS SIGN}") if plain else format_short(rounded)
