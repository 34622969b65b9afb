"""The feed-forward network of one layer: every token by itself, widened, activated, narrowed."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.panels.charts import tensor_map
from bertviz_core.ui.panels.panel import panel
from bertviz_core.ui.views import feed_forward

view = page(
    "feed_forward",
    "Each token now works alone: its vector is compared with the weights of many neurons, and each fires or not. "
    "Every neuron that fires adds its own direction to the token's vector.",
)
here = f"encoder.layer.{view.chosen.layer}"
WIDE, NARROW = 18_500, 6_000  # cells of the two widest maps of the app, and of the others

figure, note = tensor_map(view, f"{here}.intermediate.dense", cells=WIDE)
panel(view, f"{here}.intermediate.dense", "Before the activation: one column a neuron", figure, note=note)
feed_forward.on_the_curve(view)
figure, note = tensor_map(view, f"{here}.intermediate.activation", cells=WIDE)
panel(view, f"{here}.intermediate.activation", "After the activation, for all tokens", figure, note=note)

st.header("Back to the model's width", anchor=False)
feed_forward.contributions(view)
figure, note = tensor_map(view, f"{here}.output.dense", cells=NARROW)
panel(view, f"{here}.output.dense", "What all neurons add together, for all tokens", figure, note=note)
end("feed_forward")
