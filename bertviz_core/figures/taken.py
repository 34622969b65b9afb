"""What one token takes from the others: columns of bars on the rows of the tokens, and all heads beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    LETTER,
    Cells,
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
from bertviz_core.figures.margins import measure_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_percent, format_short
from bertviz_core.formula.steps import ATTENTION, VALUE

ROW = 19  # pixels
_HEAD = 36  # pixels for the columns' names
_FOOT = 10  # pixels below the squares
_APART = 8  # heads whose lengths stand in one line
_BEFORE, _BARS, _GAP = 4, 23, 6  # pixels of a narrow card: from a number to its bar, of the bars, between columns
_SQUARE = 17  # pixels along the side of the largest square
_HIGH, _THIN = 0.42, 0.16  # of a row, that a bar has, and the line below it


@dataclass(frozen=True, eq=False)
class BarColumn:
    """One number a row, as bars with the numbers printed beside them.

    values: NaN where a row has none; texts: as they are told; title: of the column, color: of its bars; end: of the
    scale, by default the largest size; cells: recorded ones that a click means, one a row, "" for none; percent: the
    scale's ends are printed so; ghosts: the values before a change, a thin line below each bar.
    """

    title: str
    values: np.ndarray
    texts: Sequence[str]
    color: str
    end: float | None = None
    cells: Cells = ""
    percent: bool = False
    ghosts: np.ndarray | None = None

    @property
    def numbers(self) -> list[str]:
        """The texts beside the bars: where the scale's ends above them say percent, without that sign."""
        return [text.removesuffix("\N{NO-BREAK SPACE}%") for text in self.texts] if self.percent else list(self.texts)

    @property
    def ends(self) -> tuple[float, float]:
        """Of the scale: 0 or the lowest number, and the end or the largest size."""
        every = self.values if self.ghosts is None else np.concatenate([self.values, self.ghosts])
        known = every[~np.isnan(every)]
        return min(0.0, float(known.min(initial=0.0))), self.end or float(np.abs(known).max(initial=0.0)) or 1.0


def draw_bar_columns(
    rows: Sequence[str],
    columns: Sequence[BarColumn],
    colors: Palette,
    *,
    marked: Sequence[int] = (),
    last: bool = False,
) -> Chart:
    """Columns of bars that share their rows; negative bars go to the left of their zero.

    marked: rows that are lit; last: the last row is a sum, with a line above it.
    """
    rooms = [_measure_rooms(column) for column in columns]
    whole = sum(map(sum, rooms)) + _GAP * (len(columns) + 1)
    start, traces, layout, texts, tracks, ghosts = _GAP / whole, [], {}, [], [], []
    for i, (column, (numbers, drawn)) in enumerate(zip(columns, rooms, strict=True)):
        bars = start + numbers / whole, start + (numbers + drawn) / whole
        traces.append(_draw_column(column, i, colors))
        layout[f"xaxis{i + 1 if i else ''}"] = _set_column(column, colors, bars)
        texts.append(_name_column(column, start, colors))
        texts += _write_numbers(column, bars[0], colors, last)
        tracks += _draw_tracks(column, bars, colors)
        ghosts += _draw_ghosts(column, i, colors)
        start = bars[1] + _GAP / whole
    return make_chart(
        traces,
        len(rows) * ROW + _HEAD + 4,
        colors,
        top=_HEAD,
        bottom=4,
        right=4,
        bargap=1 - _HIGH,
        annotations=texts,
        shapes=[*mark_rows(len(rows), marked, last, colors), *tracks, *ghosts],
        yaxis={**set_rows(rows, colors), "anchor": "free", "position": 0},
        **layout,
    )


def _measure_rooms(column: BarColumn) -> tuple[float, float]:
    """Pixels that a column's numbers need, and those that its bars have where a card is narrow; in a wide one both have
    more, in the same proportion."""
    numbers = LETTER * max(map(len, column.numbers), default=0) + _BEFORE
    return numbers, max(_BARS, measure_text(f"<b>{column.title}</b>", 12) - numbers)


