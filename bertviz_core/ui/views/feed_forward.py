"""One token's neurons: where they stand on the activation's curve, and what the strongest add to the output."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.feed_forward import ACTIVATIONS, apply_activation, compute_contributions, rank_neurons
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.bars import draw_curve
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.programs.config import ACTIVATIONS as FUNCTIONS
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import find_robust_limit
from bertviz_core.ui.panels.panel import show_panel

SHOWN = 12


def show_curve(view: View) -> None:
    """The chosen token's neurons on the activation function, beside the functions that other models use."""
    trace, token = view.trace, view.chosen.token
    before, after = (
        Address.in_layer(view.chosen.layer, f"intermediate.{leaf}").fix(token=token) for leaf in ("dense", "activation")
    )
    x, y = trace[before], trace[after]
    grid = np.linspace(min(x.min(), -3.0) - 0.5, max(x.max(), 3.0) + 0.5, 160)
    own = trace.model.config.hidden_act
    others = {label: apply_activation(name, grid) for name, label in ACTIVATIONS.items() if name != own}
    best = rank_top(y, 5)
    show_panel(
        view,
        after,
        f"The activation function and the neurons of “{trace.tokens[token]}”",
        draw_curve(grid, apply_activation(own, grid), x, y, view.colors, view.colors.kinds["ffn"], others).offer(
            picks.pick_every(trace, after)
        ),
        at={"intermediate": best[0]},
        note=f"{format_percent(float((y > 0).mean()))} of {len(y):,} neurons have an activation above 0. The largest: "
        + ", ".join(f"{i} ({format_number(float(y[i]))})" for i in best)
        + ".",
    )
    with st.expander("Formulas of the activation functions"):
        for name in ACTIVATIONS:
            st.latex(rf"{FUNCTIONS[name].tex}(x) = {FUNCTIONS[name].definition}")


def show_contributions(view: View) -> None:
    """What the neurons that matter most add to the token's output: strength times the neuron's own direction."""
    trace, token = view.trace, view.chosen.token
    layer, output = view.chosen.layer, Address.in_layer(view.chosen.layer, "output.dense")
    strength = trace[Address.in_layer(layer, "intermediate.activation").fix(token=token)]
    directions, output = trace[output.enter("weight")], output.fix(token=token)
    neurons = rank_neurons(strength, directions, SHOWN)
    parts = compute_contributions(strength, directions, neurons)
    names = [f"neuron {i}" for i in neurons]
    chart = draw_heatmap(parts, Side("", names), Side("hidden"), view.colors, end=find_robust_limit(parts))
    total = trace[output]
    sizes = np.linalg.norm(parts, axis=1)
    show_panel(
        view,
        output,
        f"The {len(neurons)} neurons with the largest contributions to “{trace.tokens[token]}”",
        chart.offer(picks.pick_vectors(trace, [output] * len(neurons))),
        note=f"One row per neuron: activation G times its row of W₂. Lengths {format_number(float(sizes[0]))} down to "
        f"{format_number(float(sizes[-1]))}; all {len(strength):,} rows and the bias sum to a vector of length "
        f"{format_number(float(np.linalg.norm(total)))}.",
    )
    st.caption("Ranked by the length of the contribution, not by the activation alone.")
