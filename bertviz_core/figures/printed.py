"""A chart laid out for print: as wide as a column, cells as rectangles, numbers in their cells where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from math import isfinite, sqrt
from numbers import Real
from typing import Any

import numpy as np

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.figures.base import Chart, Spec
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.pdf import measure_printed
from bertviz_core.figures.sheet import MONO, POINT, Map, Rect, Sheet, Text, find_color, name_color
from bertviz_core.figures.tints import measure_contrast, mix
from bertviz_core.formula.numbers import format_short, write_fixed

ONE_COLUMN, TWO_COLUMNS = 85.0, 174.0  # millimetres, as journals have them
FONT = 7.0  # points of letters
MOST = 64  # rows and columns of a matrix whose cells are rectangles
_LEAST_FONT = 4.5  # points of a number in its cell
_TITLES = 1_024  # cells at most that say their number at the pointer
_UNWRITTEN = 0.005  # a share that two decimals would print as nothing
_TALLEST = 560.0  # points
_EDGE, _GAP = 4.0, 3.0
_BOLD = 1.07  # times as wide as plain letters, at most
_NEARLY = 0.8  # of the room: a line that takes more might not fit in other letters


@dataclass(frozen=True)
class Print:
    """How a picture is printed. width_mm: its whole width; font_pt: of its texts; caption: lines below it, each broken
    where it is too long; head: lines above it."""

    width_mm: float = ONE_COLUMN
    font_pt: float = FONT
    caption: Sequence[str] = ()
    head: Sequence[str] = ()


def lay_out(chart: Chart, colors: Palette, how: Print) -> Sheet:
    """The chart as a picture for print.

    Raises InputError for one that is neither one matrix nor one row of bars, ArgumentError for what is no size.
    """
    kinds = [trace["type"] for trace in chart.traces]
    for size in (how.width_mm, how.font_pt):
        if not isinstance(size, Real):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
            raise ArgumentError.of("Widths and letters have numbers", size, "Write for example width_mm=85, font_pt=7.")
    if not 20 <= how.width_mm <= 1_000 or not 3 <= how.font_pt <= 40:
        raise InputError("A picture is 20 to 1,000 mm wide, with letters of 3 to 40 points. Choose others.")
    if kinds not in (["heatmap"], ["bar"]):
        raise InputError("This chart is neither one matrix nor one row of bars. Save it from the app's page.")
    items: list[Rect | Text | Map] = []
    top = _EDGE
    top = _put_lines(items, how.head, top, how, "text")
    draw = _draw_matrix if kinds == ["heatmap"] else _draw_bars
    body, top = draw(chart, colors, how, top)
    items += body
    top = _put_lines(items, how.caption, top + 2 * _GAP, how, "faint")
    return Sheet(how.width_mm * POINT, top + _EDGE, (Rect(0, 0, how.width_mm * POINT, top + _EDGE, "surface"), *items))


def _put_lines(items: list[Any], lines: Sequence[str], top: float, how: Print, color: str) -> float:
    """Write lines from `top` down; gives where they end."""
    room = how.width_mm * POINT - 2 * _EDGE
    for number, line in enumerate(lines):
        bold = color == "text" and not number
        wider = _BOLD if bold else 1.0
        for piece in break_line(line, room / wider, how.font_pt):
            long = measure_printed(piece, how.font_pt) * wider
            held = long if long > _NEARLY * room else 0.0
            items.append(Text(_EDGE, top + how.font_pt, piece, how.font_pt, color, bold=bold, long=held))
            top += how.font_pt * 1.3
    return top


def break_line(line: str, room: float, size: float) -> list[str]:
    """A line in pieces no wider than there is room: between words where it can be, else between letters."""
    pieces = [""]
    for word in line.split(" "):
        longer = f"{pieces[-1]} {word}" if pieces[-1] else word
        if measure_printed(longer, size) <= room:
            pieces[-1] = longer
            continue
        if pieces[-1]:
            pieces.append("")
        for letter in word:
            if measure_printed(pieces[-1] + letter, size) > room:
                pieces.append("")
            pieces[-1] += letter
    return pieces


@dataclass(frozen=True)
class _Grid:
    """Where the cells of a matrix stand: its corner, the size of a cell."""

    x: float
    y: float
    width: float
    height: float

    def place(self, row: float, column: float) -> tuple[float, float]:
        return self.x + column * self.width, self.y + row * self.height


def _draw_matrix(chart: Chart, colors: Palette, how: Print, top: float) -> tuple[list[Rect | Text | Map], float]:
    trace, layout = chart.traces[0], chart.layout
    z = np.asarray(trace["z"], dtype=float)
    rows, columns = z.shape
    named, across = _read_ticks(layout["yaxis"], trace, "y", rows), _read_ticks(layout["xaxis"], trace, "x", columns)
    left = _EDGE + max((measure_printed(text, how.font_pt) for _, text in named), default=0) + _GAP
    width = (how.width_mm * POINT - left - _EDGE) / columns
    height = min(max(width if columns <= MOST else 0, how.font_pt * 1.25), _TALLEST / rows, 24.0)
    top += how.font_pt * 2.2
    grid = _Grid(left, top, width, height)
    items: list[Rect | Text | Map] = [*_draw_scale(trace, colors, how, top)]
    if row_name := next((each["text"] for each in layout.get("annotations", ()) if each.get("yref") == "paper"), ""):
        end = max(left - _GAP, _EDGE + measure_printed(unescape(row_name), how.font_pt))  # a long one over the cells
        items.append(Text(end, top - _GAP, unescape(row_name), how.font_pt, "faint", "end"))
    items += _draw_cells(z, trace, colors, grid, (named, across))
    items += _mark(layout, trace, grid)
    items += _name_rows(named, grid, how.font_pt)
    below, bottom = _name_columns(across, grid, top + rows * height, how, layout["xaxis"]["title"]["text"])
    return [*items, *below], bottom


def _read_ticks(axis: Spec, trace: Spec, which: str, count: int) -> list[tuple[int, str]]:
    """The entries of an axis that are named: at which row or column, and how."""
    start, step = trace[f"{which}0"], trace[f"d{which}"]
    if "ticktext" in axis:
        places = zip(axis["tickvals"], axis["ticktext"], strict=True)
        return [(round((at - start) / step), unescape(text)) for at, text in places if axis.get("showticklabels", True)]
    every = next(each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 50_000) if count / each <= 12)
    first = -start % (every * step)
    return [(i, f"{start + i * step:g}") for i in range(int(first // step), count, every)]


def _draw_cells(
    z: np.ndarray, trace: Spec, colors: Palette, grid: _Grid, names: tuple[Sequence[tuple[int, str]], ...]
) -> Iterator[Rect | Text | Map]:
    """The cells, with their numbers where all have room."""
    rows, columns = z.shape
    fill = name_color(trace["colorscale"][-1][1], colors)
    parts = z / max(abs(trace["zmin"]), abs(trace["zmax"]))
    yield Rect(grid.x, grid.y, columns * grid.width, rows * grid.height, "zero")
    if max(rows, columns) > MOST:
        yield Map(grid.x, grid.y, columns * grid.width, rows * grid.height, parts, fill)
        return
    share = trace["zmin"] == 0
    texts = [[_write_number(value, share) for value in row] for row in z.tolist()]
    longest = max(len(text) for row in texts for text in row) or 1  # of cells that are all nearly 0 none is written
    size = min(grid.height * 0.62, grid.width * 0.8 / (0.6 * longest), 9.0)
    gap = 0.4 if columns <= MOST // 2 else 0.0
    said = z.size <= _TITLES
    for row, column in np.ndindex(z.shape):
        part = parts[row, column]
        if not isfinite(part):
            continue
        x, y = grid.place(row, column)
        ink, strength = (fill if part > 0 else "negative"), min(1.0, abs(float(part)))
        says = _say_cell(names, row, column, float(z[row, column])) if said else ""
        yield Rect(x + gap / 2, y + gap / 2, grid.width - gap, grid.height - gap, ink, strength, says=says)
        if size >= _LEAST_FONT:
            color = _choose_ink(ink, strength, colors)
            yield Text(
                x + grid.width / 2, y + grid.height / 2 + size * 0.34, texts[row][column], size, color, "middle", MONO
            )


def _say_cell(names: tuple[Sequence[tuple[int, str]], ...], row: int, column: int, value: float) -> str:
    down, across = (dict(each).get(i, str(i)) for each, i in zip(names, (row, column), strict=True))
    return f"{down} · {across}: {format_short(value)}"


def _write_number(value: float, share: bool) -> str:
    """A number as it stands in a cell: two decimals of a share, without the 0 before them."""
    if not isfinite(value):
        return ""
    if share and abs(value) < _UNWRITTEN:
        return ""
    if share:
        return write_fixed(value, 2).removeprefix("0") if value < 1 else write_fixed(value, 1)
    return write_fixed(value, 1) if abs(value) < 100 else format_short(value)


def _choose_ink(fill: str, part: float, colors: Palette) -> str:
    """Of the text's colour and the page's, that which is easier to read on a cell."""
    back = mix(colors.zero, find_color(fill, colors), part)
    return max(("text", "surface"), key=lambda name: measure_contrast(find_color(name, colors), back))


def _mark(layout: Spec, trace: Spec, grid: _Grid) -> Iterator[Rect]:
    """The frames around what is marked."""
    for shape in layout.get("shapes", ()):
        (left, right), (upper, lower) = (
            sorted((shape[f"{which}{end}"] - trace[f"{which}0"]) / trace[f"d{which}"] + 0.5 for end in (0, 1))
            for which in "xy"
        )
        x, y = grid.place(upper, left)
        size = ((right - left) * grid.width, (lower - upper) * grid.height)
        yield Rect(x, y, *size, edge="text", line=0.75)


def _name_rows(named: Sequence[tuple[int, str]], grid: _Grid, size: float) -> Iterator[Text]:
    fitting = min(size, grid.height * 1.05) if len(named) > 1 else size
    for row, text in named:
        yield Text(grid.x - _GAP, grid.y + (row + 0.5) * grid.height + fitting * 0.35, text, fitting, anchor="end")


def _name_columns(
    named: Sequence[tuple[int, str]], grid: _Grid, top: float, how: Print, title: str
) -> tuple[list[Text], float]:
    """The columns' names, upright where they have room, else turned; gives where they end."""
    size = how.font_pt
    widths = [measure_printed(text, size) for _, text in named]
    step = min((b[0] - a[0] for a, b in pairwise(named)), default=1) * grid.width
    flat = max(widths, default=0) + _GAP <= step
    fitting = size if flat else min(size, step * 1.1)
    anchor, angle = ("middle", 0) if flat else ("end", -45)
    down = size * 1.2 if flat else fitting * 0.9
    texts = [
        Text(grid.x + (at + 0.5) * grid.width, top + down, text, fitting, anchor=anchor, angle=angle)
        for at, text in named
    ]
    deep = size * 1.5 if flat else (max(widths, default=0) * fitting / size / sqrt(2)) + fitting + _GAP
    if not title:
        return texts, top + deep
    return [
        *texts,
        Text(how.width_mm * POINT - _EDGE, top + deep + size, unescape(title), size, "faint", "end"),
    ], top + deep + size * 1.3


