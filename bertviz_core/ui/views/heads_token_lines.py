"""One head, or all of a layer together, as lines from token to token."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.token_lines import ALL, BETWEEN, HEAD, MAX, MEAN, Links, choose_links, combine_heads
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.panels.said import tell_shown
from bertviz_core.ui.panels.token_lines import show_lines, tell_no_lines

LINES = 40  # tokens on each side of the lines, at most

_SPANS = {HEAD: "This head", MEAN: "Mean over the layer", MAX: "Maximum over the layer"}
_OVER = Key("over", HEAD)
_BETWEEN = Key("between", ALL)
_HIDE = Key("hide", False)


def show_token_lines(view: View) -> None:
    """The chosen head, token to token, with what to leave out."""
    address = ATTENTION_WEIGHTS.in_layer(view.chosen.layer)
    step = view.trace.step(address)
    heading = Heading("Which token attends to which", "", view.typeset(step), step.source)
    with open_card(view, ATTENTION, heading, address):
        _show_lines(view, view.trace[address])


def _show_lines(view: View, probs: np.ndarray) -> None:
    trace, (over, hide, between) = view.trace, _read_options(view)
    ends = (trace.model.tokenizer.cls_token, trace.model.tokenizer.sep_token) if hide else ()
    left_out = [not real or token in ends for token, real in _list_tokens(trace)]
    shown = choose_links(
        combine_heads(probs, over, view.chosen.head),
        trace.encoding.segments,
        left_out,
        between,
        view.chosen.token,
        LINES,
    )
    if not shown.weights.size:
        st.info("No tokens are left to draw: show the special tokens, or choose another pair of sentences.")
        return
    of = ATTENTION_WEIGHTS.in_layer(view.chosen.layer).fix(head=view.chosen.head) if over == HEAD else None
    show_lines(view, shown, of=of, whole=over != MAX)
    st.caption(f"{tell_pass(view)}{_note_left_out(trace, shown, over)}")


def _read_options(view: View) -> tuple[str, bool, str]:
    over, between = HEAD, ALL
    url.bind(_OVER, _SPANS)
    url.bind(_BETWEEN, BETWEEN)
    url.bind(_HIDE)
    with st.container(horizontal=True, vertical_alignment="center"):
        over = st.segmented_control(
            "Attention of",
            list(_SPANS),
            required=True,
            key=_OVER.name,
            wrap=True,
            format_func=_SPANS.__getitem__,
        )
        if max(view.trace.encoding.segments):
            between = st.segmented_control(
                "From sentence to sentence",
                BETWEEN,
                required=True,
                key=_BETWEEN.name,
                wrap=True,
                format_func=lambda pair: "All" if pair == ALL else "→".join(pair),
            )
        hide = st.toggle(r"Leave out \[CLS\] and \[SEP\]", key=_HIDE.name)
    return over or HEAD, hide, between or ALL


def _list_tokens(trace: Trace) -> list[tuple[str, bool]]:
    """Each token, and whether it is more than padding."""
    return [(token, bool(real)) for token, real in zip(trace.tokens, trace.encoding.mask, strict=True)]


def _note_left_out(trace: Trace, shown: Links, over: str) -> str:
    if nothing := tell_no_lines(shown.weights):
        return nothing
    parts = ["The stronger a line, the larger the attention weight; nothing is rescaled."]
    if over == MAX:
        parts.append("Each line is the largest attention weight of any head; a query's lines can sum to more than 1.")
    count = len(trace.encoding.real)
    for name, side in (("queries", shown.queries), ("keys", shown.keys)):
        if len(side) == LINES < count:
            parts.append(tell_shown(side, count, name))
    if over != MAX and len(shown.keys) < count:
        parts.append(f"Not shown: on average {format_percent(float(shown.hidden.mean()))} of a query's attention.")
    return " ".join(parts)
