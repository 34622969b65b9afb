"""Attention scores: from the product of one query and one key to the shares that the softmax gives."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import attention

view = open_page(
    "attention",
    "The dot product of a query and a key says how well the two match. Divided by √d_k, with padding masked out, "
    "these attention scores go through a softmax: each query gets attention weights over all keys that sum to 1.",
)
st.header(f"One query and one key, layer {view.chosen.layer}, head {view.chosen.head}", anchor=False)
key = attention.choose_key(view)
attention.show_pair(view, key)
attention.show_angles(view, key)
st.header("Every query and every key", anchor=False)
attention.show_maps(view, "products", "scaled", "scores")
st.header("From scores to weights: the softmax", anchor=False)
attention.show_softmax(view, key)
attention.show_shares(view, key)
attention.show_maps(view, "probs")
