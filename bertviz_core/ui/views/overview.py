"""The pass as a list: the input, the answer, and every step with the page that shows it."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from bertviz_core.analysis.predictions import RELATIONS, find_masks, rank_words
from bertviz_core.formula.numbers import format_share
from bertviz_core.formula.steps import Step
from bertviz_core.ui.frame import site, style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.panels.panel import format_shape

_SHOWN_MASKS = 6


def write_headline(view: View) -> str:
    """The model's answer at the chosen token, in one line."""
    trace = view.trace
    if "cls.predictions.probs" not in trace:
        return "The whole pass, from the characters to the last vectors"
    token = view.chosen.token
    (word, share, _), *_ = rank_words(trace, token, 1)
    here = escape_markdown(trace.tokens[token])
    return f"What does BERT put at “{here}”? **“{escape_markdown(word)}”: {format_share(share)}**"


def show_answer(view: View) -> None:
    """The tokens, and the top predictions for each masked one."""
    trace = view.trace
    model = trace.model
    with st.container(border=True):
        st.html(style.render_tokens(trace.encoding, view.colors, model.tokenizer.special_tokens, view.chosen.token))
        if "cls.predictions.probs" in trace:
            _show_masked(view)
        if "cls.seq_relationship.probs" in trace and max(trace.encoding.segments):
            shares = trace["cls.seq_relationship.probs"].tolist()
            st.html(style.render_answer(list(zip(RELATIONS, shares, strict=True)), view.colors.kinds["attention"]))
        config = model.config
        st.caption(
            f"{escape_markdown(model.name)}: {config.num_hidden_layers} layers, {config.num_attention_heads} heads, "
            f"hidden size {config.hidden_size}, {config.vocab_size:,} vocabulary entries, "
            f"{model.parameter_count:,} parameters."
        )
        note_absent_heads(view)


def _show_masked(view: View) -> None:
    masks = find_masks(view.trace)
    if not masks:
        st.markdown(r"This sentence has no `[MASK]`: add one and the model predicts the token.")
    for i in masks[:_SHOWN_MASKS]:
        st.markdown(f"Top predictions for `[MASK]` at position {i}")
        rows = [(word, share) for word, share, _ in rank_words(view.trace, i, 5)]
        st.html(style.render_answer(rows, view.colors.kinds["attention"]))
    if len(masks) > _SHOWN_MASKS:
        st.caption(f"{len(masks) - _SHOWN_MASKS} more masked positions are on the Predictions page.")


def show_steps(view: View) -> None:
    """Every step in order; of the encoder's layers, which are alike, the chosen one."""
    trace = view.trace
    shown = [step for step in trace.program.steps if step.layer in (None, view.chosen.layer)]
    for i, (stage, group) in enumerate(groupby(shown, key=lambda step: step.stage)):
        info = site.find_page(stage)
        with st.container(border=True, key=f"steps-{i}"):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                layers = trace.model.config.num_hidden_layers
                place = f", layer {view.chosen.layer} of 0 to {layers - 1}" if stage.in_layer else ""
                st.markdown(f"## {info.title}{place}")
                site.show_link(info, "See the values", info.icon)
            st.markdown("\n".join(_write_line(view, step) for step in group))


def _write_line(view: View, step: Step) -> str:
    formula = view.typeset(step)
    address = f":small[`{step.address}` {format_shape(view.trace, step.address)}]"
    return f"- $\\displaystyle {formula}$  \n  {step.meaning}  \n  {address}"
