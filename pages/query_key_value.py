"""Queries, keys and values: one vector a token, turned into three by learned matrices."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import query_key_value

view = open_page(
    "query_key_value",
    "Three learned matrices turn each token's vector into a query, a key and a value. A token attends to the tokens "
    "whose keys match its query, and sums up their values. Every head uses its own slice of the matrices.",
)
layer, head = view.chosen.layer, view.chosen.head
st.header(f"One token, layer {layer}, head {head}", anchor=False)
name = query_key_value.choose_projection()
query_key_value.show_token(view, name)
st.header("One matrix for all heads", anchor=False)
query_key_value.show_split(view, name)
st.header(f"All tokens, layer {layer}, head {head}", anchor=False)
query_key_value.show_all_tokens(view)
