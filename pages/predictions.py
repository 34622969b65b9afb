"""The masked language model head: from a token's last vector to a probability for every entry of the vocabulary."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.views import predictions

view = open_page(
    "predictions",
    "At every position the LM head (masked language model head) turns the token's last vector into logits, one per "
    "vocabulary entry. The softmax turns them into probabilities; the most probable entry is the top prediction.",
)
note_absent_heads(view)
if "cls.predictions.probs" in view.trace:
    st.header("From the last layer to the vocabulary", anchor=False)
    predictions.show_transform(view)
    st.header("The prediction for the chosen token", anchor=False)
    predictions.show_moved(view)
    predictions.show_ranking(view)
    predictions.show_any_word(view)
    st.header("The top predictions at every position", anchor=False)
    predictions.show_every_position(view)
else:
    st.info(
        "This checkpoint has no LM head (masked language model head), so it makes no predictions. "
        "Choose another model under “Examples and options”, for example the bundled one.",
        icon=":material/info:",
    )
    predictions.show_unread(view)
