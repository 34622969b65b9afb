"""A panel: one tensor with its title, shape, chart, formula, meaning and values. The same everywhere."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.figures.base import Figure
from bertviz_core.formula.address import format_cell, parse
from bertviz_core.formula.dims import KEY, TOKEN_AXES
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.moved import draw_difference_chart, show_moved
from bertviz_core.ui.panels.versions import show_versions
from bertviz_core.ui.walk.explain import show_explanation


def show_panel(
    view: View,
    address: str,
    see: str,
    figure: Figure,
    *,
    at: Mapping[str, int] | None = None,
    note: str = "",
    table: str = "",
    cells: Sequence[str] | str = "",
) -> None:
    """Show a tensor or slice.

    see: a title that says what to see; figure: its chart; at: the cell to work out with numbers, by default the
    strongest one for the chosen token; note: one more line of how to read the chart; table: HTML to stand below;
    cells: what is picked by a click, one address a row or point of the last trace, {x} standing for the column. A
    matrix says that by itself.
    """
    step = view.trace.step(address)
    start = _choose_cell(view, address, at or {})
    cells = cells or picks.pick_matrix(view.trace, address)
    figure, note, cells = draw_difference_chart(view, address, step.kind) or (figure, note, cells)
    figure.data[-1].meta = cells
    with open_card(view, step.kind, see, f"{address}  {format_shape(view.trace, address)}"):
        chart, side = st.columns([3, 2], gap="medium")
        with chart:
            show_chart(figure, address, f"{see}: {address}")
            if note:
                st.caption(note)
        with side:
            _show_formula(view, step, start)
            st.markdown(f"{step.meaning}  \n:small[:gray[{step.source}]]")
            show_moved(view, address, start)
            _show_values(view.trace, address)
        show_explanation(view, address, start)
        show_versions(view, address)
        if table:
            st.html(table)


@contextmanager
def open_card(view: View, kind: str, see: str, what: str) -> Iterator[None]:
    """A box with a panel's heading: what to see, over the addresses of what is shown, in the colour of its kind."""
    color = view.colors.kinds.get(kind, view.colors.faint)
    with st.container(border=True, key=f"panel-{what.partition(' ')[0]}-{see}"):
        st.html(
            f'<div class="bv-panel-title" style="border-color:{color}"><b>{escape(see)}</b><br>'
            f'<span class="bv-shape" style="color:{view.colors.faint}">{escape(what)}</span></div>'
        )
        yield


def show_chart(figure: Figure, key: str, alt: str) -> None:
    """A chart as it stands in every panel. alt: what it shows, for those who cannot see it."""
    st.plotly_chart(figure, theme=None, key=f"chart-{key}", config={"displayModeBar": False}, alt=alt)


def format_shape(trace: Trace, address: str) -> str:
    """The named shape, as in `(head 12 × query 12 × key 12)`."""
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    return f"({' × '.join(f'{name} {size}' for name, size in sizes)})"


def _show_formula(view: View, step: Step, start: str) -> None:
    letters, numbers, code = st.tabs(["Formula", "With numbers", "PyTorch"])
    with letters:
        st.latex(view.typeset(step))
    with numbers:
        why = view.trace.explain(start)
        st.latex(style.break_lines(why.latex))
        st.caption(
            f"Recorded: {format_number(why.value)}. Recomputed in double precision from its {len(why.operands):,} "
            f"operands: {format_number(why.recomputed)}. Difference: {format_number(abs(why.value - why.recomputed))}."
        )
    with code:
        st.code(step.code, language="python", wrap_lines=True)


def _choose_cell(view: View, address: str, at: Mapping[str, int]) -> str:
    """The cell to work out: fixed axes as in the address, tokens as chosen, the rest where the value is strongest."""
    where = parse(address)
    fixed = {**where.at, **at}
    for axis in view.trace.dims(address):
        if axis in TOKEN_AXES - {KEY.name} and axis not in fixed:
            fixed[axis] = view.chosen.token
    row = view.trace[
        format_cell(where.path, {axis: fixed[axis] for axis in view.trace.dims(where.path) if axis in fixed})
    ]
    free = [axis for axis in view.trace.dims(where.path) if axis not in fixed]
    strongest_place = np.unravel_index(find_strongest(row.ravel()), row.shape) if free else ()
    fixed |= {axis: int(i) for axis, i in zip(free, strongest_place, strict=True)}
    return format_cell(where.path, {axis: fixed[axis] for axis in view.trace.dims(where.path)})


def _show_values(trace: Trace, address: str) -> None:
    name = address.replace("[", "-").replace("]", "").replace("=", "").replace(",", "-")
    show_downloads(name, partial(_write_csv, trace, address), lambda: write_npy(trace[address]))


def show_downloads(name: str, as_csv: Callable[[], bytes], as_npy: Callable[[], bytes]) -> None:
    """Buttons for the values, which are written out only when they are asked for. name: of the files."""
    with st.container(horizontal=True):
        for kind, make, mime in (("csv", as_csv, "text/csv"), ("npy", as_npy, "application/octet-stream")):
            st.download_button(
                f"Values (.{kind})", data=make, file_name=f"{name}.{kind}", mime=mime, key=f"{kind}-{name}",
                on_click="ignore", type="tertiary", icon=":material/download:",
            )  # fmt: skip


def _write_csv(trace: Trace, address: str) -> bytes:
    """The values with one line a row: the leading axes' indices (and tokens), then the last axis across."""
    values, dims = trace[address], trace.dims(address)
    table = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    lead = dims[:-1]
    out = io.StringIO()
    writer = csv.writer(out)
    last = dims[-1] if dims else "value"
    text = ["text"] if TOKEN_AXES & set(lead) else []
    writer.writerow([*lead, *text, *(f"{last} {i}" for i in range(table.shape[1]))])
    for place, row in zip(np.ndindex(values.shape[:-1]), table, strict=True):
        token = [trace.tokens[i] for axis, i in zip(lead, place, strict=True) if axis in TOKEN_AXES][:1]
        writer.writerow([*place, *token, *(repr(float(x)) for x in row)])
    return out.getvalue().encode("utf-8")


def write_npy(values: np.ndarray) -> bytes:
    """An array as a file of NumPy's."""
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()
