"""Queries, keys and values: one vector a token, turned into three by learned matrices."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import query_key_value

view = page(
    "query_key_value",
    "Three learned matrices turn each token's vector into a query, with which it asks, a key, by which others find it, "
    "and a value, which it hands over. Every head has its own slice of the matrices.",
)
layer, head = view.chosen.layer, view.chosen.head
st.header(f"One token, layer {layer}, head {head}", anchor=False)
name = query_key_value.choose()
query_key_value.one_token(view, name)
st.header("One matrix for all heads", anchor=False)
query_key_value.split(view, name)
st.header(f"All tokens, layer {layer}, head {head}", anchor=False)
query_key_value.all_tokens(view)
end("query_key_value")
