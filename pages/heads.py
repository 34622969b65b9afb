"""All heads of all layers: one map to choose from, what each head is worth, and what heads have in common."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.panels.head_maps import read_heads
from bertviz_core.ui.views.heads import show_heads, write_headline
from bertviz_core.ui.views.heads_ablation import ask_worth
from bertviz_core.ui.views.heads_numbers import choose_statistic, show_statistic, show_table, write_rules
from bertviz_core.ui.views.heads_token_lines import show_token_lines

view = open_page(
    "heads",
    "Every head of a layer has queries, keys and values, and so attention weights, of its own: what is each good for?",
    write_headline,
    ask_worth,
)
all_heads = read_heads(view.trace, st.empty())
show_heads(view, all_heads)
with fold("lines", "**Token to token** · this head, or all heads of the layer, as lines between the tokens") as opened:
    if opened:
        show_token_lines(view)
with fold("statistics", "**Statistics** · one number of every head as a map, and all of them as a table") as opened:
    if opened:
        statistic = choose_statistic()
        show_statistic(view, read_heads, statistic)
        show_table(view, read_heads, statistic)
with fold("rules", "**Rules** · what a head must do to have a role, word for word") as opened:
    if opened:
        st.html(write_rules())
