"""Where a number comes from, in place: the formula worked, the operands, and the walk back through them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bertviz_core.analysis.walk import Operands, Terms, operands, terms
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import parse
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.numbers import text_number
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.cell_names import short
from bertviz_core.ui.frame.labels import literal
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import follow
from bertviz_core.ui.walk.operand_charts import operand_chart
from bertviz_core.ui.walk.way import crumbs, onward, picker, walk, walked
from bertviz_core.ui.walk.what_if_cell import before_and_after, cell_menu

_CHART = {"displayModeBar": False}
_HEAD_START_S = 0.06  # of the text before its chart: what reaches the browser with the chart waits until that is drawn


@dataclass(frozen=True)
class Explained:
    """A number with all that is said about it, as Markdown."""

    why: Explanation
    found: Operands
    parts: Terms | None
    text: str

    @property
    def title(self) -> str:
        return f"**`{self.why.address}` is {text_number(self.why.value)}**"


@st.fragment
def explanation(view: View, address: str, start: str) -> None:
    """What opens in a panel when a cell of its chart is picked. start: the cell that the panel offers by itself.

    Everything is worked out before anything is sent: what arrives together, the browser draws at once.
    """
    follow()
    way = walked(address)
    shown = _asked_for(view, way[-1]) if way else None
    with st.container(key=f"pick-{address}"):
        picker(view.trace, address, way)
    if shown is None:
        st.button(
            "Explain a number", key=f"explain-{address}", type="tertiary", icon=":material/account_tree:",
            on_click=walk, args=(address, [start]), help="Or click a cell of the chart.",
        )  # fmt: skip
        return
    with st.container(border=True, key=f"walk-{address}"):
        with st.container(key=f"crumbs-{address}"):
            st.html(crumbs(view.trace, view.colors, way))
        if isinstance(shown, AddressError):
            st.info(literal(f"This number cannot be explained: {shown}"), icon=":material/info:")
            _another(address, way[-1])
        else:
            _show(view, address, shown)


def explained(view: View, cell: str) -> Explained:
    """Work out a cell. Raises AddressError for what is none."""
    why = view.trace.explain(cell)
    found = operands(view.trace, why)
    parts = terms(why, found)
    return Explained(why, found, parts, _text(view, why, found, parts))


def _asked_for(view: View, cell: str) -> Explained | AddressError:
    """What a URL asks to be explained, or why it cannot be."""
    try:
        return explained(view, cell)
    except AddressError as error:
        return error


def _show(view: View, address: str, shown: Explained) -> None:
    """Formula and operands first; the chart is made and sent while the reader has them already."""
    formula, sources = st.columns([4, 3], gap="large")
    formula.markdown(f"{shown.title}\n\n{shown.text}")
    with sources:
        with st.container(key=f"operands-{address}"):
            st.html(onward(view.trace, view.colors, shown.why, shown.found))
        cell_menu(view, address, shown.why)
        _another(address, shown.why.address)
    if shown.why.step is not None:
        time.sleep(_HEAD_START_S)
        with formula:
            draw_operands(view, address, shown)


def _another(panel: str, cell: str) -> None:
    """A field for the address of any other number: the way to each cell without a pointer."""
    key = f"another-{panel}-{cell}"
    st.text_input(
        "Explain another number", cell, key=key, on_change=lambda: walk(panel, [st.session_state[key]]),
        help="The address of a cell: any tensor of the pass, with an index for each of its axes.",
    )  # fmt: skip


def draw_operands(view: View, key: str, shown: Explained) -> None:
    """The chart of what a computed number was made from, and how to read it."""
    figure, note = operand_chart(view, shown.why, shown.found, shown.parts)
    st.plotly_chart(figure, theme=None, key=f"chart-operands-{key}", config=_CHART, alt=note)
    st.caption(note)


def _text(view: View, why: Explanation, found: Operands, parts: Terms | None) -> str:
    """The formula in letters and with numbers, what they say, and how exactly they give the number."""
    if why.step is None:
        return "\n\n".join([_end(view, why), before_and_after(view, why)])
    exact = (
        f"Recorded: {text_number(why.value)}. Recomputed in double precision from {len(why.operands):,} operands: "
        f"{text_number(why.recomputed)}. Difference: {text_number(abs(why.value - why.recomputed))}."
    )
    formulas = (f"$$\n{latex}\n$$" for latex in (view.typeset(why.step), style.broken(why.latex)))
    words = _words(view.trace, why, found, parts)
    return "\n\n".join([*formulas, words, f":small[:gray[{exact}]]", before_and_after(view, why)])


def _end(view: View, why: Explanation) -> str:
    where = parse(why.address)
    if where.path in view.trace.model.parameters:
        return "A parameter of the checkpoint: training put this number here. The walk ends."
    if where.path in view.trace.addresses:
        return "A what-if put this number here, in place of what the step computes. The walk ends."
    token = view.trace.tokens[where.at["token"]]
    return literal(f"An input of the pass, made by the tokenizer for “{token}”. The walk ends.")


def _words(trace: Trace, why: Explanation, found: Operands, parts: Terms | None) -> str:
    """The numbers as a sentence, where they support one."""
    if why.step is not None and isinstance(why.step.expr, Softmax) and "key" in parse(why.address).at:
        return literal(_share_in_words(trace, why, found))
    if parts is None or len(parts.places) < 2:
        return ""
    best = int(np.abs(parts.values).argmax())
    name = short(trace, found.addresses[parts.places[best]])
    return literal(
        f"A sum of {len(parts.places)} terms. The largest is {text_number(float(parts.values[best]))}, with {name}; "
        f"all together make {text_number(parts.total)}."
    )


def _share_in_words(trace: Trace, why: Explanation, found: Operands) -> str:
    at, tokens = parse(why.address).at, trace.tokens
    scores = {parse(address).at["key"]: value for address, value in zip(found.addresses, found.values, strict=True)}
    own = scores.pop(at["key"])
    said = (
        f"“{tokens[at['key']]}” gets {why.value:.1%} of what head {at['head']} gives to “{tokens[at['query']]}”: "
        f"its score is {text_number(own)}"
    )
    if not scores:
        return f"{said}, the only one."
    other = max(scores, key=scores.__getitem__)
    gap = own - scores[other]
    return (
        f"{said}, {text_number(abs(gap))} {'above' if gap >= 0 else 'below'} "
        f"{'the next' if gap >= 0 else 'the largest'}, “{tokens[other]}”."
    )
