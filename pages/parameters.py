"""The checkpoint itself: every tensor that was learned, what it is called, how large it is and what it looks like."""

from functools import partial

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import parameters, parameters_values

view = open_page(
    "parameters",
    "A checkpoint is the file with the learned parameters: tensors, the same for every sentence.",
    parameters.write_headline,
    more=parameters.tell_training,
)
parameters.show_sizes(view)
tensor, window = parameters.choose_tensor(view)
parameters_values.show_numbers(view, tensor, window, partial(parameters.show_names, view, tensor))
if parameters.has_card(view):
    with fold(
        "card", "**Where these numbers come from** · who trained the model, on what, and what it is bad at"
    ) as opened:
        if opened:
            parameters.show_card()
with fold("sizes", "**Distribution of its values** · mean, spread, extremes") as opened:
    if opened:
        parameters_values.show_sizes(view, tensor)
with fold("blocks", "**The whole tensor at once** · a large one in blocks") as opened:
    if opened:
        parameters_values.show_blocks(view, tensor)
with fold("tensors", "**All tensors** · with their shapes, sizes and names") as opened:
    if opened:
        parameters.show_table(view)
with fold("config", "**config.json and the sum of every layer** · what the numbers are used for") as opened:
    if opened:
        parameters.show_config(view)
