"""What a LayerNorm takes off a token's vector and divides it by: its mean and its variance, with their addresses."""

from __future__ import annotations

import math

import streamlit as st

from bertviz_core.analysis.add_norm import read_epsilon
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.passes import show_passes
from bertviz_core.ui.panels.put import tell_put


def show_moments(view: View, norm: Address) -> None:
    """Mean, variance and spread of the chosen token's vector before a LayerNorm."""
    with st.container(border=True):
        show_passes(view, lambda one: _write_moments(one, norm))


def _write_moments(view: View, norm: Address) -> None:
    trace, epsilon = view.trace, read_epsilon(view.trace, norm)
    found: dict[str, float] = {}
    for leaf in ("mean", "variance"):
        cell = norm.enter(leaf).fix(token=view.chosen.token)
        found[leaf] = float(trace[cell])
        formula = f"{trace.step(cell).symbol} = {format_latex(found[leaf])}"
        put = tell_put(view, cell)
        st.markdown(f"{leaf.capitalize()} of this token's vector: ${formula}$ &ensp; :small[`{cell}`]{put}")
    variance, put = found["variance"], tell_put(view, norm.enter("normalized").fix(token=view.chosen.token))
    root = format_latex(math.sqrt(variance + epsilon))
    worked = rf"\sqrt{{{format_latex(variance)} + {format_latex(epsilon)}}} = {root}"
    st.markdown(rf"Standard deviation: $\sqrt{{\sigma^2 + \varepsilon}} = {worked}$. LayerNorm divides by it.{put}")
