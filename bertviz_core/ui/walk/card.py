"""What a template makes of a number: a sentence, a picture, and the table of what it was made from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import dropwhile, zip_longest
from typing import get_args

import numpy as np

from bertviz_core.analysis.claims import Part, Said
from bertviz_core.analysis.labels import name_token_short
from bertviz_core.analysis.naming import BOUNDS, find_noun
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.numbers import Form, write_column, write_one, write_recorded
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.walk.line import Line

ROWS = 12  # of a table, beside those that close its sum
_LOW = 4  # of them in a low window, until the others are asked for
_SPARE = 1  # so few are shown there as well
_SHORT = 40  # letters of a heading beside which there is room
WORD, SIGN = "bv-word", "bv-sign"
_POWER = re.compile(r"e\^\((.*)\)")
_BAR = 34  # pixels of the longest bar


@dataclass(frozen=True)
class Cell:
    """What stands in one cell of a table. step: the number that it opens, if any; look: the class of what is no
    number, WORD or SIGN; value: the number itself, which is written as those above and below it are, in this form."""

    text: str
    step: Address | None = None
    look: str = ""
    value: float | None = None
    form: Form = "number"


@dataclass(frozen=True)
class Row:
    """A row: what differs from the others, numbers, and last the part that it contributes.

    amount: of the bar beside the last cell, None without; own: the number itself; quiet: it stands for others, or for
    what all share; lead: it stands above the rows.
    """

    cells: tuple[Cell, ...]
    amount: float | None = None
    own: bool = False
    quiet: bool = False
    lead: bool = False


@dataclass(frozen=True)
class Title:
    """The head of a column that holds numbers of one vector. kind: of the vector, whose colour it has."""

    text: str
    kind: str


@dataclass(frozen=True)
class Table:
    """What a number was made from.

    heading: what all rows share; columns: the titles of the cells; ends: the rows that close the sum.
    """

    heading: str
    columns: tuple[str | Title, ...]
    rows: Sequence[Row]
    ends: Sequence[Row] = ()


@dataclass(frozen=True)
class Card:
    """A number explained. sentence: about this sentence; note: one line below the formula; picture, more: HTML; line:
    the formula, where it is not the step's own."""

    sentence: Said
    table: Table | None = None
    picture: str = ""
    note: str = ""
    more: str = ""
    line: Line | None = None


def count(amount: int, one: str = "") -> Part:
    """A count in a sentence. one: what is counted."""
    return Part(amount, (lambda n: write_count(n, one)) if one else (lambda n: f"{n:,}"))


def number(trace: Trace, where: Address) -> Cell:
    """An operand's own number, which one can walk on to. An id, or another whole one, names something: no commas."""
    value = trace[where].item()
    return Cell(write_recorded(value), where) if isinstance(value, int) else write_cell(value, where)


def write_cell(value: float, step: Address | None = None, form: Form = "number") -> Cell:
    """A number in a column of such ones. step: the number that it opens, if any."""
    return Cell(write_one(value, form), step, value=value, form=form)


def write_share(value: float, step: Address | None = None) -> Cell:
    """A part of a whole, as a percentage."""
    return write_cell(value, step, "percent")


def write_short(value: float) -> Cell:
    """A number where there is little room."""
    return write_cell(value, form="short")


def lead(trace: Trace, where: Address, columns: int, how: str = "") -> Row:
    """A row above the others, for an operand that these are made into; it stands in no sum. how: it is made of them."""
    name = f"{find_noun(where.path).title} {how}".rstrip()
    return Row((Cell(name, where), *blank(columns - 2), number(trace, where)), lead=True)


def blank(columns: int) -> Iterator[Cell]:
    """So many cells in which nothing stands."""
    return (Cell("") for _ in range(columns))


def name_place(trace: Trace, axis: str, i: int) -> str:
    """What an index is called where its axis is known: a token, a word, a number. With its position where it stands
    there more than once."""
    if axis in TOKEN_AXES:
        return name_token_short(trace, i)
    if axis == "vocab":
        return trace.model.tokenizer.name(i)
    if axis == "concat":
        head, component = divmod(i, trace.model.config.head_dim)
        return f"head {head} · {component}"
    answers = {"bound": BOUNDS, "relation": ("follows", "random"), "label": trace.model.labels}
    return answers[axis][i] if axis in answers else str(i)


def render_table(table: Table) -> str:
    """The table as HTML: the first button of a row walks to its operand, and so does the row.

    For the keyboard the table is one stop, its first row.
    """
    table = _line_up(table)
    longest = max((abs(row.amount) for row in table.rows if row.amount is not None), default=0.0)
    looks = [cell.look for cell in table.rows[0].cells] if table.rows else []
    head = "".join(_render_title(title, look) for title, look in zip_longest(table.columns, looks, fillvalue=""))
    first = count_first(len(table.rows))
    stop = next((i for i, row in enumerate(table.rows) if _find_step(row)), 0)
    rows = [_render_row(row, longest, i >= first, i == stop) for i, row in enumerate(table.rows)]
    more = render_more(len(table.rows) - first, len(table.columns))
    ends = "".join(_render_row(row, longest) for row in table.ends)
    opens = len(table.heading) <= _SHORT and any(_find_step(row) for row in table.rows)
    asked = "<span>choose a row</span>" if opens else ""
    return (
        f'<h3 class="bv-made">{escape(table.heading)}{asked}</h3>'
        f'<table class="bv-operands"><thead><tr>{head}</tr></thead>'
        f"<tbody data-roving>{''.join(rows)}{more}{ends}</tbody></table>"
    )


