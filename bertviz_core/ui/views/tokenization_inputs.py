"""What the model is given: the tokens with their four numbers each, and how many are padding."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.attention import is_attended, list_counted
from bertviz_core.analysis.claims import stands_out
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.made_from import is_put
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.ui.frame import choices, site, state
from bertviz_core.ui.frame.keys import PAD, Key
from bertviz_core.ui.frame.preparation import NO_PADDING
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.panels.tables import Column, render_table

_PAD_HERE = Key("pad-here", 0)


def show_numbers(view: View) -> None:
    """The four numbers of every token, under the names of the model's inputs."""
    with st.container(border=True, key="inputs-table"):
        show_passes_html(view, [_render_numbers(one) for one in view.passes])
        st.caption(
            "The model reads four of these columns and nothing else. `input_ids`: the row of the vocabulary. "
            "`position_ids`: the position in the input. `token_type_ids`: 0 for the first sentence, 1 for the second. "
            "`attention_mask`: 1 for a token that is read, 0 for one that is not, as padding."
        )


def _render_numbers(view: View) -> str:
    encoding, typed = view.trace.encoding, view.typed.tokens
    columns = [
        Column("input_ids", [str(i) for i in encoding.ids]),
        Column("position_ids", [str(i) for i in encoding.positions]),
        Column("token_type_ids", encoding.segments),
        Column("attention_mask", encoding.mask),
    ]
    if view.masked:
        columns.append(Column("typed", [typed[i] if i in view.masked else "" for i in range(len(encoding))]))
    return render_table("token", label_tokens(view.trace), columns, {view.chosen.token})


def show_padding(view: View) -> None:
    """A length to fill up to, and what the layers then do with the padding."""
    longest, size = view.trace.model.config.max_position_embeddings, len(view.typed)
    if size == longest:
        st.caption(f"The input has {size} tokens, the most this model can read: there is no room for padding.")
        return
    state.write(_PAD_HERE, len(view.trace.encoding))
    st.number_input(
        f"Pad to this many tokens ({size} to {longest})",
        size,
        longest,
        key=_PAD_HERE.name,
        on_change=_pad,
        args=(size,),
        width=340,
    )
    added = len(view.trace.encoding) - size
    if not added:
        st.caption(f"No padding: the input has {size} tokens. Choose a larger number to see what changes.")
        return
    show_passes_html(view, [_render_effect(one, size) for one in view.passes])
    with st.container(horizontal=True):
        hidden = "" if is_attended(view.trace, range(size, len(view.trace.tokens))) else ": the columns of [PAD] are 0"
        site.show_link(site.get_page("attention"), f"Attention weights{hidden}")
        site.show_link(site.get_page("embeddings"), "Embeddings: [PAD] has a vector like every token")


def _pad(size: int) -> None:
    wish = state.read(_PAD_HERE)
    choices.choose({PAD: NO_PADDING if wish <= size else str(wish)})


def _render_effect(view: View, size: int) -> str:
    """One query's way from scores to shares: its largest weight, the first padding, and all padding."""
    trace, chosen = view.trace, view.chosen
    own = SELF_ATTENTION.in_layer(chosen.layer)
    scaled, scores, probs = (
        trace[own.enter(leaf).fix(head=chosen.head, query=chosen.token)] for leaf in ("scaled", "scores", "probs")
    )
    counted, names = list_counted(trace), label_tokens(trace)
    place = int(probs[counted].argmax())
    best = counted[place]
    columns = [
        Column("attention_mask", [*(trace.encoding.mask[i] for i in (best, size)), None]),
        Column("scaled score", [*(float(scaled[i]) for i in (best, size)), None]),
        Column("masked score", [*(float(scores[i]) for i in (best, size)), None]),
        Column(
            "attention weight",
            [*(float(probs[i]) for i in (best, size)), float(probs[size:].sum())],
            view.colors.kinds[ATTENTION],
            1.0,
        ),
    ]
    together = f"all {len(names) - size} padding tokens together"
    most = "largest weight" if stands_out(probs[counted], place, format_number) else "no weight is larger"
    most += ", none is above 0" if probs[best] < 0 else ""
    rows = [f"{names[best]} ({most})", f"{names[size]} (first padding)", together]
    return f"<p>{_write_story(view, size)}</p>" + render_table(f"{names[chosen.token]} attends to", rows, columns)


def _write_story(view: View, size: int) -> str:
    chosen, lowest = view.chosen, float(np.finfo(view.trace["attention_mask"].dtype).min)
    token = escape(name_token(view.trace.tokens, chosen.token))
    ends = (
        "But as changed, not all attention weights on padding are 0."
        if is_attended(view.trace, range(size, len(view.trace.tokens)))
        else "No token attends to padding, so all other vectors are the same as without it, except for rounding."
    )
    scores = SELF_ATTENTION.in_layer(chosen.layer).enter("scores").fix(head=chosen.head, query=chosen.token)
    comes = (
        "But a change puts other scores there than that makes."
        if is_put(view.trace, scores)
        else "Where the mask is 1, scores stay the same; where it is 0, as for padding, they become so low that the "
        "softmax gives them a weight of exactly 0."
    )
    return (
        f"Layer {chosen.layer}, head {chosen.head}, query {token}: (1 − attention_mask) · ({format_number(lowest)}) "
        f"is added to every score. {comes} {ends}"
    )
