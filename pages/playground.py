"""The encoder article's examples, to be changed by hand: softmax, weighted sums, positions, scaling."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import playground, playground_examples

view = open_page(
    "playground",
    "One of the five documents, the encoder article, computes attention for six tokens: “Hello, how are you?”. Change "
    "its numbers here: all that follows from them is computed again.",
)
st.header("Edit the scores", anchor=False)
scores, row = playground.edit_scores()
playground.show_scores(view, scores, row)
st.header("The softmax, row by row", anchor=False)
playground.show_softmax(view, scores, row)
shares = playground.show_shares(view, scores, row)
st.header("The table as the article prints it", anchor=False)
playground.show_printed(view)
st.header("From attention weights to a weighted sum", anchor=False)
playground_examples.show_weighted(view, shares, row)
st.header("Sinusoidal positions of any length and size", anchor=False)
playground_examples.show_sinusoidal(view)
st.header("Why scores are divided by √d_k", anchor=False)
playground_examples.show_divisors(view, scores, row)
playground_examples.show_unscaled(view)
