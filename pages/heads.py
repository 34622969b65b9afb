"""All heads of all layers: one map to choose from, one head token by token, and what heads have in common."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.panels.charts import tensor_map
from bertviz_core.ui.panels.panel import card, panel, shape
from bertviz_core.ui.views.heads import head_map, summary
from bertviz_core.ui.views.heads_ablation import ablation
from bertviz_core.ui.views.heads_numbers import head_table, profile, statistic_control, statistic_map
from bertviz_core.ui.views.heads_token_lines import token_lines

view = page(
    "heads",
    "Every layer reads the sentence through several heads, each with queries, keys and values of its own, and each "
    "divides its attention differently. Here they all stand side by side, and rules with numbers say what they do.",
)
layer, head = view.chosen.layer, view.chosen.head
all_heads = summary(view.trace)

st.header("All heads of all layers", anchor=False)
head_map(view, all_heads)

st.header(f"Layer {layer}, head {head}", anchor=False)
address = f"encoder.layer.{layer}.attention.self.probs[head={head}]"
with card(view, "attention", "Who looks at whom", f"{address}  {shape(view.trace, address)}"):
    lines, numbers = st.columns([3, 2], gap="large")
    with lines:
        token_lines(view)
    with numbers:
        profile(view, all_heads)
figure, note = tensor_map(view, address, share=True, end=1.0)
panel(view, address, "The same head as a matrix", figure, note=note or "Each row is a query and sums to 1.")

st.header("What heads do, in numbers", anchor=False)
statistic = statistic_control()
statistic_map(view, all_heads, statistic)
head_table(view, all_heads, statistic)

st.header("What each head is worth", anchor=False)
ablation(view)
end("heads")
