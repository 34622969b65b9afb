"""The shortest story: from an answer back to the input, a stop wherever the token or the component changes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.parts import ALONE, SLOPE, WITHOUT
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.walk import Turn, choose_stops, list_turns
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import site, state
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.panel import open_card
from bertviz_core.ui.walk.explain import draw_operands, work_out

_CHOICES = 10


def choose_beginning(view: View) -> Address:
    """The number whose story is told: a probability to choose, or without any head the last vector's strongest."""
    offered = list_outcomes(view.trace, view.chosen.token, _CHOICES)
    if not offered:
        last = Address.in_layer(view.trace.model.config.num_hidden_layers - 1, "output.LayerNorm")
        row = last.fix(token=view.chosen.token)
        strongest = row.fix(hidden=find_strongest(view.trace[row]))
        offered = {f"the strongest number of “{view.trace.tokens[view.chosen.token]}” after the last layer": strongest}
    state.bind("story-of", next(iter(offered)), offered)
    choice = st.selectbox("The story of", list(offered), key="story-of", width=420)
    return offered[choice or next(iter(offered))]


def show_story(view: View, start: Address) -> None:
    """Every stop on the way from a number down to the input."""
    turns = list_turns(view.trace, start)
    stops = choose_stops(view.trace, [turn.cell for turn in turns])
    st.caption(
        f"{len(turns)} steps, each to the part that counts most of those that depend on the words: in a sum the "
        "largest, in a softmax the score that moves the result most, in attention the value. A stop is where the token "
        f"or the component changes: {len(stops)} stops. The other steps keep both."
    )
    for number, stop in enumerate(stops):
        before = stops[number - 1] if number else stop
        _show_stop(view, number, turns[stop].cell, turns[before:stop])


def _show_stop(view: View, number: int, cell: Address, walked: Sequence[Turn]) -> None:
    """walked: the steps from the stop before, each with the choice that led on."""
    shown = work_out(view, cell)
    kind = shown.why.step.kind if shown.why.step else PARAMETER
    see = f"{number + 1}. {shorten(view.trace, cell)} is {format_number(shown.why.value)}"
    with open_card(view, kind, see, str(cell)):
        said = [f"{len(walked)} steps back, through sums, normalizations and functions."] if len(walked) > 1 else []
        told = [turn for turn in walked if turn is walked[-1] or (turn.choice and turn.choice.measure is WITHOUT)]
        said += [_tell_choice(view.trace, turn) for turn in told]
        said += [_tell_passed(view.trace, turn) for turn in walked]
        if any(said):
            st.caption(escape_markdown(" ".join(filter(None, said))))
        words, picture = st.columns([3, 2], gap="large")
        with words:
            st.markdown(f"{shown.words}\n\n{shown.text}")
            link = site.find_link(view.trace, cell)
            site.show_link(link.page, escape_markdown(f"The page “{link.page.title}”"), link.page.icon, **link.query)
        if shown.why.step is not None:
            with picture:
                draw_operands(view, f"story-{number}", shown)


def _tell_choice(trace: Trace, turn: Turn) -> str:
    """Why the way led here from the number before; nothing where that is made of this number alone."""
    chosen = turn.choice
    if chosen is None or chosen.part.amount is None or chosen.measure in (ALONE, SLOPE):
        return ""
    amount, name = format_number(chosen.part.amount), shorten(trace, turn.cell)
    if chosen.measure is WITHOUT:
        return f"No other score moves {name} as much: without this one it would be {amount}."
    largest = "largest" if chosen.passed is None else "largest that depends on the words"
    return f"Of the {chosen.measure.heading}s of {name} the {largest}: {amount}."


def _tell_passed(trace: Trace, turn: Turn) -> str:
    """A part that counts for more than the one followed, and is no answer to what this sentence did."""
    passed = turn.choice.passed if turn.choice else None
    if turn.choice is None or passed is None or passed.amount is None:
        return ""
    whole, heading, amount = shorten(trace, turn.cell), turn.choice.measure.heading, format_number(passed.amount)
    learned = all(operand.path in trace.model.parameters for operand in passed.operands)
    names = " × ".join(shorten(trace, operand) for operand in passed.operands)
    same = "for every sentence" if learned else "whatever the words are"
    return f"A larger {heading} of {whole} is the same {same}: {names}, {amount}."
