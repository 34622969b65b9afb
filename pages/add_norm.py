"""Add & Norm: what a sub-layer adds to every token, and the LayerNorm of the sum; one switch for both places."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import add_norm, add_norm_sums

view = open_page(
    "add_norm",
    "A sub-layer's output is added to its input, the residual connection; LayerNorm then sets mean and spread anew.",
    add_norm_sums.write_headline,
)
add_norm_sums.show_sums(view)
add_norm.show_norm(view)
with fold("layers", "**All layers** · how this token's lengths and angles go on") as opened:
    if opened:
        add_norm_sums.show_all_layers(view)
with fold("forgotten", "**Mean and variance** · what the norm forgets") as opened:
    if opened:
        add_norm.show_forgotten(view)
with fold("epsilon", "**Epsilon** · 1e-12, and others") as opened:
    if opened:
        add_norm.show_epsilon(view)
with fold("direct", "**Before or after?** · LayerNorm after the sub-layer, and in front of it") as opened:
    if opened:
        add_norm.show_post_or_pre(view)
with fold("maps", "**All tokens** · the sum and the result, every number") as opened:
    if opened:
        add_norm.show_maps(view)
