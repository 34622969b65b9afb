"""The glossary on screen: one entry a quantity, its names elsewhere in a grid that wraps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import streamlit as st

from bertviz_core.analysis.notation import AXIS, Entry, list_absent, list_axes, list_entries, search_entries
from bertviz_core.documents import DOCUMENTS
from bertviz_core.figures.bars import draw_counts
from bertviz_core.formula.dims import AXES, CONCAT, HEAD, HEAD_DIM
from bertviz_core.formula.steps import INPUT, NORM, PARAMETER
from bertviz_core.ui.frame import site, state, style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.names import CSS, list_names
from bertviz_core.ui.panels.panel import format_shape

_KINDS = {"all": "All", "steps": "Steps", "parameters": "Parameters", "inputs": "Inputs", "axes": "Axes"}


def show_differences() -> None:
    """What each document leaves out, adds or writes otherwise."""
    st.markdown("\n".join(f"- **{document.name}**: {document.what} {document.differs}" for document in DOCUMENTS))


@derived
def show_lengths(view: View) -> Derived:
    """How long every axis is in this pass, as a chart."""
    found = {name: size for name in AXES if (size := _find_length(view, name))}
    return Derived(
        "axis-lengths", "Length of every axis in this forward pass",
        draw_counts(list(found.values()), list(found), view.colors, view.colors.kinds[NORM], name="length"),
        Origin("the config and the input", NORM, rf"{CONCAT.latex} = {HEAD.latex} \cdot {HEAD_DIM.latex}",
               "All shapes use these names. The token, query and key axes grow with the input; all "
               "others are fixed by the model. The concatenated heads have heads × components per head.",
               worked=rf"{CONCAT.latex} = {found[HEAD.name]} \cdot {found[HEAD_DIM.name]} = {found[CONCAT.name]}"),
        values=Values(np.array([list(found.values())]), ["length"], list(found)),
    )  # fmt: skip


def choose_search() -> tuple[str, str]:
    """The words to look for, and the kind of quantity to show."""
    state.bind("find", "")
    state.bind("kind", "all", _KINDS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Find", key="find", max_chars=80, width=360,
            placeholder="A name from any source: W_T, hook_pattern, γ, kernel …",
        )  # fmt: skip
        kind = st.segmented_control(
            "Show", list(_KINDS), key="kind", format_func=_KINDS.__getitem__,
            required=True,
        )  # fmt: skip
    return text, kind or "all"


def show_entries(view: View, text: str, kind: str) -> None:
    """Every entry that fits, in the order of the computation, in groups by the page that shows it."""
    st.html(CSS)
    model, layer = view.trace.model, view.chosen.layer
    shown = [
        entry
        for entry in search_entries(list_entries(model.program, layer), text)
        if kind in ("all", _find_kind(entry))
    ]
    missing = [entry for entry in search_entries(list_absent(model, layer), text) if kind in ("all", _find_kind(entry))]
    lengths = search_entries(list_axes(), text) if kind in ("all", "axes") else []
    count = len(shown) + len(missing) + len(lengths)
    counted = "1 entry." if count == 1 else f"{count} entries."
    st.caption(counted if count else "Nothing has this name. Try a shorter one.")
    for stage, group in groupby(shown, key=lambda entry: entry.stage):
        if stage:
            info = site.find_page(stage)
            _show_group(view, info.name, info.title, list(group), info)
    _show_group(view, "absent", "Heads that this checkpoint does not have", missing)
    _show_group(view, "axes", "Axes of the tensors", lengths)


def _show_group(view: View, name: str, title: str, rows: Sequence[Entry], page: site.PageInfo | None = None) -> None:
    if not rows:
        return
    with st.container(border=True, key=f"names-{name}-{rows[0].symbol.address}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"## {title}")
            if page:
                site.show_link(page, "See the values")
        st.markdown("\n".join(_write_entry(view, row) for row in rows))


def _write_entry(view: View, entry: Entry) -> str:
    symbol = style.make_painter(view.colors)(entry.symbol)
    address = entry.symbol.address
    size = format_shape(view.trace, address) if address in view.trace else _write_size(view, address)
    head = f"- $\\displaystyle {symbol}$ &ensp; {entry.meaning}  \n  :small[`{address}` {size}]"
    return "\n".join([head, *(f"  - {name}" for name in list_names(entry.names))])


def _write_size(view: View, axis: str) -> str:
    length = _find_length(view, axis)
    return f"= {length:,}" if length else ""


def _find_length(view: View, axis: str) -> int:
    """How long an axis is in this pass; 0 where nothing has it."""
    program = view.trace.program
    symbols = (*(step.output for step in program.steps), *program.leaves.values())
    known = AXES.get(axis)
    return view.trace.layout.size(known) if known and any(known in symbol.axes for symbol in symbols) else 0


def _find_kind(entry: Entry) -> str:
    return {INPUT: "inputs", PARAMETER: "parameters", AXIS: "axes"}.get(entry.symbol.kind, "steps")
