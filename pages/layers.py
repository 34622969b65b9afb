"""How every token's vector moves through the layers, and what could be read from it on the way."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import layers, layers_flow

view = open_page(
    "layers",
    "Every layer takes one vector per token and returns one of the same size. So the vectors of all layers can be "
    "compared: how far each one moves, which become similar, and from which layer on the prediction can be read.",
)
st.header("How far each vector moves", anchor=False)
layers.show_lengths(view)
layers.show_turns(view)
st.header("Which tokens become similar", anchor=False)
layers.show_resemblance(view)
st.header("The path through all layers in one picture", anchor=False)
layers.show_ways(view)
st.header("Logit lens: what the LM head predicts from each layer", anchor=False)
if "cls.predictions.probs" in view.trace:
    layers_flow.show_lens(view)
    layers_flow.show_lens_everywhere(view)
else:
    st.caption("This checkpoint has no LM head (masked language model head), so its vectors give no predictions.")
st.header("Attention rollout: attention traced back to the input tokens", anchor=False)
layers_flow.show_rollout(view)