def _draw_tracks(column: BarColumn, across: tuple[float, float], colors: Palette) -> list[Spec]:
    """What lies behind the bars, as long as the scale, at every row that has a number. across: parts of the chart."""
    track = {
        "type": "rect",
        "layer": "below",
        "xref": "paper",
        "x0": across[0],
        "x1": across[1],
        "fillcolor": colors.zero,
        "line": {"width": 0},
    }
    return [
        {**track, "y0": row - _HIGH / 2, "y1": row + _HIGH / 2}
        for row, value in enumerate(column.values.tolist())
        if not np.isnan(value)
    ]


def _draw_ghosts(column: BarColumn, number: int, colors: Palette) -> list[Spec]:
    """What the bars were before a change, from zero."""
    line = {
        "type": "rect",
        "xref": f"x{number + 1}" if number else "x",
        "x0": 0,
        "fillcolor": colors.faint,
        "opacity": 0.6,
        "line": {"width": 0},
    }
    ghosts = [] if column.ghosts is None else column.ghosts.tolist()
    return [
        {**line, "x1": value, "y0": row + _HIGH / 2, "y1": row + _HIGH / 2 + _THIN}
        for row, value in enumerate(ghosts)
        if not np.isnan(value) and value
    ]


def set_rows(rows: Sequence[str], colors: Palette) -> Spec:
    """The axis of rows that are as high as each other."""
    return {**name_rows(rows, colors), "autorange": False, "range": [len(rows) - 0.5, -0.5], "tickangle": 0}


def _draw_column(column: BarColumn, number: int, colors: Palette) -> Spec:
    drawn = {
        "type": "bar",
        "x": pack(column.values),
        "y": list(range(len(column.values))),
        "orientation": "h",
        "marker": {"color": colors.ink(column.values, column.color)},
        "customdata": list(column.texts),
        "hovertemplate": Rich(f"%{{y}}<br>{escape(column.title)}: <b>%{{customdata}}</b><extra></extra>"),
    }
    if column.cells:
        drawn["meta"] = column.cells if isinstance(column.cells, str) else list(column.cells)
    return {**drawn, "xaxis": f"x{number + 1}"} if number else drawn


def _set_column(column: BarColumn, colors: Palette, domain: tuple[float, float]) -> Spec:
    """The scale of a column's bars, whose numbers stand before them."""
    return set_axis(
        colors,
        showticklabels=False,
        domain=list(domain),
        range=list(column.ends),
        anchor="y",
        zeroline=column.ends[0] < 0,
        zerolinecolor=colors.faint,
    )


def _name_column(column: BarColumn, start: float, colors: Palette) -> Spec:
    """The title in the bars' colour, and below it the ends of their scale."""
    write = format_percent if column.percent else format_short
    low, high = (write(end) if end else "0" for end in column.ends)
    low = low.removesuffix("\N{NO-BREAK SPACE}%") if high.endswith("%") else low
    named = Rich(f'<b>{escape(column.title)}</b><br><span style="color:{colors.faint}">{low} to {high}</span>')
    return write_text(
        named,
        start,
        1,
        {"size": 12, "color": column.color},
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        yshift=2,
        align="left",
    )


def _write_numbers(column: BarColumn, x: float, colors: Palette, last: bool) -> list[Spec]:
    """Numbers under each other, before the bars; those of a sum are bold."""
    end = len(column.numbers) - 1
    return [
        write_text(
            bold(text) if last and row == end else text,
            x,
            row,
            set_font(colors.text),
            xref="paper",
            xanchor="right",
            xshift=-_BEFORE,
        )
        for row, text in enumerate(column.numbers)
        if text
    ]


def mark_rows(rows: int, marked: Sequence[int], last: bool, colors: Palette) -> list[Spec]:
    """Bands behind some rows, and a line above the last one where that is a sum."""
    band = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "layer": "below", "line": {"width": 0}}
    shapes = [{**band, "y0": row - 0.5, "y1": row + 0.5, "fillcolor": colors.segments[0]} for row in marked]
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": colors.faint, "width": 1}}
    return [*shapes, *([{**line, "y0": rows - 1.5, "y1": rows - 1.5}] if last else [])]


