"""What a LayerNorm takes off a token's vector and divides it by: its mean and its variance, with their addresses."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import read_epsilon
from bertviz_core.analysis.made_from import is_put
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
        st.markdown(f"{_name_moment(view, norm, leaf)}: ${formula}$ &ensp; :small[`{cell}`]{tell_put(view, cell)}")
    variance, put = found["variance"], tell_put(view, norm.enter("normalized").fix(token=view.chosen.token))
    root = math.sqrt(variance + epsilon)
    worked = rf"\sqrt{{{format_latex(variance)} + {format_latex(epsilon)}}} = {format_latex(root)}"
    formula = rf"$\sqrt{{\sigma^2 + \varepsilon}} = {worked}$"
    if format_latex(root) == format_latex(float(_read_input(view, norm).std())):
        st.markdown(f"Standard deviation: {formula}. LayerNorm divides by it.{put}")
    else:
        st.markdown(f"LayerNorm divides by {formula}.{put}")


def _name_moment(view: View, norm: Address, leaf: str) -> str:
    """What a moment is of the chosen token's vector; the variance is taken around the mean that stands there."""
    if leaf == "variance" and is_put(view.trace, norm.enter("mean").fix(token=view.chosen.token)):
        return "Mean squared distance of this token's vector from that"
    return f"{leaf.capitalize()} of this token's vector"


def _read_input(view: View, norm: Address) -> np.ndarray:
    """The chosen token's vector in float64, as the LayerNorm is given it."""
    (given,) = view.trace.step(norm.enter("mean")).leaves
    return view.trace[Address(given.address).fix(token=view.chosen.token)].astype(np.float64)
