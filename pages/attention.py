"""Attention: which token looks at which, from the dot product of a query and a key to the weights of the softmax."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import attention, attention_heads, attention_row, attention_table, attention_worked

view = open_page(
    "attention",
    "A query's dot product with every key, divided by √d_k so that large ones do not take all, is made a weight by "
    "a softmax.",
    attention.write_headline,
)
key, which = attention.choose_key(view)
count = len(view.trace.tokens)
if view.trace.model.config.num_attention_heads > 1:
    weights, heads = st.columns([1 if attention_row.is_square(view) else 2, 1], gap="small")
    with weights:
        attention.show_weights(view, key)
    with heads:
        attention_row.show_row(view)
        attention_heads.show_heads(view)
        attention.show_overview(view)
else:
    attention.show_weights(view, key)
    attention_row.show_row(view)
    attention.show_overview(view)
attention.show_steps(view, key, which)
with fold("product", "**One product taken apart** · query and key, component by component") as opened:
    if opened:
        attention_worked.show_pair(view, key)
with fold("cosines", "**Cosine and length** · the same dot products as geometry") as opened:
    if opened:
        attention_worked.show_angles(view, key)
with fold("softmax", "**Softmax, step by step** · exponentials, their sum, with and without the shift") as opened:
    if opened:
        attention_worked.show_softmax(view, key)
with fold("maps", f"**The scores of all tokens** · products, scaled, masked: 3 × {count} × {count}") as opened:
    if opened:
        attention.show_maps(view)
with fold("table", f"**The same as a table** · {count * count:,} attention weights") as opened:
    if opened:
        attention_table.show_table(view, key)
