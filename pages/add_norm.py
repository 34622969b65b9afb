"""Add & Norm, at both places of a layer: the residual sum, and LayerNorm's inside."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import add_norm

view = open_page(
    "add_norm",
    "Twice in every layer, a sub-layer's output is added to its input: the residual connection. LayerNorm then "
    "normalizes the sum to mean 0 and variance 1, scales it by γ and shifts it by β, both learned.",
)
add_norm.show_place(view, "attention.output", "After attention")
add_norm.show_place(view, "output", "After the feed-forward network")
add_norm.show_epsilon(view)
add_norm.show_post_or_pre(view)
