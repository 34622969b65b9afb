"""The encoder article's examples, to be changed by hand: softmax, weighted sums, positions, scaling."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import playground, playground_examples

view = page(
    "playground",
    "One of the documents behind this explorer works its formulas on six tokens: “Hello, how are you?”. Here its "
    "numbers are yours to change, and every printed one is computed anew.",
)
st.header("Edit the scores", anchor=False)
scores, row = playground.edit()
playground.scores_map(view, scores, row)
st.header("The softmax, row by row", anchor=False)
playground.softmax(view, scores, row)
shares = playground.shares(view, scores, row)
st.header("The table as the article prints it", anchor=False)
playground.printed(view)
st.header("From shares to a weighted sum", anchor=False)
playground_examples.weighted(view, shares, row)
st.header("Positions of any length and width", anchor=False)
playground_examples.sinusoidal(view)
st.header("What dividing by √d_k is for", anchor=False)
playground_examples.divisors(view, scores, row)
playground_examples.unscaled(view)
end("playground")
