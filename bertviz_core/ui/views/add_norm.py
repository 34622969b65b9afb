"""Residual sums and LayerNorms on screen."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import follow_direct_path, normalize_with
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import NORM
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_strips, draw_tensor, find_robust_limit
from bertviz_core.ui.panels.derived import Origin, Values, show_derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel

_SOURCES = {
    "attention.output": ("", "attention.output.dense"),
    "output": ("attention.output.LayerNorm", "output.dense"),
}
EPSILONS = (1e-12, 1e-5, 1e-3)


def show_place(view: View, module: str, title: str) -> None:
    """One Add & Norm: the sum for the chosen token, LayerNorm's inside, and both for all tokens."""
    trace, layer, token = view.trace, view.chosen.layer, view.chosen.token
    st.header(f"{title}, layer {layer}", anchor=False)
    path = Address.in_layer(layer, module)
    before, sublayer = _SOURCES[module]
    x = Address.in_layer(layer, before) if before else _find_input(layer)
    word = f"“{trace.tokens[token]}”"
    rows = [x, Address.in_layer(layer, sublayer), path.enter("residual")]
    show_panel(
        view,
        path.enter("residual"),
        f"Residual sum of {word}: input + sub-layer output",
        draw_strips(view, rows, [trace.step(row).output.variable for row in rows]).offer(
            picks.pick_vectors(trace, [row.fix(token=token) for row in rows])
        ),
        note="Rows are vectors, columns are components, on one scale. The last row is the sum of the two above it.",
    )
    norm = path.enter("LayerNorm")
    _show_inside(view, norm, word)
    figure, note = draw_tensor(view, norm)
    show_panel(view, norm, "LayerNorm output, for all tokens", figure, note=note)


def _find_input(layer: int) -> Address:
    return Address.in_layer(layer - 1, "output.LayerNorm") if layer else Address("embeddings.LayerNorm")


def _show_inside(view: View, norm: Address, word: str) -> None:
    """mean, variance, epsilon, normalized, gamma, beta and the result of the chosen token."""
    trace, token = view.trace, view.chosen.token
    normalized, gamma, beta = (norm.enter(leaf) for leaf in ("normalized", "weight", "bias"))
    rows = [normalized.fix(token=token), gamma, beta, norm.fix(token=token)]
    vectors = np.stack([trace[row] for row in rows])
    names = Side("", ["normalized", "γ", "β", "output"])
    chart = draw_heatmap(vectors, names, Side("hidden"), view.colors, end=find_robust_limit(vectors))
    show_panel(view, normalized, f"LayerNorm of {word}, step by step",
               chart.offer(picks.pick_vectors(trace, rows)),
               note="In every column: output = γ × normalized + β.")  # fmt: skip
    show_moments(view, norm)


def show_epsilon(view: View) -> None:
    """What epsilon changes: the same sum normalized with three of them."""
    trace, token, layer = view.trace, view.chosen.token, view.chosen.layer
    st.header("What is epsilon for?", anchor=False)
    residual = trace[Address.in_layer(layer, "attention.output.residual").fix(token=token)]
    own = normalize_with(residual, trace.model.config.layer_norm_eps)
    rows = []
    for value in EPSILONS:
        other = normalize_with(residual, value)
        flat = normalize_with(np.array([1e-5, -1e-5]), value)
        rows.append({"epsilon": f"{value:g}", "largest change here": format_number(float(np.abs(other - own).max())),
                     "(0.00001, −0.00001) becomes": ", ".join(format_number(float(v)) for v in flat)})  # fmt: skip
    with st.container(border=True):
        st.markdown(
            "ε avoids a division by 0 if the variance is 0. On this token's residual sum it changes almost nothing; "
            "on a vector of two tiny numbers it decides whether they are scaled up to ±1."
        )
        st.dataframe(rows, hide_index=True, width="stretch")


def show_post_or_pre(view: View) -> None:
    """Post-LayerNorm, as in BERT, against pre-LayerNorm: what is left of the embedding on the direct path."""
    trace, token = view.trace, view.chosen.token
    st.header("LayerNorm before or after the sub-layer?", anchor=False)
    names, factors = follow_direct_path(trace, token)
    show_derived(
        view, "direct-path", f"How LayerNorm scales the embedding of “{trace.tokens[token]}”",
        draw_bars(factors, names, view.colors, view.colors.kinds[NORM], name="factor on the embedding"),
        Origin("the variance in every LayerNorm so far", NORM,
               r"\begin{aligned} \text{post:}\ y &= \mathrm{LN}(x + f(x)) \\ \text{pre:}\ y &= x + f(\mathrm{LN}(x)) "
               r"\\ \text{factor} &= \textstyle\prod 1 / \sqrt{\sigma^2 + \varepsilon} \end{aligned}",
               "BERT normalizes after adding (post-LayerNorm), so each LayerNorm divides the embedding by a standard "
               "deviation. With pre-LayerNorm the residual connection leaves it unchanged: factor 1. The chart "
               "multiplies all factors so far, following residual connections only and leaving out γ."),
        values=Values(np.array([factors]), ["factor"], names),
    )  # fmt: skip
