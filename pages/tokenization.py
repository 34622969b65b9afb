"""From characters to token ids: cleaning, splitting, and the longest-match search."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import tokenization, tokenization_inputs, tokenization_vocabulary

view = page(
    "tokenization",
    "BERT reads numbers, not letters. The text is cleaned and cut into words, and each word into the longest pieces "
    "that the vocabulary has; a piece's place in the vocabulary is its id.",
)
tokenization_inputs.result(view)
st.header("How the text was cut", anchor=False)
tokenization.stages(view)
st.header("The search for the longest piece", anchor=False)
tokenization.searches(view)
st.header("What the model reads", anchor=False)
tokenization_inputs.numbers(view)
st.header("Padding", anchor=False)
with st.container(border=True):
    tokenization_inputs.padding(view)
st.header("The vocabulary", anchor=False)
tokenization_vocabulary.census(view)
with st.container(border=True):
    tokenization_vocabulary.search(view)
end("tokenization")