def _draw_scale(trace: Spec, colors: Palette, how: Print, bottom: float) -> Iterator[Rect | Text]:
    """The colour bar above a matrix, at the right, with its ends printed."""
    if "colorbar" not in trace:
        return
    size, steps, length = how.font_pt, 24, 64.0
    low, high = trace["zmin"], trace["zmax"]
    fill = name_color(trace["colorscale"][-1][1], colors)
    texts = dict(zip(trace["colorbar"]["tickvals"], trace["colorbar"]["ticktext"], strict=True))
    ends = [unescape(str(texts.get(end, format_short(float(end))))) for end in (low, high)]
    right = how.width_mm * POINT - _EDGE - measure_printed(ends[1], size, MONO) - 2
    y = bottom - size * 1.45
    for i in range(steps):
        value = low + (i + 0.5) * (high - low) / steps
        part = value / max(abs(low), abs(high))
        x = right - length + i * length / steps
        yield Rect(x, y, length / steps + 0.05, size * 0.6, fill if part > 0 else "negative", abs(part))
    yield Text(right - length - 2, y + size * 0.6, ends[0], size, anchor="end", face=MONO)
    yield Text(right + 2, y + size * 0.6, ends[1], size, face=MONO)


def _draw_bars(chart: Chart, colors: Palette, how: Print, top: float) -> tuple[list[Rect | Text | Map], float]:
    """Horizontal bars with their words and numbers."""
    trace, axis = chart.traces[0], chart.layout["xaxis"]
    values, size = np.asarray(trace["x"], dtype=float), how.font_pt
    words = [unescape(str(each)) for each in chart.layout["yaxis"]["ticktext"]]
    left = _EDGE + max(measure_printed(word, size) for word in words) + _GAP
    beside = max(measure_printed(text, size, MONO) for text in trace["text"]) + _GAP
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if low == 0 and (ends := axis.get("range")):
        high = max(high, float(ends[1]))
    before = beside if low < 0 else 0.0
    room = how.width_mm * POINT - left - before - beside - _EDGE
    scale = room / ((high - low) or 1.0)
    zero, step = left + before - low * scale, size * 1.7
    items: list[Rect | Text | Map] = []
    for i, (value, word, text, color) in enumerate(
        zip(values.tolist(), words, trace["text"], trace["marker"]["color"], strict=True)
    ):
        y, long = top + i * step, abs(value) * scale
        start = zero if value >= 0 else zero - long
        items += [
            Rect(left + before, y + step * 0.15, room, step * 0.7, "zero"),
            Rect(start, y + step * 0.15, long, step * 0.7, name_color(color, colors)),
            Text(left - _GAP, y + step / 2 + size * 0.35, word, size, anchor="end"),
        ]
        at, anchor = (start + long + 2, "start") if value >= 0 else (start - 2, "end")
        items.append(Text(at, y + step / 2 + size * 0.35, text, size, anchor=anchor, face=MONO))
    end = top + len(words) * step
    title = unescape(str(axis["title"]["text"]))
    items += [Text(how.width_mm * POINT - _EDGE, end + size * 1.1, title, size, "faint", "end")] if title else []
    return items, end + size * 1.4
