"""A panel for what is worked out from recorded tensors: it has no address of its own, but names those it comes from."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.figures.base import Chart
from bertviz_core.formula.address import Address, Where
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.view import DIFFERENCE, View
from bertviz_core.ui.panels.panel import SIDES, open_card, show_downloads, show_worked_link, write_npy


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
    numbers; meaning: a line of plain words; source: where the formula is printed, if anywhere.
    """

    of: Where
    kind: str
    formula: str
    meaning: str
    worked: str = ""
    source: str = ""


def show_derived(view: View, name: str, see: str, chart: Chart, origin: Origin, *, values: Values, note: str = "",
                 table: str = "", start: Address | None = None,
                 beside: Callable[[], object] | None = None, sides: tuple[int, int] = SIDES) -> None:  # fmt: skip
    """Show derived numbers as `show_panel` shows recorded ones.

    name: a short one, for keys and file names; chart: the cells that it offers, if any, are the recorded ones that the
    drawn numbers are parts or functions of; start: the one that the panel offers by itself; beside: draws what else
    stands beside the chart.
    """
    with open_card(view, origin.kind, see, f"from {origin.of}") as tools:
        drawn, side = st.columns(sides, gap="medium")
        with drawn:
            show_chart(chart, name, see)
            if view.outcome.show == DIFFERENCE:
                note = f"Computed from the forward pass with your changes. {note}"
            if note:
                st.caption(note)
        with side:
            st.latex(origin.formula)
            if origin.worked:
                st.latex(style.break_lines(origin.worked))
            st.markdown(origin.meaning + (f"  \n:small[:gray[{origin.source}]]" if origin.source else ""))
            if start:
                show_worked_link(view, start)
            if beside:
                beside()
        if table:
            st.html(table)
        with tools:
            show_values(name, values)


def show_values(name: str, values: Values) -> None:
    """A menu that saves derived numbers. name: of the files."""
    show_downloads(name, partial(_write_csv, values), partial(write_npy, values.matrix))


def _write_csv(values: Values) -> bytes:
    """The matrix with the names of its rows and columns."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["", *values.columns])
    for name, row in zip(values.rows, values.matrix, strict=True):
        writer.writerow([name, *(repr(float(x)) for x in row)])
    return out.getvalue().encode("utf-8")
