"""What each head is worth to a prediction: all of them zeroed, one after the other, with progress and a way to stop."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analysis.ablation import Ablation, drop_zeroed, list_outcomes, zero_head
from bertviz_core.analysis.heads import Summary
from bertviz_core.formula.address import Address
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import get_store, take_turn, tell_if_busy
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import add_changes
from bertviz_core.ui.panels.derived import show_values
from bertviz_core.ui.panels.panel import open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.views.heads_numbers import make_values
from bertviz_core.ui.views.heads_worth import Worth, render_head_grid, render_ranking, render_words

_AT_ONCE_S = 0.4  # between two signs of progress
_RUNNING: Key[View | None] = Key("ablation-of", None)
_CHOICES = 5
_FORMULA = r"\Delta_{l,h} = P\bigl(A^{(l)}_h = 0\bigr) - P"
_WORTH = Key("worth", "")


@st.fragment
def show_ablation(view: View, all_heads: Summary) -> None:
    """The map of what each head is worth to one probability, made on request."""
    choices.rerun_if_asked()
    with tell_if_busy():
        _show_ablation(view, all_heads)


def _show_ablation(view: View, all_heads: Summary) -> None:
    trace = find_base(view)
    offered = list_outcomes(trace, view.chosen.token, _CHOICES)
    if not offered:
        st.info(
            "This checkpoint has no LM head, no classifier and no question answering, so there is no prediction that "
            "could change."
        )
        return
    found = begin(trace, view.chosen.token, tuple(offered.values()))
    first = ATTENTION_WEIGHTS.in_layer(0).fix(head=0)
    with open_card(view, ATTENTION, "What each head is worth to the answer",
                   f"from {found.addresses[0].path}, with {first} = 0 and so on") as tools:  # fmt: skip
        slot = st.empty()
        _run(view, trace, found, slot)
        if found.left < found.without[0].size:
            _show_worth(view, all_heads, list(offered), found)
            with tools:
                values = make_values(found.change(_read_choice(list(offered))))
                show_values("head-ablation", values)
        else:
            st.caption(
                "Each head in turn is zeroed and the forward pass is run again from its layer on: the map then shows "
                f"by how much the probability of {escape_markdown(next(iter(offered)))} falls or rises without it."
            )


def find_base(view: View) -> Trace:
    """The pass in which heads are zeroed: with what was changed in it, but for heads that are zeroed already.

    So the map stays when one of them is then left out.
    """
    trace = view.trace
    others = drop_zeroed(trace)
    if len(others) == len(trace.changes):
        return trace
    return get_store().get(trace.model, view.text, view.pair, len(trace.tokens), view.masked, changes=others)


def begin(trace: Trace, token: int, outcomes: Sequence[Address]) -> Ablation:
    """The same for all sessions, so that each head is zeroed once."""
    return remember(trace, f"ablation at {token}", lambda: Ablation(trace, outcomes))


def _run(view: View, trace: Trace, found: Ablation, slot: DeltaGenerator) -> None:
    """Go on zeroing heads while somebody wants that; offer to begin, to stop and to go on."""
    heads, running = found.without[0].size, bool(found.left) and state.read(_RUNNING) is view
    if running:
        with slot.container():
            st.button("Stop", key="ablation-stop", on_click=_stop, icon=":material/stop:")
            st.progress(1 - found.left / heads, f"Zeroed {heads - found.left} of {heads} heads")
        _run_some(found, trace)
        if found.left:
            st.rerun(scope="fragment")
    _stop()
    slot.empty()
    if found.left:
        label = "Zero each head in turn" if found.left == heads else f"Continue: {found.left} of {heads} heads are left"
        slot.button(label, key="ablation-start", on_click=_start, args=(view,), icon=":material/play_arrow:",
                    help="One forward pass per head, from that head's layer on.")  # fmt: skip
    elif running:
        st.rerun()  # the headline has something to say now


def _start(view: View) -> None:
    state.write(_RUNNING, view)  # a new view, of another sentence or page, does not go on by itself


def _stop() -> None:
    state.take(_RUNNING)


def _run_some(found: Ablation, trace: Trace) -> None:
    start = time.monotonic()
    while found.left and time.monotonic() - start < _AT_ONCE_S:
        with take_turn():
            found.step(trace)


def _read_choice(names: Sequence[str]) -> int:
    """Which of the probabilities is looked at."""
    chosen = state.read(_WORTH)
    return names.index(chosen) if chosen in names else 0


def _show_worth(view: View, all_heads: Summary, names: Sequence[str], found: Ablation) -> None:
    """The map, the chosen head's words, and the heads that matter most."""
    worth = Worth(found, _read_choice(names), tuple(names), all_heads, (view.chosen.layer, view.chosen.head))
    grid, words, ranking = st.columns([45, 34, 21], gap="medium")
    with grid:
        st.html(render_head_grid(worth))
    with words:
        _show_words(view, worth)
    with ranking:
        st.html(render_ranking(worth))
    reading, choice, formula = st.columns([45, 34, 21], gap="medium", vertical_alignment="center")
    reading.caption(f"{tell_pass(view)}{_write_counts(worth)}")
    with choice:
        url.bind(_WORTH, names, names[0])
        st.selectbox("Probability of", names, key=_WORTH.name, label_visibility="collapsed")
    formula.latex(_FORMULA)


def _show_words(view: View, worth: Worth) -> None:
    layer, head = worth.chosen
    st.html(render_words(worth))
    changes = zero_head(layer, head)
    undone = set(changes) <= set(view.outcome.after.changes)
    st.button(
        f"Layer {layer}, head {head} is left out" if undone else f"Show the pass without layer {layer}, head {head}",
        key="ablation-look", on_click=add_changes, args=(changes,), kwargs={"from_fragment": True}, disabled=undone,
        icon=":material/science:",
    )  # fmt: skip


def _write_counts(worth: Worth) -> str:
    known = worth.change[~np.isnan(worth.change)]
    up, down = int((known < 0).sum()), int((known > 0).sum())
    return escape_markdown(
        f"Without {up} of {known.size} heads {worth.name} falls, without {down} it rises. A head's worth is said for "
        "this number of this sentence only, and two heads left out together need not change it by the sum of both."
    )
