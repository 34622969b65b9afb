"""Attention scores: from the product of one query and one key to the shares that the softmax gives."""

import streamlit as st

from bertviz_core.ui import scores
from bertviz_core.ui.shell import end, page

view = page(
    "attention",
    "Every token's query is multiplied with every token's key, component by component; the sum says how well they fit. "
    "Scaled, and with padding hidden, the scores of a query go through the softmax, which divides 1 among the keys.",
)
st.header(f"One query and one key, layer {view.chosen.layer}, head {view.chosen.head}", anchor=False)
key = scores.choose_key(view)
scores.one_pair(view, key)
scores.angles(view, key)
st.header("Every query and every key", anchor=False)
scores.maps(view, "products", "scaled", "scores")
st.header("From scores to shares: the softmax", anchor=False)
scores.softmax(view, key)
scores.shares(view, key)
scores.maps(view, "probs")
end("attention")
