"""The feed-forward network of one layer: every token by itself, widened, activated, narrowed."""

import numpy as np
import streamlit as st

from bertviz_core.analysis import activation, top_k
from bertviz_core.figures.bars import curve
from bertviz_core.ui.charts import tensor_map
from bertviz_core.ui.panel import panel
from bertviz_core.ui.shell import end, page

view = page(
    "feed_forward",
    "Each token now works alone: its vector is compared with the weights of many neurons, and each fires or not. "
    "Every neuron that fires adds its own direction to the token's vector.",
)
trace, token = view.trace, view.chosen.token
here = f"encoder.layer.{view.chosen.layer}"
before, after = (f"{here}.intermediate.{leaf}[token={token}]" for leaf in ("dense", "activation"))
word = trace.tokens[token]
CELLS = 20_000  # the two widest maps of the app

figure, note = tensor_map(view, f"{here}.intermediate.dense", cells=CELLS)
panel(view, f"{here}.intermediate.dense", "Before the activation: one column a neuron", figure, note=note)

x, y = trace[before], trace[after]
grid = np.linspace(x.min() - 0.5, x.max() + 0.5, 200)
strongest = top_k(y, 5)
panel(
    view,
    after,
    f"The neurons of “{word}” on the curve",
    curve(
        grid,
        activation(trace.model.config, grid),
        x,
        y,
        view.colors,
        view.colors.kinds["ffn"],
    ),
    at={"intermediate": strongest[0]},
    note=f"{(y > 0).mean():.1%} of {len(y):,} neurons are above 0. Strongest: "
    + ", ".join(f"{i} ({y[i]:.2f})" for i in strongest)
    + ".",
)
figure, note = tensor_map(view, f"{here}.intermediate.activation", cells=CELLS)
panel(view, f"{here}.intermediate.activation", "After the activation, for all tokens", figure, note=note)

st.header("Back to the model's width", anchor=False)
for leaf, see in (
    ("dense", "What the neurons add together"),
    ("residual", "Added to what the token was"),
    ("LayerNorm", "Normalized: what the next layer reads"),
):
    figure, note = tensor_map(view, f"{here}.output.{leaf}", cells=6_000)
    panel(view, f"{here}.output.{leaf}", see, figure, note=note)
end("feed_forward")
