"""One query's row on the sentence itself, where tokens are too many for lines from each to each."""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.figures.tints import tint_cell
from bertviz_core.figures.weights import NAMED
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.labels import tell_left_out
from bertviz_core.ui.frame.style import render_token
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.views.attention_worked import locate, read_row, read_word

WHOLE, WINDOW = 100, NAMED  # tokens of a matrix that is drawn whole; around the chosen one, where there are more

_STYLE = read_css(Path(__file__).with_name("attention_row.css"))


def is_square(view: View) -> bool:
    """Whether the matrix is drawn whole and has more tokens than can be named in it, or joined by lines."""
    return NAMED < len(view.trace.tokens) <= WHOLE


def show_row(view: View) -> None:
    """Every token in the colour of the weight that the chosen one gives it; nothing where lines show that."""
    if not is_square(view):
        return
    address = locate(view, "probs")
    step = view.trace.step(address)
    heading = Heading(
        f"The row of {read_word(view)} on the sentence",
        "each token in the colour of its attention weight",
        view.typeset(step),
    )
    st.html(_STYLE)
    with open_card(view, ATTENTION, heading, address, name="row-on-sentence"):
        show_passes_html(view, [_render_row(one) for one in view.passes])
        if told := tell_left_out(view.trace):
            st.caption(told)


def _render_row(view: View) -> str:
    row = read_row(view, "probs")
    chips = " ".join(_render_chip(view, i, float(row[i])) for i in view.trace.encoding.real)
    return f'<div class="bv-row-tokens" role="group" aria-label="Attention weights of the row">{chips}</div>'


def _render_chip(view: View, i: int, weight: float) -> str:
    """A token that explains its weight."""
    tint = tint_cell(weight, ATTENTION, view.colors)
    said = escape(f"{i} {view.trace.tokens[i]}: {format_percent(weight)}")
    cell = escape(str(locate(view, "probs", query=view.chosen.token, key=i)))
    does = f'data-cell="{cell}" title="{said}" aria-label="{said}" style="background:{tint.back};color:{tint.ink}"'
    return render_token(view.trace, i, *(("bv-own",) if i == view.chosen.token else ()), does=does)
