"""The forward-pass note at two lengths: as many tokens as the sentence has, and as many as the model can read."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import guess_words, measure_end
from bertviz_core.analysis.slip_numbers import tell_padded
from bertviz_core.documents import NOTE
from bertviz_core.documents.note import TOKENS
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.views.documents import Side

_GUESSES = 3


def has_other_length(view: View, left: Side, right: Side) -> bool:
    """Whether the note is compared, and the sentence is shorter than what the model can read."""
    return NOTE.program in (left.name, right.name) and len(view.trace.tokens) < _find_longest(view)


def _find_longest(view: View) -> int:
    return view.trace.model.config.max_position_embeddings


def show_lengths(view: View) -> None:
    """What the note's one input length changes: the same token, in a pass over few tokens and in one over all."""
    trace, token = view.trace, view.chosen.token
    count, longest = len(trace.tokens), _find_longest(view)
    most = "as the note prints it" if longest == TOKENS else "as many as this model reads"
    padded = tell_padded(trace)
    runs = {count: f"as your sentence is{padded}", longest: most}
    heading = Heading("The note at two lengths", "", r"\cos(x^{(L)}, y^{(L)})", "two passes of the note")
    with open_card(view, PREDICTION, heading, f"token {token}", name="documents-lengths"):
        told = []
        for place, (length, how) in zip(st.columns(len(runs)), runs.items(), strict=True):
            note = view.run_as(NOTE.program, get_store(), length - count)
            best = [(guess.token, guess.probability) for guess in guess_words(note, token, _GUESSES)]
            cosine = measure_end(trace, note, token)
            told.append(f"{'none' if np.isnan(cosine) else format_number(cosine)} at {length} tokens")
            with place:
                answer = style.render_answer(best, view.colors.kinds[PREDICTION]) if best else ""
                st.html(f"<b>{length} tokens</b> {escape(how)}{answer}")
        st.caption(
            f"Cosine with BERT's vector of {escape_markdown(name_token(trace.tokens, token))} after the last layer: "
            f"{', '.join(told)}. Every input of the note has {TOKENS} tokens, and it has no mask: its softmax attends "
            f"to the padding. What is compared above is at your sentence's length{padded}."
        )
