"""Add & Norm, at both places of a layer: the residual sum, and LayerNorm's inside."""

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import add_norm

view = page(
    "add_norm",
    "Twice in every layer the new finding is added to what the token was, so that nothing is lost, and the sum is "
    "normalized: shifted to mean 0, divided by its spread, then stretched and shifted as learned.",
)
add_norm.place(view, "attention.output", "After attention")
add_norm.place(view, "output", "After the feed-forward network")
add_norm.epsilon(view)
add_norm.post_or_pre(view)
end("add_norm")
