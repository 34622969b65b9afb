"""The feed-forward network of one layer: every token by itself, widened, activated, narrowed."""

import streamlit as st

from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.views import feed_forward

view = open_page(
    "feed_forward",
    "The feed-forward network reads each token by itself. Each neuron takes a weighted sum of the token's vector (its "
    "pre-activation), applies the activation function, and adds its own direction, times its activation.",
)
before, after, output = (
    Address.in_layer(view.chosen.layer, leaf)
    for leaf in ("intermediate.dense", "intermediate.activation", "output.dense")
)
WIDE = 18_500  # cells of the two widest maps of the app

figure, note = draw_tensor(view, before, cells=WIDE)
show_panel(view, before, "Pre-activations: one column per neuron", figure, note=note)
feed_forward.show_curve(view)
figure, note = draw_tensor(view, after, cells=WIDE)
show_panel(view, after, "Activations: one column per neuron", figure, note=note)

st.header("Back to the hidden size", anchor=False)
feed_forward.show_contributions(view)
figure, note = draw_tensor(view, output)
show_panel(view, output, "Output of the feed-forward network, for all tokens", figure, note=note)
