"""Every step of the pass as a list: its formula, its meaning, its address, and the page that shows its numbers."""

from __future__ import annotations

import math
from itertools import groupby

import streamlit as st

from bertviz_core.formula.steps import Step
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.panel import format_shape


def write_headline(view: View) -> str:
    """How many formulas make the whole pass, and how many numbers they give for this sentence."""
    trace = view.trace
    alike = [step for step in trace.program.steps if step.layer in (None, view.chosen.layer)]
    numbers = sum(math.prod(trace.shape(step.address)) for step in trace.program.steps)
    layers = trace.model.config.num_hidden_layers
    return (
        f"What is a pass made of? **{len(alike)} formulas**, those of a layer used {layers} times, give "
        f"{numbers:,} numbers"
    )


def show_steps(view: View) -> None:
    """Every step in order; of the encoder's layers, which are alike, the chosen one."""
    trace = view.trace
    shown = [step for step in trace.program.steps if step.layer in (None, view.chosen.layer)]
    for i, (stage, group) in enumerate(groupby(shown, key=lambda step: step.stage)):
        info = site.find_page(stage)
        with st.container(border=True, key=f"steps-{i}"):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                layers = trace.model.config.num_hidden_layers
                place = f", layer {view.chosen.layer} of 0 to {layers - 1}" if stage.in_layer else ""
                st.markdown(f"## {info.title}{place}")
                site.show_link(info, "See the values", info.icon)
            st.markdown("\n".join(_write_line(view, step) for step in group))


def _write_line(view: View, step: Step) -> str:
    formula = view.typeset(step)
    address = f":small[`{step.address}` {format_shape(view.trace, step.address)}]"
    return f"- $\\displaystyle {formula}$  \n  {step.meaning}  \n  {address}"
