"""The masked language model head: from a token's last vector to a probability for every entry of the vocabulary."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.panels.guesses import ask_guesses
from bertviz_core.ui.views import (
    predictions,
    predictions_hidden,
    predictions_reason,
    predictions_words,
)

view = open_page(
    "predictions",
    "The LM head compares the token's last vector with the row of every word; the softmax "
    "makes probabilities of the logits.",
    predictions_words.write_headline,
)
if "cls.predictions.probs" in view.trace:
    predictions_words.bind_word()
    word = predictions_words.read_word(view)
    words, reason = st.columns([4, 6], gap="small")
    with words:
        predictions_words.show_words(view)
    with reason:
        predictions_reason.show_score(view, word)
    every, other = st.columns([4, 6], gap="small")
    guesses = ask_guesses(view)
    with every:
        predictions_reason.show_all_scores(view, word)
    with other:
        if guesses:
            predictions_hidden.show_hidden(view, guesses)
        else:
            predictions_reason.show_softmax(view, word)
    if guesses:
        with fold("softmax", "**3 · Softmax** · the powers of e, end to end") as opened:
            if opened:
                predictions_reason.show_softmax(view, word)
    with fold("word", "**Any word** · its rank and probability, and all ranks as a curve") as opened:
        if opened:
            predictions_words.show_any_word(view)
    with fold("transform", "**Transform** · dense, activation and LayerNorm before the logits") as opened:
        if opened:
            predictions.show_transform(view)
    with fold("positions", f"**Every position** · {len(view.trace.tokens)} rankings, read as one text") as opened:
        if opened:
            predictions.show_every_position(view)
    with fold("denominator", "**The denominator** · how fast it adds up") as opened:
        if opened:
            predictions.show_denominator(view)
    with fold("table", "**The same as a table** · from logit to probability") as opened:
        if opened:
            predictions.show_moved(view)
            predictions.show_table(view)
else:
    st.info(
        "This checkpoint has no LM head (masked language model head), so it makes no predictions. "
        "Choose another model where the sentence is edited, for example the bundled one.",
        icon=":material/info:",
    )
    predictions.show_unread(view)
