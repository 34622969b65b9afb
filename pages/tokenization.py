"""From characters to token ids: cleaning, splitting, and the longest-match search."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import tokenization, tokenization_inputs, tokenization_vocabulary

view = open_page(
    "tokenization",
    "BERT reads numbers, not letters. The text is normalized and split into words, each word into the longest pieces "
    "in the vocabulary (WordPiece). The index of a piece in the vocabulary is its token id.",
)
tokenization_inputs.show_result(view)
st.header("How the text was split", anchor=False)
tokenization.show_stages(view)
st.header("The search for the longest piece", anchor=False)
tokenization.show_searches(view)
st.header("What the model reads", anchor=False)
tokenization_inputs.show_numbers(view)
st.header("Padding", anchor=False)
with st.container(border=True):
    tokenization_inputs.show_padding(view)
st.header("The vocabulary", anchor=False)
tokenization_vocabulary.show_census(view)
with st.container(border=True):
    tokenization_vocabulary.show_search(view)
