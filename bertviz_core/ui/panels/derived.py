"""A panel for what is worked out from recorded tensors: it has no address of its own, but names those it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial, wraps
from typing import Concatenate, ParamSpec

import numpy as np
import streamlit as st

from bertviz_core.figures.base import Chart
from bertviz_core.figures.differences import is_same
from bertviz_core.formula.address import Address, Where
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.spreadsheet import write_csv
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.panel import show_downloads, write_npy
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words


@dataclass(frozen=True)
class Values:
    """A matrix to download, with the names of its rows and columns."""

    matrix: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]


@dataclass(frozen=True)
class Origin:
    """Where derived numbers come from.

    of: the addresses they are made from; kind: whose colour they have; formula, worked: LaTeX in letters and with
    numbers; meaning: what it says, in words; source: where the formula is printed, if anywhere; drawn: the addresses of
    what is drawn, where it has some.
    """

    of: Where
    kind: str
    formula: str
    meaning: str
    worked: str = ""
    source: str = ""
    drawn: str = ""


@dataclass(frozen=True, eq=False)
class Second:
    """Another chart of the same numbers, beside the first, on a phone below it. see: what it shows."""

    chart: Chart
    see: str


@dataclass(frozen=True, eq=False)
class Derived:
    """What a panel of derived numbers shows of one pass.

    name: a short one, for keys and file names; see: a title that says what to see; chart: the cells that it offers, if
    any, are the recorded ones that the drawn numbers are parts or functions of; note: how to read it; table: HTML to
    stand below; start: the cell that the formula opens; beside: what stands beside the chart, or draws that; sides: the
    widths of the chart and of that.
    """

    name: str
    see: str
    chart: Chart
    origin: Origin
    _: KW_ONLY
    values: Values
    note: str = ""
    table: str = ""
    start: Address | None = None
    beside: Second | Callable[[], object] | None = None
    sides: tuple[int, int] = (3, 2)


_SHORT = 130  # letters of a sentence beside a title
P = ParamSpec("P")


def derived(work_out: Callable[Concatenate[View, P], Derived]) -> Callable[Concatenate[View, P], None]:
    """Makes of a function that works derived numbers out of a view's pass one that shows them as a panel.

    It is called once for every pass that is to be seen: with changes, the panel so shows the numbers before, after, or
    their difference. Therefore it draws nothing itself, and reads every number from the view that it is given.
    """

    @wraps(work_out)
    def show(view: View, *args: P.args, **kwargs: P.kwargs) -> None:
        _show(view, [work_out(one, *args, **kwargs) for one in view.passes])

    return show


def _show(view: View, found: Sequence[Derived]) -> None:
    """One panel for what was worked out of each of the view's passes; its words are those of the last one."""
    last = found[-1]
    origin = last.origin
    says, more = _split(origin.meaning)
    numbers = style.break_lines(origin.worked) if origin.worked else ""
    heading = Heading(last.see, says, origin.formula, origin.source, last.start, numbers, origin.drawn)
    with open_card(view, origin.kind, heading, f"from {origin.of}") as tools:
        with tools:
            show_values(last.name, last.values)
        drawn, side = st.columns(last.sides, gap="medium") if last.beside else (st.container(), None)
        with drawn:
            show_passes_chart(view, [each.chart for each in found], last.name, last.see)
        if side:
            with side:
                _show_beside(view, found)
        words = "" if _is_unmoved(found) else tell_words(view).strip()
        if note := " ".join(filter(None, (words, more, last.note))):
            with nullcontext() if isinstance(last.beside, Second) else drawn:
                st.caption(note)
        if last.table:
            show_passes_html(view, [each.table for each in found])


def _show_beside(view: View, found: Sequence[Derived]) -> None:
    last = found[-1]
    if isinstance(last.beside, Second):
        charts = [each.beside.chart for each in found if isinstance(each.beside, Second)]
        show_passes_chart(view, charts, f"{last.name}-beside", last.beside.see)
    elif last.beside:
        last.beside()


def _is_unmoved(found: Sequence[Derived]) -> bool:
    """Whether the passes have the same charts, formula and words: there is nothing to say of which pass these are."""
    first, *others = found
    told = (first.note, first.origin)
    return all((each.note, each.origin) == told and _draws_the_same(first, each) for each in others)


def _draws_the_same(one: Derived, other: Derived) -> bool:
    if isinstance(one.beside, Second) and isinstance(other.beside, Second):
        return is_same(one.chart, other.chart) and is_same(one.beside.chart, other.beside.chart)
    return is_same(one.chart, other.chart)


def _split(meaning: str) -> tuple[str, str]:
    """What stands beside the title, and what below the chart: a sentence that is short and plain, or anything else."""
    plain = len(meaning) <= _SHORT and not set("$*`\\") & set(meaning)
    return (meaning, "") if plain else ("", meaning)


def show_values(name: str, values: Values) -> None:
    """A menu that saves derived numbers. name: of the files."""
    show_downloads(name, lambda: write_csv(_list_rows(values)), partial(write_npy, values.matrix))


def _list_rows(values: Values) -> Iterator[list[str | float]]:
    """The matrix with the names of its rows and columns."""
    yield ["", *values.columns]
    for name, row in zip(values.rows, values.matrix, strict=True):
        yield [name, *map(float, row)]
