"""The feed-forward network of one layer: every token by itself, widened, activated, narrowed."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import feed_forward, feed_forward_functions, feed_forward_tokens

view = open_page(
    "feed_forward",
    "Each neuron weighs the token's vector, applies the activation function, and adds its direction that strongly.",
    feed_forward.write_headline,
)
feed_forward.show_neurons(view)
feed_forward.show_sum(view)
with fold("neurons", "**All neurons** · of every token, before and after the activation function") as opened:
    if opened:
        feed_forward_tokens.show_neurons(view)
with fold("functions", "**GELU beside ReLU** · and its tanh form") as opened:
    if opened:
        feed_forward_functions.show_functions(view)
with fold("output", "**Output** · of the feed-forward network, for all tokens") as opened:
    if opened:
        feed_forward_tokens.show_output(view)
with fold("table", "**The same, as a table** · every neuron of this token") as opened:
    if opened:
        feed_forward_functions.show_table(view)
