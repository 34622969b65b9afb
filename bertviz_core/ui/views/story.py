"""The shortest story: from an answer back to the input, a stop wherever the token or the component changes."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PARAMETER
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
    way = tell_story(view.trace, start)
    stops = choose_stops(view.trace, way)
    st.caption(
        f"{len(way)} steps, each to the operand with the largest contribution. A stop is where the token or the "
        f"component changes: {len(stops)} stops. The other steps keep both."
    )
    for number, stop in enumerate(stops):
        _show_stop(view, number, way[stop], stop - stops[number - 1] if number else 0)


def _show_stop(view: View, number: int, cell: Address, steps: int) -> None:
    shown = work_out(view, cell)
    kind = shown.why.step.kind if shown.why.step else PARAMETER
    see = f"{number + 1}. {shorten(view.trace, cell)} is {format_number(shown.why.value)}"
    with open_card(view, kind, see, str(cell)):
        if steps > 1:
            st.caption(f"{steps} steps back, through sums, normalizations and functions.")
        words, picture = st.columns([3, 2], gap="large")
        with words:
            st.markdown(shown.text)
            link = site.find_link(view.trace, cell)
            site.show_link(link.page, escape_markdown(f"The page “{link.page.title}”"), link.page.icon, **link.query)
        if shown.why.step is not None:
            with picture:
                draw_operands(view, f"story-{number}", shown)