@dataclass(frozen=True, eq=False)
class Squares:
    """(head, row) attention weights, 0 to 1 unless a change put others, and how much is taken; sums: a text a head that
    stands below.

    cells: one address with {x} for the head and the rows' places, one a point, head by head.
    """

    weights: np.ndarray
    taken: np.ndarray
    sums: Sequence[str]
    cells: Sequence[str]

    @property
    def sizes(self) -> np.ndarray:
        """(head, row) how large the weights are: a change can put some below 0."""
        return np.abs(self.weights)

    @property
    def points(self) -> Spec:
        """A point for each head and row, without its looks."""
        heads, count = self.weights.shape
        return {
            "x": np.repeat(np.arange(heads, dtype=np.int32), count),
            "y": np.tile(np.arange(count, dtype=np.int32), heads),
            "type": "scatter",
            "mode": "markers",
            "meta": list(self.cells),
        }


def draw_taken_squares(shown: Squares, rows: Sequence[str], chosen: int, colors: Palette) -> Chart:
    """All heads on the tokens' rows: the outline's area is the weight, the filled area what is taken of it.

    A square is full where the value is as long as the longest drawn. chosen: a head to frame.
    """
    heads, count = shown.weights.shape
    lengths = np.divide(shown.taken, shown.sizes, out=np.zeros_like(shown.taken), where=shown.sizes > 0)
    full = shown.taken / (float(lengths.max(initial=0.0)) or 1.0)
    font = {"size": 12, "color": colors.text}
    lower = 0.3 if heads > _APART else 0.0  # rows: where sums are near each other, every other one stands lower
    places = (count - 0.2, count + 0.1 + lower) if lower else (count,)
    end = count + 0.5 + lower
    sums = [write_text(text, head, places[head % len(places)], font) for head, text in enumerate(shown.sums)]
    return make_chart(
        [_outline(shown, rows, colors), _fill(shown, full, colors)],
        round((end + 0.5) * ROW) + _HEAD + _FOOT,
        colors,
        top=_HEAD,
        bottom=_FOOT,
        right=4,
        annotations=sums,
        shapes=[make_outline((chosen - 0.5, chosen + 0.5), (-0.5, end), colors)],
        xaxis=set_axis(colors, side="top", dtick=1, range=[-0.6, heads - 0.4], tickangle=0, automargin=False),
        yaxis={**set_rows([*rows, "length"], colors), "range": [end, -0.5]},
    )


def _outline(shown: Squares, rows: Sequence[str], colors: Palette) -> Spec:
    """Squares as large as the weights, and what is said where one is pointed at."""
    hover = "head %{x}<br>%{customdata[0]}<br>weight <b>%{customdata[1]:.4g}</b><br>taken <b>%{customdata[2]:.4g}</b>"
    said = [
        [rows[i % len(rows)], float(w), float(t)]
        for i, (w, t) in enumerate(zip(shown.weights.ravel(), shown.taken.ravel(), strict=True))
    ]
    line = {"color": colors.cells[ATTENTION], "width": 1.2}
    marker = {"symbol": "square", "size": _size(shown.sizes), "color": colors.surface, "line": line}
    return {**shown.points, "marker": marker, "customdata": said, "hovertemplate": Rich(f"{hover}<extra></extra>")}


def _fill(shown: Squares, full: np.ndarray, colors: Palette) -> Spec:
    """What is taken, inside the outlines. full: (head, row) parts of the largest square."""
    marker = {"symbol": "square", "size": _size(full), "color": colors.cells[VALUE], "line": {"width": 0}}
    return {**shown.points, "marker": marker, "hoverinfo": "skip"}


def _size(shares: np.ndarray) -> list[float]:
    """Sides in pixels of squares whose areas are these parts of the largest one; nothing is hidden altogether."""
    return np.maximum(_SQUARE * np.sqrt(shares), 1.5).ravel().round(1).tolist()
