"""What each head is worth to a prediction: all of them zeroed, one after the other, with progress and a way to stop."""

from __future__ import annotations

import time

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import Ablation, list_outcomes
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.what_if import offer_for_head
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import add_changes
from bertviz_core.ui.panels.derived import Origin, show_derived
from bertviz_core.ui.views.heads_numbers import make_values

_AT_ONCE_S = 0.4  # between two signs of progress
_RUNNING = "ablation-of"
_CHOICES = 5


@st.fragment
def show_ablation(view: View) -> None:
    """The map of what each head is worth to one probability, made on request."""
    state.rerun_if_asked()
    offered = list_outcomes(view.trace, view.chosen.token, _CHOICES)
    if not offered:
        st.info("This checkpoint has no LM head and no classifier, so there is no prediction that could change.")
        return
    state.bind("worth", next(iter(offered)), offered)
    choice = st.selectbox("Probability of", list(offered), key="worth", width=340)
    choice = choice or next(iter(offered))
    found = _begin(view.trace, offered[choice])
    heads, running = found.change.size, bool(found.left) and state.read(_RUNNING) is view
    slot = st.empty()
    if running:
        with slot.container():
            st.button("Stop", key="ablation-stop", on_click=_stop, icon=":material/stop:")
            st.progress(1 - found.left / heads, f"Zeroed {heads - found.left} of {heads} heads")
        _run_some(found, view.trace)
        if found.left:
            st.rerun(scope="fragment")
    _stop()
    slot.empty()
    if found.left:
        label = "Zero each head in turn" if found.left == heads else f"Continue: {found.left} of {heads} heads are left"
        slot.button(label, key="ablation-start", on_click=_start, args=(view,), icon=":material/play_arrow:",
                    help="One forward pass per head, from that head's layer on.")  # fmt: skip
    if found.left < heads:
        _show_map(view, choice, found)


def _begin(trace: Trace, address: Address) -> Ablation:
    """The same for all sessions, so that each head is zeroed once."""
    return remember(trace, f"ablation of {address}", lambda: Ablation(trace, address))


def _start(view: View) -> None:
    state.write(_RUNNING, view)  # a new view, of another sentence or page, does not go on by itself


def _stop() -> None:
    state.take(_RUNNING)


def _run_some(found: Ablation, trace: Trace) -> None:
    start = time.monotonic()
    while found.left and time.monotonic() - start < _AT_ONCE_S:
        with get_store().turn():
            found.step(trace)


def _show_map(view: View, choice: str, found: Ablation) -> None:
    known = np.nan_to_num(found.change)
    layer, head = (int(i) for i in np.unravel_index(find_strongest(known.ravel()), known.shape))
    change = float(known[layer, head])
    chosen = (view.chosen.layer, view.chosen.head)
    first = Address.in_layer(0, "attention.self.probs").fix(head=0)
    show_derived(
        view, "head-ablation", f"Zeroing one head: the change in the probability of {choice}",
        draw_head_grid(found.change, float(np.abs(known).max()), chosen, view.colors, signed=True),
        Origin(f"{found.address}, with {first} = 0 and so on", "attention",
               rf"\Delta_{{l,h}} = P\bigl(A^{{(l)}}_h = 0\bigr) - P,\quad P = {format_latex(found.value)}",
               "Each cell is a forward pass with that head's output set to zero. Negative: the prediction needs "
               "the head. Positive: the head works against it."),
        values=make_values(found.change),
        note=f"Largest: without head {head} of layer {layer} the probability goes from {format_number(found.value)} to "
             f"{format_number(found.value + change)}. The frame marks the chosen head.",
    )  # fmt: skip
    zero = offer_for_head([layer], head)[0]
    st.button(f"Show the forward pass without head {head} of layer {layer}", key="ablation-look", on_click=add_changes,
              args=(zero.changes,), kwargs={"from_fragment": True}, icon=":material/science:")  # fmt: skip
