"""The shortest story: from an answer back to the input, a stop wherever the token or the component changes."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.formula.address import format_cell, join_layer, parse
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.panel import open_card
from bertviz_core.ui.walk.explain import draw_operands, work_out

_CHOICES = 10


def choose_beginning(view: View) -> str:
    """The number whose story is told: a probability to choose, or without any head the last vector's strongest."""
    offered = list_outcomes(view.trace, view.chosen.token, _CHOICES)
    if not offered:
        last = join_layer(view.trace.model.config.num_hidden_layers - 1, "output.LayerNorm")
        at = {"token": view.chosen.token}
        name = format_cell(last, {**at, "hidden": find_strongest(view.trace[format_cell(last, at)])})
        offered = {f"the strongest number of “{view.trace.tokens[view.chosen.token]}” after the last layer": name}
    choice = st.selectbox("The story of", list(offered), key="story-of", bind="query-params", width=420)
    return offered[choice or next(iter(offered))]


def show_story(view: View, start: str) -> None:
    """Every stop on the way from a number down to the input."""
    way = tell_story(view.trace, start)
    stops = choose_stops(way)
    st.caption(
        f"{len(way)} steps, each to the operand with the largest contribution, with a stop wherever the token or the "
        f"component changes: {len(stops)} stops. The rest only passes the same component of the same token on."
    )
    for number, stop in enumerate(stops):
        _show_stop(view, number, way[stop], stop - stops[number - 1] if number else 0)


def _show_stop(view: View, number: int, address: str, steps: int) -> None:
    shown = work_out(view, address)
    kind = shown.why.step.kind if shown.why.step else PARAMETER
    see = f"{number + 1}. {shorten(view.trace, address)} is {format_number(shown.why.value)}"
    with open_card(view, kind, see, address):
        if steps > 1:
            st.caption(f"{steps} steps further back, through sums, normalizations and functions.")
        words, picture = st.columns([3, 2], gap="large")
        with words:
            st.markdown(shown.text)
            link = site.find_link(view.trace, parse(address))
            st.page_link(
                site.list_pages()[link.page.name], label=escape_markdown(f"The page “{link.page.title}”"),
                icon=link.page.icon, query_params=link.query or None,
            )  # fmt: skip
        if shown.why.step is not None:
            with picture:
                draw_operands(view, f"story-{number}", shown)
