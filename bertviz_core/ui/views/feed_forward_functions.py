"""The model's activation function beside those of other models, and the neurons as a table."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.feed_forward import ACTIVATIONS, find_activation, measure_neurons
from bertviz_core.analysis.made_from import is_put, is_put_throughout
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.bars import draw_curve
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import Function
from bertviz_core.formula.numbers import WORTH, format_number
from bertviz_core.formula.steps import FFN
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.passes import show_passes


@derived
def show_functions(view: View) -> Derived:
    """The functions on one axis with this token's neurons; how far ReLU would be from what the model computes."""
    trace, token = view.trace, view.chosen.token
    found = measure_neurons(trace, view.chosen.layer, token)
    own = find_activation(trace, view.chosen.layer)
    rivals = {label: function for function, label in ACTIVATIONS.items() if function != own}
    grid = np.linspace(min(found.before.min(), -3.0) - 0.5, max(found.before.max(), 3.0) + 0.5, 160)
    others = {label: sample_function(rival, grid) for label, rival in rivals.items()}
    after = Address.in_layer(view.chosen.layer, "intermediate.activation").fix(token=token)
    chart = draw_curve(
        grid, sample_function(own, grid), found.before, found.after, view.colors, view.colors.kinds[FFN], others
    )
    given = sample_function(own, found.before)
    apart = {label: np.abs(sample_function(rival, found.before) - given).max() for label, rival in rivals.items()}
    written = " ".join(
        f"{label} would change an activation by at most {format_number(float(most))}." for label, most in apart.items()
    )
    formulas = r" \\ ".join(rf"{each.tex}(x) &= {each.definition}" for each in ACTIVATIONS)
    return Derived(
        "functions",
        "The activation function beside others",
        chart.offer(picks.pick_every(trace, after)),
        Origin(
            after, FFN, rf"\footnotesize\begin{{aligned}} {formulas} \end{{aligned}}", _tell_dots(trace, own, after)
        ),
        values=Values(
            np.stack([found.before, found.after]),
            ["pre-activation", "activation"],
            [str(i) for i in range(len(found.before))],
        ),
        note=written,
    )


def _tell_dots(trace: Trace, own: Function, after: Address) -> str:
    """What the dots are, and the curve. own: the function of the pass; after: the chosen token's activations."""
    if is_put(trace, after):
        them = "them" if is_put_throughout(trace, after) else "some of them"
        return f"The dots are this token's neurons. A change puts {them} there, not the function whose curve is drawn."
    trained = own == trace.model.config.activation
    chosen = "that this model was trained with" if trained else "that a change applies here"
    return f"The dots are this token's neurons, on the function {chosen}."


def show_table(view: View) -> None:
    """Every neuron of the chosen token with its numbers; a click on a column's head sorts."""
    show_passes(view, _show_table)


def _show_table(view: View) -> None:
    found = measure_neurons(view.trace, view.chosen.layer, view.chosen.token)
    columns = {
        "neuron": np.arange(len(found.after)),
        "pre-activation": found.before,
        "activation": found.after,
        "length of row": found.rows,
        "length written": found.lengths,
        "share of sum": found.shares,
    }
    numbers = st.column_config.NumberColumn(format=f"%{WORTH}")
    st.dataframe(
        columns,
        hide_index=True,
        width="stretch",
        height=380,
        column_config=dict.fromkeys([name for name in columns if name != "neuron"], numbers),
    )
