"""What the feed-forward network makes of every token: its neurons, and its output."""

from __future__ import annotations

from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.panel import show_panel

_WIDE = 18_500  # cells of the two widest maps of the app


def show_neurons(view: View) -> None:
    """All neurons before and after the activation function."""
    for leaf, see in (
        ("intermediate.dense", "Pre-activations: one column per neuron"),
        ("intermediate.activation", "Activations: one column per neuron"),
    ):
        address = Address.in_layer(view.chosen.layer, leaf)
        figure, note = draw_tensor(view, address, cells=_WIDE)
        show_panel(view, address, see, figure, note=note)


def show_output(view: View) -> None:
    """What is added to the residual stream."""
    address = Address.in_layer(view.chosen.layer, "output.dense")
    figure, note = draw_tensor(view, address)
    show_panel(view, address, "Output of the feed-forward network, for all tokens", figure, note=note)
