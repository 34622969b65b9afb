"""Where a number comes from, in place: the formula worked, the operands, and the walk back through them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from bertviz_core.analysis.parts import WITHOUT, Parts, take_apart
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state, style
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.operand_charts import choose_chart
from bertviz_core.ui.walk.way import listen, read_walk, render_crumbs, render_onward
from bertviz_core.ui.walk.what_if_cell import describe_change, show_menu

_HEAD_START_S = 0.06  # of the text before its chart: what reaches the browser with the chart waits until that is drawn


@dataclass(frozen=True)
class Explained:
    """A number with all that is said about it, as Markdown."""

    why: Explanation
    found: Parts
    text: str

    @property
    def title(self) -> str:
        return f"**`{self.why.address}` is {format_number(self.why.value)}**"


@st.fragment
def show_explanation(view: View, address: str, start: Address) -> None:
    """What opens in a panel when a cell of its chart is picked. start: the cell that the panel offers by itself.

    Everything is worked out before anything is sent: what arrives together, the browser draws at once.
    """
    state.rerun_if_asked()
    way = read_walk(view.trace, address)
    shown = _try(view, way[-1]) if way else None
    with st.container(key=f"pick-{address}"):
        listen(view.trace, address, way)
    if shown is None:
        st.button(
            "Explain a number", key=f"explain-{address}", type="tertiary", icon=":material/account_tree:",
            on_click=state.open_drawer, args=(address, [start]), help="Or click a cell of the chart.",
        )  # fmt: skip
        return
    with st.container(border=True, key=f"walk-{address}"):
        with st.container(key=f"crumbs-{address}"):
            st.html(render_crumbs(view.trace, view.colors, way))
        if isinstance(shown, AddressError):
            st.info(escape_markdown(f"This number cannot be explained: {shown}"), icon=":material/info:")
            _show_address_field(address, str(way[-1]))
        else:
            _show(view, address, shown)


def work_out(view: View, cell: Where) -> Explained:
    """Work out a cell. Raises AddressError for what is none."""
    why = view.trace.explain(cell)
    found = take_apart(view.trace, why)
    return Explained(why, found, _write_text(view, why, found))


def _try(view: View, cell: Where) -> Explained | AddressError:
    """What a URL asks to be explained, or why it cannot be."""
    try:
        return work_out(view, cell)
    except AddressError as error:
        return error


def _show(view: View, address: str, shown: Explained) -> None:
    """Formula and operands first; the chart is made and sent while the reader has them already."""
    formula, sources = st.columns([4, 3], gap="large")
    formula.markdown(f"{shown.title}\n\n{shown.text}")
    with sources:
        with st.container(key=f"operands-{address}"):
            st.html(render_onward(view.trace, view.colors, shown.why, shown.found))
        show_menu(view, address, shown.why)
        _show_address_field(address, shown.why.address)
    if shown.why.step is not None:
        time.sleep(_HEAD_START_S)
        with formula:
            draw_operands(view, address, shown)


def _show_address_field(panel: str, cell: str) -> None:
    """A field for the address of any other number: the way to each cell without a pointer."""
    key = f"another-{panel}-{cell}"
    st.text_input(
        "Explain another number", cell, key=key, on_change=lambda: state.open_drawer(panel, [state.read(key)]),
        help="The address of a cell: any tensor of the forward pass, with an index for each of its axes.",
    )  # fmt: skip


def draw_operands(view: View, key: str, shown: Explained) -> None:
    """The chart of what a computed number was made from, and how to read it."""
    chart, note = choose_chart(view, shown.why, shown.found)
    show_chart(chart, f"operands-{key}", note)
    st.caption(note)


def _write_text(view: View, why: Explanation, found: Parts) -> str:
    """The formula in letters and with numbers, what they say, and how exactly they give the number."""
    if why.step is None:
        return "\n\n".join([_write_end(view, why), describe_change(view, why)])
    exact = (
        f"Recorded: {format_number(why.value)}. Recomputed in double precision from {why.count:,} operands: "
        f"{format_number(why.recomputed)}. Difference: {format_number(abs(why.value - why.recomputed))}."
    )
    formulas = (f"$$\n{latex}\n$$" for latex in (view.typeset(why.step), style.break_lines(why.latex)))
    words = _write_words(view.trace, why, found)
    return "\n\n".join([*formulas, words, f":small[:gray[{exact}]]", describe_change(view, why)])


def _write_end(view: View, why: Explanation) -> str:
    where = why.cell
    if where.path in view.trace.model.parameters:
        return "A parameter of the checkpoint, learned in training. The walk ends here."
    if where.path in view.trace.addresses:
        return "Set by a what-if change; it replaces what the step computes. The walk ends here."
    token = view.trace.tokens[where.at["token"]]
    return escape_markdown(f"An input of the forward pass, made by the tokenizer for “{token}”. The walk ends here.")


def _write_words(trace: Trace, why: Explanation, found: Parts) -> str:
    """The numbers as a sentence, where they support one."""
    if found.measure is WITHOUT and "key" in why.cell.at:
        return escape_markdown(_write_share(trace, why))
    if not found.measure.sums or len(found) < 2:
        return ""
    best = found.strongest(1)[0]
    name = " × ".join(shorten(trace, operand) for operand in found[best].operands)
    largest, total = (format_number(float(amount)) for amount in (found.amounts[best], found.amounts.sum()))
    return escape_markdown(
        f"A sum of {len(found):,} {found.measure.heading}s. The largest is {largest}, {name}; their sum is {total}."
    )


def _write_share(trace: Trace, why: Explanation) -> str:
    at, tokens = why.cell.at, trace.tokens
    scores = dict(enumerate(why.sources[0].values))
    own = scores.pop(at["key"])
    said = (
        f"In head {at['head']}, “{tokens[at['query']]}” attends to “{tokens[at['key']]}” "
        f"with weight {format_percent(why.value)}: "
        f"the score is {format_number(own)}"
    )
    if not scores:
        return f"{said}, the only one."
    other = max(scores, key=scores.__getitem__)
    gap = own - scores[other]
    return (
        f"{said}, {format_number(abs(gap))} {'above' if gap >= 0 else 'below'} "
        f"{'the next' if gap >= 0 else 'the largest'}, “{tokens[other]}”."
    )
