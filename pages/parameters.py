"""The checkpoint itself: every tensor that was learned, what it is called, how large it is and what it looks like."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import parameters

view = page(
    "parameters",
    "Everything that the model has learned is a list of tensors of numbers; the sentence changes none of them. Here is "
    "the whole list, with the name, the size and the numbers of each.",
)
st.header("The checkpoint", anchor=False)
parameters.checkpoint(view)
st.header("Every tensor", anchor=False)
tensor = parameters.choose(view)
st.header("The chosen tensor", anchor=False)
parameters.names(view, tensor)
parameters.numbers(view, tensor)
parameters.sizes(view, tensor)
parameters.blocks(view, tensor)
end("parameters")
