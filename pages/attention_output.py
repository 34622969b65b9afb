"""Attention's output: values averaged by the shares, heads merged, mixed back into one vector."""

import streamlit as st

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.views import attention_output

view = open_page(
    "attention_output",
    "The shares now weigh the values: each token takes a little from everyone, in every head. "
    "The heads' results are laid side by side and mixed back into one vector of the model's width.",
)
st.header(f"The weighted sum, layer {view.chosen.layer}, head {view.chosen.head}", anchor=False)
attention_output.show_brought(view)
st.header("All heads, side by side", anchor=False)
attention_output.show_context(view)
st.header("Mixed back into one vector", anchor=False)
attention_output.show_heads(view)
attention_output.show_all_tokens(view)
close_page("attention_output")
