"""The glossary on screen: one entry a quantity, its names elsewhere in a grid that wraps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import streamlit as st

from bertviz_core.analysis.notation import AXIS, Entry, absent, axes, found, glossary
from bertviz_core.documents import DOCUMENTS
from bertviz_core.figures.bars import counts
from bertviz_core.formula.dims import AXES, CONCAT, HEAD, HEAD_DIM
from bertviz_core.formula.steps import INPUT, NORM, PARAMETER
from bertviz_core.ui.frame import site, style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Origin, Values, derived
from bertviz_core.ui.panels.names import CSS, elsewhere
from bertviz_core.ui.panels.panel import shape

_KINDS = {"all": "All", "steps": "Steps", "parameters": "Parameters", "inputs": "Inputs", "axes": "Axes"}


def differences() -> None:
    """What each document leaves out, adds or writes otherwise."""
    with st.expander("How the five documents differ from BERT as released, and so from each other"):
        st.markdown("\n".join(f"- **{document.name}**: {document.what} {document.differs}" for document in DOCUMENTS))


def lengths(view: View) -> None:
    """How long every axis is in this pass, as a chart."""
    found = {name: size for name in AXES if (size := _length(view, name))}
    derived(
        view, "axis-lengths", "How long every axis is in this pass",
        counts(list(found.values()), list(found), view.colors, view.colors.kinds[NORM], name="length"),
        Origin("the config and the input", NORM, rf"{CONCAT.latex} = {HEAD.latex} \cdot {HEAD_DIM.latex}",
               "Shapes are written with these names everywhere. The token, query and key axes grow with the input; all "
               "others are the model's own. The heads side by side are as wide as heads times components of a head.",
               worked=rf"{CONCAT.latex} = {found[HEAD.name]} \cdot {found[HEAD_DIM.name]} = {found[CONCAT.name]}"),
        values=Values(np.array([list(found.values())]), ["length"], list(found)),
    )  # fmt: skip


def search() -> tuple[str, str]:
    """The words to look for, and the kind of quantity to show."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Find", key="find", bind="query-params", max_chars=80, width=360,
            placeholder="A name from anywhere: W_T, hook_pattern, γ, kernel …",
        )  # fmt: skip
        kind = st.segmented_control(
            "Show", list(_KINDS), default="all", key="kind", bind="query-params", format_func=_KINDS.__getitem__,
            required=True,
        )  # fmt: skip
    return text, kind or "all"


def entries(view: View, text: str, kind: str) -> None:
    """Every entry that fits, in the order of the computation, in groups by the page that shows it."""
    st.html(CSS)
    model, layer = view.trace.model, view.chosen.layer
    shown = [entry for entry in found(glossary(model.program, layer), text) if kind in ("all", _kind(entry))]
    missing = [entry for entry in found(absent(model, layer), text) if kind in ("all", _kind(entry))]
    lengths = found(axes(), text) if kind in ("all", "axes") else []
    count = len(shown) + len(missing) + len(lengths)
    counted = "1 entry." if count == 1 else f"{count} entries."
    st.caption(counted if count else "Nothing has this name. Try a shorter one.")
    for info, group in groupby(shown, key=lambda entry: site.shown_on(entry.step)):
        if info:
            _group(view, info.name, info.title, list(group), site.pages()[info.name])
    _group(view, "absent", "Heads that this checkpoint does not have", missing)
    _group(view, "axes", "Axes: what shapes are made of", lengths)


def _group(view: View, name: str, title: str, rows: Sequence[Entry], page: object = None) -> None:
    if not rows:
        return
    with st.container(border=True, key=f"names-{name}-{rows[0].symbol.address}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"## {title}")
            if page:
                st.page_link(page, label="See the values")  # pyright: ignore[reportArgumentType]
        st.markdown("\n".join(_entry(view, row) for row in rows))


def _entry(view: View, entry: Entry) -> str:
    symbol = style.painter(view.colors)(entry.symbol)
    address = entry.symbol.address
    size = shape(view.trace, address) if address in view.trace else _size(view, address)
    head = f"- $\\displaystyle {symbol}$ &ensp; {entry.meaning}  \n  :small[`{address}` {size}]"
    return "\n".join([head, *(f"  - {name}" for name in elsewhere(entry.names))])


def _size(view: View, axis: str) -> str:
    length = _length(view, axis)
    return f"= {length:,}" if length else ""


def _length(view: View, axis: str) -> int:
    """How long an axis is in this pass; 0 where nothing has it."""
    trace = view.trace
    for address in (*trace.addresses, *trace.model.parameters):
        if axis in trace.dims(address):
            return trace.shape(address)[trace.dims(address).index(axis)]
    return 0


def _kind(entry: Entry) -> str:
    return {INPUT: "inputs", PARAMETER: "parameters", AXIS: "axes"}.get(entry.symbol.kind, "steps")
