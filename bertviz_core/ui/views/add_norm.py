"""Residual sums and LayerNorms on screen."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import follow_direct_path, normalize_with
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Figure
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.address import Address, join_layer
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import NORM
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_tensor, find_robust_limit
from bertviz_core.ui.panels.derived import Origin, Values, show_derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel

_SOURCES = {
    "attention.output": ("", "attention.output.dense"),
    "output": ("attention.output.LayerNorm", "output.dense"),
}
EPSILONS = (1e-12, 1e-5, 1e-3)
_CELLS = 6_000


def show_place(view: View, module: str, title: str) -> None:
    """One Add & Norm: the sum for the chosen token, LayerNorm's inside, and both for all tokens."""
    trace, layer, token = view.trace, view.chosen.layer, view.chosen.token
    st.header(f"{title}, layer {layer}", anchor=False)
    path = join_layer(layer, module)
    before, sublayer = _SOURCES[module]
    x = join_layer(layer, before) if before else _find_input(layer)
    word = f"“{trace.tokens[token]}”"
    rows = [x, join_layer(layer, sublayer), f"{path}.residual"]
    show_panel(
        view,
        f"{path}.residual",
        f"What {word} was, what is new, and their sum",
        _draw_strips(view, rows),
        note="One row a vector, one column a component, one scale. Every column of the last row sums the two above it.",
        cells=picks.pick_vectors(trace, [f"{row}[token={token}]" for row in rows]),
    )
    _show_inside(view, path, word)
    figure, note = draw_tensor(view, f"{path}.LayerNorm", cells=_CELLS)
    show_panel(view, f"{path}.LayerNorm", "The result for all tokens", figure, note=note)


def _find_input(layer: int) -> str:
    return join_layer(layer - 1, "output.LayerNorm") if layer else "embeddings.LayerNorm"


def _draw_strips(view: View, addresses: list[str]) -> Figure:
    token = view.chosen.token
    vectors = np.stack([view.trace[f"{address}[token={token}]"] for address in addresses])
    names = [view.trace.step(address).output.variable for address in addresses]
    return draw_heatmap(vectors, Side("", names), Side("hidden"), view.colors, end=find_robust_limit(vectors))


def _show_inside(view: View, path: str, word: str) -> None:
    """mean, variance, epsilon, normalized, gamma, beta and the result of the chosen token."""
    trace, token = view.trace, view.chosen.token
    norm = f"{path}.LayerNorm"
    vectors = np.stack(
        [trace[f"{norm}.normalized[token={token}]"], trace[f"{norm}.weight"], trace[f"{norm}.bias"],
         trace[f"{norm}[token={token}]"]]
    )  # fmt: skip
    rows = Side("", ["normalized", "gamma", "beta", "result"])
    chart = draw_heatmap(vectors, rows, Side("hidden"), view.colors, end=find_robust_limit(vectors))
    show_panel(view, f"{norm}.normalized", f"LayerNorm's inside for {word}", chart,
               note="The last row is gamma times the first, plus beta, column by column.",
               cells=picks.pick_vectors(trace, [f"{norm}.normalized[token={token}]", f"{norm}.weight", f"{norm}.bias",
                                                f"{norm}[token={token}]"]))  # fmt: skip
    show_moments(view, Address(norm))


def show_epsilon(view: View) -> None:
    """What epsilon changes: the same sum normalized with three of them."""
    trace, token, layer = view.trace, view.chosen.token, view.chosen.layer
    st.header("What is epsilon for?", anchor=False)
    residual = trace[join_layer(layer, f"attention.output.residual[token={token}]")]
    own = normalize_with(residual, trace.model.config.layer_norm_eps)
    rows = []
    for value in EPSILONS:
        other = normalize_with(residual, value)
        flat = normalize_with(np.array([1e-5, -1e-5]), value)
        rows.append({"epsilon": f"{value:g}", "largest change here": format_number(float(np.abs(other - own).max())),
                     "(0.00001, −0.00001) becomes": ", ".join(format_number(float(v)) for v in flat)})  # fmt: skip
    with st.container(border=True):
        st.markdown(
            "It keeps the division safe where a vector hardly varies. On this token's sum it changes next to nothing; "
            "on a vector of two tiny numbers it decides whether noise is blown up to ±1."
        )
        st.dataframe(rows, hide_index=True, width="stretch")


def show_post_or_pre(view: View) -> None:
    """Post-LayerNorm, as in BERT, against pre-LayerNorm: what is left of the embedding on the direct path."""
    trace, token = view.trace, view.chosen.token
    st.header("Before or after?", anchor=False)
    names, factors = follow_direct_path(trace, token)
    show_derived(
        view, "direct-path", f"What is left of the embedding of “{trace.tokens[token]}”",
        draw_bars(factors, names, view.colors, view.colors.kinds[NORM], name="factor on the embedding"),
        Origin("every LayerNorm's variance so far", NORM,
               r"\begin{aligned} \text{post:}\ y &= \mathrm{LN}(x + f(x)) \\ \text{pre:}\ y &= x + f(\mathrm{LN}(x)) "
               r"\\ \text{factor} &= \textstyle\prod 1 / \sqrt{\sigma^2 + \varepsilon} \end{aligned}",
               "BERT normalizes after adding. So what the token came in with is divided by the spread again at every "
               "place; with the LayerNorm before the sublayer it would be carried on untouched, factor 1. The chart "
               "multiplies all divisors on the direct path so far; gamma is left aside."),
        values=Values(np.array([factors]), ["factor"], names),
    )  # fmt: skip
