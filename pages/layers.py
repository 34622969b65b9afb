"""How every token's vector moves through the layers, and what could be read from it on the way."""

import streamlit as st

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.views import layers, layers_flow

view = open_page(
    "layers",
    "Every layer reads one vector a token and hands one on, of the same width. So the vectors of all layers can be "
    "compared: how far each one moves, which come together, and when the answer can be read from it.",
)
st.header("How far each vector moves", anchor=False)
layers.show_lengths(view)
layers.show_turns(view)
st.header("Which tokens come together", anchor=False)
layers.show_resemblance(view)
st.header("The whole way in one picture", anchor=False)
layers.show_ways(view)
st.header("What the head would say on the way", anchor=False)
if "cls.predictions.probs" in view.trace:
    layers_flow.show_lens(view)
    layers_flow.show_lens_everywhere(view)
else:
    st.caption("This checkpoint has no masked language model head, so no words can be read from its vectors.")
st.header("Where it all came from", anchor=False)
layers_flow.show_rollout(view)
close_page("layers")