def _line_up(table: Table) -> Table:
    """The same with one precision in every column of numbers, so that their decimal points stand below each other."""
    rows = [[*row.cells] for row in (*table.rows, *table.ends)]
    for place in range(len(table.columns)):
        for form in get_args(Form):
            values = {i: row[place].value for i, row in enumerate(rows) if place < len(row) and row[place].form == form}
            known = {i: value for i, value in values.items() if value is not None}
            for i, text in zip(known, write_column([*known.values()], form), strict=True):
                rows[i][place] = replace(rows[i][place], text=text)
    lined = [replace(row, cells=tuple(cells)) for row, cells in zip((*table.rows, *table.ends), rows, strict=True)]
    return replace(table, rows=lined[: len(table.rows)], ends=lined[len(table.rows) :])


def _render_title(title: str | Title, look: str) -> str:
    """The head of a column, over words as they stand, over the numbers of a vector in the colour of its kind."""
    text, kind = (title.text, f"bv-of-{title.kind}") if isinstance(title, Title) else (title, "")
    looks = " ".join(filter(None, (look if look == WORD else "", kind)))
    said = f' class="{looks}"' if looks else ""
    written = _POWER.sub(r"e<sup>\1</sup>", escape(text))
    return f'<th scope="col"{said}>{written}</th>' if written else "<td></td>"


def _find_step(row: Row) -> Address | None:
    return next((cell.step for cell in row.cells if cell.step), None)


def _render_row(row: Row, longest: float, late: bool = False, stop: bool = False) -> str:
    step = _find_step(row)
    looks = [name for name, on in (("bv-hot", row.own or row.lead), ("bv-quiet", row.quiet), ("bv-late", late)) if on]
    said = f' data-step="{escape(str(step))}"' if step else ""
    first, *between, last = row.cells
    filled = [*dropwhile(_is_blank, between)]  # where nothing stands beside a name, it has that room too
    cells = [_render_cell(first, step, stop, 1 + len(between) - len(filled))]
    cells += [_render_cell(cell, None, stop) for cell in filled]
    cells.append(f"<td{_write_look(last)}>{_render_bar(row.amount, longest)}{_render_content(last, None)}</td>")
    return f'<tr class="{" ".join(looks)}"{said}>{"".join(cells)}</tr>'


def _is_blank(cell: Cell) -> bool:
    return not cell.text and cell.step is None


def _render_cell(cell: Cell, step: Address | None, stop: bool, columns: int = 1) -> str:
    wide = f' colspan="{columns}"' if columns > 1 else ""
    return f"<td{wide}{_write_look(cell)}>{_render_content(cell, step, stop)}</td>"


def _write_look(cell: Cell) -> str:
    return f' class="{cell.look}"' if cell.look else ""


def _render_content(cell: Cell, step: Address | None, stop: bool = False) -> str:
    """A cell's text; the first one of a row is the button that walks to the row's operand. stop: of the Tab key."""
    target = step or cell.step
    if not target:
        return escape(cell.text)
    reached = "" if step and stop else ' tabindex="-1"'
    return f'<button data-step="{escape(str(target))}"{reached}>{escape(cell.text)}</button>'


def _render_bar(amount: float | None, longest: float) -> str:
    if amount is None or not longest or not math.isfinite(amount / longest):
        return ""
    look = "bv-minus" if amount < 0 else ""
    return f'<i class="{look}" style="width:{max(1, round(abs(amount) / longest * _BAR))}px"></i>'


def count_first(rows: int) -> int:
    """How many rows of so many stand in a low window until the others are asked for."""
    return _LOW if rows > _LOW + _SPARE else rows


def render_more(count: int, columns: int) -> str:
    """The row by which these others are asked for; nothing for none."""
    if not count:
        return ""
    button = f'<button data-more="rows" tabindex="-1">{count} more rows</button>'
    return f'<tr class="bv-more"><td colspan="{columns}">{button}</td></tr>'


def close_sum(parts: np.ndarray, listed: Sequence[int], columns: int) -> list[Row]:
    """The row that stands for all parts that are not listed; none where there are no others."""
    others = np.delete(parts, list(listed))
    row = Row(
        (Cell(write_count(len(others), "other")), *blank(columns - 2), write_cell(float(others.sum()))), quiet=True
    )
    return [row] if len(others) else []


def list_products(
    start: Address, write: Callable[[int], Cell], slopes: np.ndarray, terms: np.ndarray, columns: tuple[str, str]
) -> Table:
    """A vector's components, each times its slope. write: a component's first factor; columns: of both factors."""
    order = rank_top(np.abs(terms), ROWS - 2)
    rows = [
        Row(
            (
                Cell(str(i), start.fix(hidden=i)),
                write(i),
                write_cell(float(slopes[i])),
                write_cell(float(terms[i])),
            ),
            float(terms[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(terms), 'product')}, largest first"
    return Table(heading, ("component", *columns, "product"), rows, close_sum(terms, order, 4))
