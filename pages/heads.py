"""All heads of all layers: one map to choose from, one head token by token, and what heads have in common."""

import streamlit as st

from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.charts import MANY_CELLS, draw_tensor
from bertviz_core.ui.panels.panel import format_shape, open_card, show_panel
from bertviz_core.ui.views.heads import read_heads, show_head_map
from bertviz_core.ui.views.heads_ablation import show_ablation
from bertviz_core.ui.views.heads_numbers import choose_statistic, show_profile, show_statistic, show_table
from bertviz_core.ui.views.heads_token_lines import show_token_lines

view = open_page(
    "heads",
    "Every layer has several attention heads, each with its own queries, keys and values, and so its own attention "
    "weights. This page compares the attention maps of all heads and measures what each head attends to.",
)
layer, head = view.chosen.layer, view.chosen.head
all_heads = read_heads(view.trace)

st.header("All heads of all layers", anchor=False)
show_head_map(view, all_heads)

st.header(f"Layer {layer}, head {head}", anchor=False)
address = Address.in_layer(layer, "attention.self.probs").fix(head=head)
with open_card(view, "attention", "Which token attends to which", f"{address}  {format_shape(view.trace, address)}"):
    lines, numbers = st.columns([3, 2], gap="large")
    with lines:
        show_token_lines(view)
    with numbers:
        show_profile(view, all_heads)
figure, note = draw_tensor(view, address, share=True, end=1.0, cells=MANY_CELLS)
show_panel(view, address, "This head's attention map", figure, note=note or "Each row is a query and sums to 1.")

st.header("What heads attend to, in numbers", anchor=False)
statistic = choose_statistic()
show_statistic(view, all_heads, statistic)
show_table(view, all_heads, statistic)

st.header("Ablation: each head's output set to zero", anchor=False)
show_ablation(view)
