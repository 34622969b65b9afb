"""Attention: which token looks at which, from the dot product of a query and a key to the weights of the softmax."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import attention, attention_heads, attention_worked

view = open_page(
    "attention",
    "A query's dot product with every key, divided by the root of a head's width, is made a weight by a softmax.",
    attention.write_headline,
)
key, reason = attention.choose_key(view)
attention.show_weights(view, key)
attention.show_steps(view, key, reason)
count, heads = len(view.trace.tokens), view.trace.model.config.num_attention_heads
if heads > 1:
    with fold("heads", f"**All {heads} heads** · of layer {view.chosen.layer}, side by side") as opened:
        if opened:
            attention_heads.show_heads(view)
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
        attention.show_table(view, key)
