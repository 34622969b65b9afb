"""From characters to token ids: cleaning, splitting, and the longest-match search."""

import streamlit as st

from bertviz_core.ui import inputs, tokenization, vocabulary
from bertviz_core.ui.shell import end, page

view = page(
    "tokenization",
    "BERT reads numbers, not letters. The text is cleaned and cut into words, and each word into the longest pieces "
    "that the vocabulary has; a piece's place in the vocabulary is its id.",
)
inputs.result(view)
st.header("How the text was cut", anchor=False)
tokenization.stages(view)
st.header("The search for the longest piece", anchor=False)
tokenization.searches(view)
st.header("What the model reads", anchor=False)
inputs.numbers(view)
st.header("Padding", anchor=False)
with st.container(border=True):
    inputs.padding(view)
st.header("The vocabulary", anchor=False)
vocabulary.census(view)
with st.container(border=True):
    vocabulary.search(view)
end("tokenization")
