"""Every step of the pass: its formula, its meaning, its address, its numbers, and the page that shows them all."""

from __future__ import annotations

import math
from html import escape
from itertools import groupby

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Said, say
from bertviz_core.analysis.ranking import MASKED
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HEAD
from bertviz_core.formula.steps import Stage, Step
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import find_limit
from bertviz_core.ui.panels.panel import choose_cell, format_shape, write_value
from bertviz_core.ui.panels.put import tell_meaning
from bertviz_core.ui.panels.said import tell_count

_STRIP = 64  # numbers that are drawn of a row


def write_headline(view: View) -> Said:
    """How many formulas make the whole pass, and how many numbers they give for this sentence."""
    trace = view.trace
    alike = [step for step in trace.program.steps if step.layer in (None, view.chosen.layer)]
    numbers = sum(math.prod(trace.shape(step.address)) for step in trace.program.steps)
    parts = {
        "formulas": tell_count(len(alike)),
        "layers": tell_count(trace.model.config.num_hidden_layers),
        "numbers": tell_count(numbers),
    }
    start = "What is a pass made of? **{formulas} formulas**, "
    once = trace.model.config.num_hidden_layers == 1
    if trace.changes:
        layers = "its one layer" if once else "each of {layers} layers"
        form = f"{start}some in {layers}; as changed, they give {{numbers}} numbers"
        return say(Claim("formulas and changes", form, parts))
    form = f"{start}those of a layer used {'once' if once else '{layers} times'}, give {{numbers}} numbers"
    return say(Claim("formulas", form, parts))


def show_steps(view: View) -> None:
    """Every step in order; of the encoder's layers, which are alike, the chosen one."""
    trace = view.trace
    shown = [step for step in trace.program.steps if step.layer in (None, view.chosen.layer)]
    with st.container(key="steps"):
        for stage, group in groupby(shown, key=lambda step: step.stage):
            for i, step in enumerate(group):
                with st.container(key=f"step-{step.address}", gap=None, border=True):
                    if not i:
                        _show_stage(view, stage)
                    _show_step(view, step)


def _show_stage(view: View, stage: Stage) -> None:
    """The stage that begins with a step, and the way to its page."""
    info = site.find_page(stage)
    place = f", layer {view.chosen.layer}" if stage.in_layer else ""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", wrap=False):
        st.markdown(f"## {info.title}{place}")
        site.show_link(info, "See all", info.icon)


def _show_step(view: View, step: Step) -> None:
    """A formula, what it means, and its numbers at the chosen token, of which the strongest is worked out."""
    place = Address(step.address)
    head = {HEAD.name: view.chosen.head} if HEAD.name in view.trace.dims(place) else {}
    address = f":small[`{place}` {format_shape(view.trace, place)}]"
    st.markdown(f"$\\displaystyle {view.typeset(step)}$  \n{tell_meaning(view, place, step)}  \n{address}")
    st.html(_render_row(view, step, choose_cell(view, place, head)))


def _render_row(view: View, step: Step, cell: Address) -> str:
    """The numbers that stand beside a cell, one after the other on its last axis, and the cell."""
    axis, _ = cell.index[-1]
    row = view.trace[cell.without(axis)]
    part = row[:_STRIP]
    seen = np.where(part > MASKED, part, 0.0)
    strip = draw_thumbnail(seen[None], view.colors, step.kind, end=find_limit(row))
    drawn = f"{axis} 0 to {len(part) - 1} of {len(row):,}" if len(row) > len(part) else f"{axis} 0 to {len(row) - 1}"
    name, value = escape(shorten(view.trace, cell)), write_value(view, cell)
    return (
        f'<button class="bv-row" data-cell="{escape(str(cell))}" title="{drawn}">'
        f'<img src="{strip}" alt="" style="width: {min(100, 100 * len(part) / _STRIP):.0f}%">'
        f"<span>{name} = <b>{value}</b></span></button>"
    )
