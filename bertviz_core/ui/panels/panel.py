"""A panel: one tensor with its title, shape, chart, formula, meaning and values. The same everywhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analysis.made_from import find_doing
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.figures.base import Chart
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import KEY, TOKEN_AXES
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.meanings import tell_doing
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.files import check_size
from bertviz_core.ui.frame.menu import show_menu
from bertviz_core.ui.frame.spreadsheet import write_csv
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, leave_place_out, open_card
from bertviz_core.ui.panels.moved import draw_difference_chart, show_moved
from bertviz_core.ui.panels.passes import write_passes
from bertviz_core.ui.panels.versions import show_versions


def show_panel(
    view: View,
    address: Address,
    see: str,
    chart: Chart,
    *,
    says: str = "",
    at: Mapping[str, int] | None = None,
    note: str = "",
    table: str = "",
    switch: Callable[[], object] | None = None,
) -> None:
    """Show a tensor or slice.

    see: a title that says what to see; chart: of the tensor, with the cells that it offers; says: a sentence beside the
    title, by default what the step does; at: the cell to work out with numbers, by default the strongest one for the
    chosen token; note: one more line of how to read the chart; table: HTML to stand below; switch: draws a widget in
    the head.
    """
    kind, start = view.trace.step(address).kind, choose_cell(view, address, at or {})
    chart, note = draw_difference_chart(view, address, kind) or (chart, note)
    with open_step_card(view, address, see, says, worked=start, chooses=switch is not None) as tools:
        if switch:
            with tools:
                switch()
        show_chart(chart, str(address), f"{see}: {address}")
        if note:
            st.caption(note)
        show_moved(view, address, start)
        if table:
            st.html(table)


@contextmanager
def open_step_card(
    view: View,
    address: Address,
    see: str,
    says: str = "",
    *,
    worked: Address | None = None,
    name: str = "",
    chooses: bool = False,
) -> Generator[DeltaGenerator]:
    """A card of a recorded tensor or slice, with its formula, source, values and code, as its step has them.

    says: a sentence beside the title, by default what the step does; worked: the cell that the formula opens; name: of
    a card that stays the same one; chooses: a menu will stand among the signs of the head. Gives the place for more.
    """
    step = view.trace.step(address)
    said = tell_doing(find_doing(view.trace, address)) or says or step.meaning
    heading = Heading(see, said, view.typeset(step), step.source, worked)
    code = partial(_show_code, view, step, address, f"{name or address}-{see}")
    shape = format_shape(view.trace, address)
    with open_card(view, step.kind, heading, address, shape, name, code, chooses) as tools:
        with tools:
            show_values(view.trace, address)
        yield tools


def write_value(view: View, cell: Address) -> str:
    """A cell's number; of two passes that are compared both, `1.9107 → 2.0208`."""
    return write_passes(one.trace[cell].item() for one in view.passes)


def format_shape(trace: Trace, address: Where) -> str:
    """The named shape, as in `(head 12 × query 12 × key 12)`."""
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    return f"({' × '.join(f'{name} {size}' for name, size in sizes)})"


def choose_cell(view: View, where: Address, at: Mapping[str, int]) -> Address:
    """The cell to work out: fixed axes as in the address, tokens as chosen, the rest where the value is strongest."""
    chosen = dict.fromkeys(TOKEN_AXES.intersection(view.trace.dims(where)) - {KEY.name}, view.chosen.token)
    part = where.fix(**{**chosen, **at})
    row, free = view.trace[part], view.trace.dims(part)
    place = np.unravel_index(find_strongest(row.ravel()), row.shape) if free else ()
    strongest = {axis: int(i) for axis, i in zip(free, place, strict=True)}
    return part.fix(**strongest).sort(view.trace.dims(where.whole))


def show_values(trace: Trace, address: Address) -> None:
    """A menu of a tensor's or slice's values."""
    name = "-".join([address.path, *(f"{axis}{i}" for axis, i in address.index)])
    show_downloads(name, lambda: write_csv(_list_rows(trace, address)), lambda: write_npy(trace[address]))


def show_downloads(name: str, as_csv: Callable[[], bytes], as_npy: Callable[[], bytes]) -> None:
    """A menu of the values, which are written out only when they are asked for. name: of the files."""
    show_menu(
        "Values",
        leave_place_out(f"values-{name}"),
        partial(_show_files, name, as_csv, as_npy),
        icon=":material/table:",
        help="Save the values",
    )


def _show_files(name: str, as_csv: Callable[[], bytes], as_npy: Callable[[], bytes]) -> None:
    for kind, make, mime in (("csv", as_csv, "text/csv"), ("npy", as_npy, "application/octet-stream")):
        st.download_button(
            f"Values (.{kind})",
            data=make,
            file_name=f"{name}.{kind}",
            mime=mime,
            key=f"{kind}-{name}",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
        )


def _show_code(view: View, step: Step, address: Address, card: str) -> None:
    """The step as code, and how documents write it."""
    st.code(step.code, language="python", wrap_lines=True)
    show_versions(view, address, card)


def _list_rows(trace: Trace, address: Address) -> Iterator[list[str | float]]:
    """The values with one line a row: the leading axes' indices (and tokens), then the last axis across."""
    values, dims = trace[address], trace.dims(address)
    table = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    lead = dims[:-1]
    last = dims[-1] if dims else "value"
    text = ["text"] if TOKEN_AXES & set(lead) else []
    yield [*lead, *text, *(f"{last} {i}" for i in range(table.shape[1]))]
    for place, row in zip(np.ndindex(values.shape[:-1]), table, strict=True):
        token: list[str] = [
            trace.tokens[i] for axis, i in zip(lead, place, strict=True) if axis in TOKEN_AXES
        ]  # one at most
        yield [*place, *token, *map(float, row)]


def write_npy(values: np.ndarray) -> bytes:
    """An array as a file of NumPy's. Raises InputError where that gets too large."""
    check_size(values.nbytes)
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()
