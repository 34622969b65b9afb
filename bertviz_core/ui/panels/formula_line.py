"""The formula of a card in one line of coloured symbols, with its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

import streamlit as st

from bertviz_core.analysis.letters import Letter, explain_letters, write_letter
from bertviz_core.formula.address import Address
from bertviz_core.formula.markup import flatten, measure_ems, write_html
from bertviz_core.formula.steps import Program

_TITLE = re.compile(r"(\b(?:19|20)\d\d), [A-Z][^,;]*(?=, (?:eq|sec|fig)\.|;|$)")  # behind the year
_APART = "\N{EM SPACE}"  # between two formulas of one line

WORKED = "Work it out with numbers"


def show_formula(tex: str, key: str, program: Program, source: str = "", cell: Address | None = None) -> None:
    """A formula in one line: its source gives way first. On a phone several stand one below the other, in letters as
    small as need be; what is longer still scrolls. What its letters mean is shown while it is pointed at, or a key is
    on it.

    key: of the card; program: whose symbols it has; cell: what a click on it works out with numbers.
    """
    line = flatten(tex)
    try:
        symbols = write_html(line)
    except ValueError:  # it has signs that only KaTeX knows
        _typeset(line, key, source)
        return
    letters = render_letters(explain_letters(line, program), WORKED if cell else "")
    parts = symbols.split(_APART)
    symbols, size = f"{_APART}<wbr>".join(parts), f"--ems:{max(map(measure_ems, parts)):.1f}"
    if cell:
        does = f'data-cell="{escape(str(cell))}" aria-description="{WORKED}"'
        symbols = f'<button class="bv-worked" {does}>{symbols}</button>'
    st.html(
        f'<div class="bv-formula-line" data-tex="{escape(line)}"><span class="bv-symbols" style="{size}">{symbols}'
        f"</span>{letters}{_render_source(source)}</div>"
    )


def show_letters(tex: str, program: Program) -> None:
    """What the letters of a formula mean, also where nothing can be pointed at."""
    try:
        meanings = explain_letters(tex, program)
    except ValueError:  # it has signs that only KaTeX knows
        meanings = {}
    if listed := render_letters(meanings):
        st.html(listed)


def render_letters(meanings: Mapping[Letter, str], click: str = "") -> str:
    """A list of what letters mean. click: what a click on the formula does."""
    rows = "".join(
        f"<dt>{write_letter(letter)}</dt><dd>{escape(meaning)}</dd>" for letter, meaning in meanings.items() if meaning
    )
    last = f"<dt>›</dt><dd>{click}</dd>" if click else ""
    return f'<dl class="bv-letters">{rows}{last}</dl>' if rows or last else ""


def render_symbols(tex: str) -> str:
    """A formula in one line as HTML, to stand in a row. Raises ValueError where it has signs that only KaTeX knows."""
    return f'<span class="bv-symbols">{write_html(flatten(tex))}</span>'


def _typeset(line: str, key: str, source: str) -> None:
    with st.container(horizontal=True, wrap=False, gap=None, key=f"formula-line-{key}"):
        st.markdown(f"${line}$")
        st.html(_render_source(source))


def _render_source(source: str) -> str:
    return f'<small title="{escape(source)}">{escape(shorten_source(source))}</small>'


def shorten_source(source: str) -> str:
    """A source without the titles of papers, which its tooltip has: `Vaswani et al. 2017, eq. 1`."""
    return _TITLE.sub(r"\1", source)
