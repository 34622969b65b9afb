"""Every token hidden in turn: what the model would write there, and where what was typed stands; worked out unasked."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.hiding import Guess, Guesses
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import name_token
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.keys import MASK
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.guesses import guess_hidden
from bertviz_core.ui.panels.passes import show_passes_html

_STYLE = read_css(Path(__file__).with_name("predictions_hidden.css"))
_FORMULA = r"\hat{w}_t = \arg\max_v P_{t,v}"
_HEADS = ("typed", "guess", "", "sure", "rank of what was typed")
_HEADS_PUT = ("word", "guess", "", "sure", "rank of the word")  # where a change put another one than was typed
_UNKNOWN = "…"


def show_hidden(view: View, asked: Wanted[tuple[Guesses, ...]]) -> None:
    """A row for each token that can be hidden: what is guessed there without it. asked: these guesses."""
    count = len(view.trace.model.tokenizer.maskable(view.typed))
    heading = Heading(
        "Every token hidden, one at a time",
        "a press hides one in the pass itself",
        _FORMULA,
        f"{count} passes, [MASK] at one t in each",
    )
    with open_card(view, PREDICTION, heading, str(PROBS), name="hidden"):
        show_finding("guesses", asked, partial(_draw, view))


def _draw(view: View, found: Found[tuple[Guesses, ...]]) -> None:
    known = found.value or ({},) * len(view.passes)
    st.html(_STYLE)
    show_passes_html(
        view, [_render(one, {**guess_hidden(one), **others}) for one, others in zip(view.passes, known, strict=True)]
    )
    if told := tell_progress(found, "the tokens hidden"):
        st.caption(told)


def _render(view: View, guesses: Guesses) -> str:
    typed, mask = view.typed, view.trace.model.tokenizer.mask_id
    maskable = {*view.trace.model.tokenizer.maskable(typed)}
    positions = [i for i in range(len(typed)) if i in maskable or typed.ids[i] == mask]
    rows = (_render_row(view, i, guesses.get(i)) for i in positions)
    put = any(view.trace.encoding.ids[i] not in (typed.ids[i], mask) for i in positions)
    table = table_html.write_table(table_html.write_heads(_HEADS_PUT if put else _HEADS), rows)
    return table_html.write_region("What is guessed where a token is hidden", table, "bv-words bv-guesses")


def _render_row(view: View, i: int, guess: Guess | None) -> str:
    typed, masks = view.typed, sorted({*view.masked} ^ {i})
    hidden, mask = i in view.masked, view.trace.model.tokenizer.mask_id
    tokens = typed.tokens if view.trace.encoding.ids[i] == mask else view.trace.tokens
    name = escape(tokens[i])
    if typed.ids[i] == mask:
        written = f"<b>{name}</b>"
    else:
        named = escape(name_token(tokens, i))
        said = f"Show {named} again" if hidden else f"Hide {named} behind [MASK]"
        chosen = f"{MASK.name}={','.join(map(str, masks))}"
        written = f'<button data-choose="{chosen}" title="{said}">{"<b>" * hidden}{name}{"</b>" * hidden}</button>'
    if guess is None:
        return table_html.write_row(written, table_html.write_cells((_UNKNOWN, "", "", "")))
    word = f"{guess.tied:,} tie" if guess.tied > 1 else f"{guess.word}{' ✓' * guess.right}"
    bar = f'<span class="bv-bars"><i style="width:{guess.probability:.2%}"></i></span>'
    rank = "–" if typed.ids[i] == mask else f"{guess.rank:,}"
    cells = (escape(word), bar, format_percent(guess.probability), rank)
    picked = "bv-picked" if i == view.chosen.token else ""
    return table_html.write_row(written, table_html.write_cells(cells), picked)
