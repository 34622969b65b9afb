"""Every step of the pass: its formula, its meaning, its address, its numbers, and the page that shows them all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Said, say
from bertviz_core.analysis.letters import explain_letters
from bertviz_core.analysis.ranking import MASKED, find_limit, find_robust_limit, find_strongest
from bertviz_core.figures.base import Chart
from bertviz_core.figures.step_counts import StageCounts, draw_step_counts
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HEAD, KEY, QUERY
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import Stage, Step
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.formula_line import WORKED, render_letters, render_symbols
from bertviz_core.ui.panels.panel import choose_cell, format_shape, write_value
from bertviz_core.ui.panels.passes import show_passes_chart
from bertviz_core.ui.panels.put import tell_meaning
from bertviz_core.ui.panels.said import tell_count

_HEAD = 1.0  # rows that the head of a card is as high as
_STRIP = 64  # numbers that are drawn of a row
_STYLE = read_css(Path(__file__).with_name("formulas.css"))


def write_headline(view: View) -> Said:
    """How many formulas make the whole pass, and how many numbers they give for this sentence."""
    trace = view.trace
    alike = _list_shown(view)
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


def show_counts(view: View) -> None:
    """How many numbers each step gives, over all layers; the drawer opens with the end of the pass."""
    steps, layers = _list_shown(view), view.trace.model.config.num_hidden_layers
    sizes = _measure_sizes(view, steps)
    inside = sum(sizes[step.address] for step in steps if step.layer is not None)
    heading = Heading(
        "Numbers of each formula",
        "a bar a stage, in the order of the pass; its parts are formulas, each of all layers",
        r"n = n_{\mathrm{once}} + L \, n_{\mathrm{layer}}",
        f"once {sum(sizes.values()) - inside:,}, L = {layers}, layer {inside:,}",
    )
    with open_card(view, "", heading, "of all tensors of the pass", name="step-counts"):
        show_passes_chart(view, [_draw_counts(one) for one in view.passes], "step-counts", heading.see)
    offer_number(_choose(view, _find_end(steps)))


def _draw_counts(view: View) -> Chart:
    steps = _list_shown(view)
    sizes = _measure_sizes(view, steps)
    stages = [_count_stage(view, stage, list(group), sizes) for stage, group in _group(steps)]
    return draw_step_counts(stages, view.colors)


def _measure_sizes(view: View, steps: Sequence[Step]) -> dict[str, int]:
    """How many numbers each step gives in one layer, by address."""
    return {step.address: math.prod(view.trace.shape(step.address)) for step in steps}


def _list_shown(view: View) -> list[Step]:
    """Every step in order; of the encoder's layers, which are alike, the chosen one's."""
    return [step for step in view.trace.program.steps if step.layer in (None, view.chosen.layer)]


def _group(steps: Sequence[Step]) -> Iterator[tuple[Stage, Iterator[Step]]]:
    """Steps of the same stage that follow each other."""
    return groupby(steps, key=lambda step: step.stage)


def _count_stage(view: View, stage: Stage, steps: Sequence[Step], sizes: Mapping[str, int]) -> StageCounts:
    layers = view.trace.model.config.num_hidden_layers
    return StageCounts(
        stage.title,
        [step.address for step in steps],
        [sizes[step.address] * (1 if step.layer is None else layers) for step in steps],
        [view.colors.kinds[step.kind] for step in steps],
    )


def _find_end(steps: Sequence[Step]) -> Step:
    """What the pass ends in: the words, in a model that predicts some."""
    return next((step for step in reversed(steps) if step.stage is Stage.PREDICTIONS), steps[-1])


def show_steps(view: View) -> None:
    """The formulas in a table for each stage."""
    st.html(_STYLE)
    stages = [(stage, list(group)) for stage, group in _group(_list_shown(view))]
    cut = _find_cut([len(steps) + _HEAD for _, steps in stages])
    with st.container(key="steps"):
        for column, part in zip(st.columns(2, gap="small"), (stages[:cut], stages[cut:]), strict=True):
            with column:
                for stage, steps in part:
                    with st.container(key=f"stage-{steps[0].address}", gap=None, border=True):
                        _show_stage(view, stage)
                        st.html(f'<div class="bv-rows">{"".join(render_step(view, step) for step in steps)}</div>')


def _find_cut(heights: Sequence[float]) -> int:
    """Before which card a column ends, so that the two are as high as each other, as far as the order lets them."""
    return min(range(len(heights) + 1), key=lambda i: abs(sum(heights[:i]) - sum(heights[i:])))


def _show_stage(view: View, stage: Stage) -> None:
    """What a stage is called, and the way to its page."""
    info = site.find_page(stage)
    place = f", layer {view.chosen.layer}" if stage.in_layer else ""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", wrap=False):
        st.markdown(f"## {info.title}{place}")
        site.show_link(info, "See all", info.icon)


def _choose(view: View, step: Step) -> Address:
    """The strongest of a step's numbers at the chosen token, in the chosen head, without padding."""
    place, axes = Address(step.address), view.trace.dims(step.address)
    at = {HEAD.name: view.chosen.head} if HEAD.name in axes else {}
    if KEY.name in axes and QUERY.name not in axes:  # keys and values: what the chosen token offers and hands over
        at[KEY.name] = view.chosen.token
    elif KEY.name in axes:
        row = view.trace[place.fix(**at, **{QUERY.name: view.chosen.token})]
        seen = np.isin(np.arange(len(row)), view.trace.encoding.real)
        at[KEY.name] = find_strongest(np.where(seen & (row > MASKED), row, 0.0))
    return choose_cell(view, place, at)


def render_step(view: View, step: Step) -> str:
    """A formula, what it means, its numbers at the chosen token, one after the other on the last axis, and the
    strongest of them, which a click works out; what the letters mean while the formula is pointed at."""
    cell = _choose(view, step)
    axis, _ = cell.index[-1]
    row = view.trace[cell.without(axis)]
    part = row[:_STRIP]
    seen = np.where(part > MASKED, part, 0.0)
    end = find_robust_limit(row)
    strip = draw_thumbnail(seen[None], view.colors, step.kind, end=end)
    drawn = f"{axis} 0 to {len(part) - 1}{f' of {len(row):,}' if len(row) > len(part) else ''}"
    full = _write_ends(end, cut=end < find_limit(row), signed=bool((row < 0).any()))
    told = f"{step.address} {format_shape(view.trace, cell.whole)}; {shorten(view.trace, cell)}; drawn: {drawn}, {full}"
    tex, title = view.typeset(step), f'title="{escape(told)}"'
    return (
        f'<div class="bv-step"><button class="bv-row" data-cell="{escape(str(cell))}">'
        f"{render_symbols(tex)}<span {title}>{escape(tell_meaning(view, cell.whole, step), quote=False)}</span>"
        f'<i {title}><img src="{strip}" alt="" style="width: {min(100, 100 * len(part) / _STRIP):.0f}%"></i>'
        f"<b {title}>{write_value(view, cell)}</b></button>"
        f"{render_letters(explain_letters(tex, view.trace.program), WORKED)}</div>"
    )


def _write_ends(end: float, *, cut: bool, signed: bool) -> str:
    """Where a strip's colours are full. cut: some of the row's numbers lie beyond; signed: some lie below 0."""
    return f"{'±' if signed else '0 … '}{format_short(end)}{' and more' if cut else ''}"
