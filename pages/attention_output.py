"""Attention's output: values averaged by the shares, heads merged, mixed back into one vector."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import attention_output

view = open_page(
    "attention_output",
    "In every head, a token's output is the sum of all values, each times its attention weight. "
    "The head outputs are concatenated and projected back to the hidden size: the attention output.",
)
st.header(f"The weighted sum, layer {view.chosen.layer}, head {view.chosen.head}", anchor=False)
attention_output.show_brought(view)
st.header("The concatenated heads", anchor=False)
attention_output.show_context(view)
st.header("The output projection", anchor=False)
attention_output.show_heads(view)
attention_output.show_all_tokens(view)
