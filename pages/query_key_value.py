"""Queries, keys and values: one vector a token, turned into three by learned matrices."""

import streamlit as st

from bertviz_core.ui import projections
from bertviz_core.ui.shell import end, page

view = page(
    "query_key_value",
    "Three learned matrices turn each token's vector into a query, with which it asks, a key, by which others find it, "
    "and a value, which it hands over. Every head has its own slice of the matrices.",
)
layer, head = view.chosen.layer, view.chosen.head
st.header(f"One token, layer {layer}, head {head}", anchor=False)
name = projections.choose()
projections.one_token(view, name)
st.header("One matrix for all heads", anchor=False)
projections.split(view, name)
st.header(f"All tokens, layer {layer}, head {head}", anchor=False)
projections.all_tokens(view)
end("query_key_value")
