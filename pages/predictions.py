"""The masked language model head: from a token's last vector to a probability for every entry of the vocabulary."""

import streamlit as st

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.views import predictions

view = open_page(
    "predictions",
    "At every position the head compares the token's last vector with all entries of the vocabulary: one score each. "
    "The softmax turns the scores into probabilities, and the best entry is the model's answer.",
)
note_absent_heads(view)
if "cls.predictions.probs" in view.trace:
    st.header("From the last layer to the vocabulary", anchor=False)
    predictions.show_transform(view)
    st.header("Which word stands here?", anchor=False)
    predictions.show_moved(view)
    predictions.show_ranking(view)
    predictions.show_any_word(view)
    st.header("What stands everywhere?", anchor=False)
    predictions.show_every_position(view)
else:
    st.info(
        "This checkpoint has no masked language model head, so it predicts no words. "
        "Choose another model under “Examples and options”, for example the bundled one.",
        icon=":material/info:",
    )
    predictions.show_unread(view)
close_page("predictions")
