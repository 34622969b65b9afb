"""Attention's output: values averaged by the shares, heads merged, mixed back into one vector."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import attention_output

view = page(
    "attention_output",
    "The shares now weigh the values: each token takes a little from everyone, in every head. "
    "The heads' results are laid side by side and mixed back into one vector of the model's width.",
)
st.header(f"The weighted sum, layer {view.chosen.layer}, head {view.chosen.head}", anchor=False)
attention_output.brought(view)
st.header("All heads, side by side", anchor=False)
attention_output.context(view)
st.header("Mixed back into one vector", anchor=False)
attention_output.per_head(view)
attention_output.all_tokens(view)
end("attention_output")
