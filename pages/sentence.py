"""Answers about the input as a whole: the pooled [CLS] vector, the next sentence, the classes."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.views import sentence

view = open_page(
    "sentence",
    r"Some tasks need one answer for the whole input. For them the pooler reads one vector, the last one at \[CLS\]; a "
    "small matrix turns it into one logit per answer, and the softmax turns the logits into probabilities.",
)
note_absent_heads(view)
st.header("One vector for the whole input", anchor=False)
sentence.show_one_vector(view)
if "pooler.dense" in view.trace:
    sentence.show_pooler(view)
if "cls.seq_relationship" in view.trace:
    st.header("Does the second sentence follow?", anchor=False)
    sentence.show_next_sentence(view)
if "classifier" in view.trace:
    by_token = "token" in view.trace.dims("classifier")
    st.header("Which class has each token?" if by_token else "Which class?", anchor=False)
    (sentence.show_token_classes if by_token else sentence.show_classes)(view)
st.caption(sentence.NOTES_LAST_LINE)
