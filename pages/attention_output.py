"""Attention's output: values averaged by the shares, heads merged, mixed back into one vector."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import attention_output
from bertviz_core.ui.views.attention_output_heads import show_heads
from bertviz_core.ui.views.attention_output_taken import show_taken, write_headline

view = open_page(
    "attention_output",
    "A head output is the sum of the values, each times its attention weight; the output matrix mixes all heads.",
    write_headline,
)
show_taken(view)
show_heads(view)
with fold("values", "**Weighted values** · of the chosen head, component by component, and as a table") as opened:
    if opened:
        attention_output.show_brought(view)
with fold("context", "**The concatenated heads** · all head outputs side by side, for one token and for all") as opened:
    if opened:
        attention_output.show_context(view)
with fold("tokens", "**All tokens** · the attention output of every token") as opened:
    if opened:
        attention_output.show_all_tokens(view)
