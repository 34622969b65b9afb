"""The checkpoint itself: every tensor that was learned, what it is called, how large it is and what it looks like."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import parameters

view = open_page(
    "parameters",
    "A checkpoint is the file with the learned parameters: a list of tensors, the same for every sentence. This page "
    "lists all of them, with the name, the shape and the values of each.",
)
st.header("The checkpoint", anchor=False)
parameters.show_checkpoint(view)
st.header("Every tensor", anchor=False)
tensor = parameters.choose_tensor(view)
st.header("The chosen tensor", anchor=False)
parameters.show_names(view, tensor)
parameters.show_numbers(view, tensor)
parameters.show_sizes(view, tensor)
parameters.show_blocks(view, tensor)
