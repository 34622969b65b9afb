"""The formula of a card in one line of coloured symbols, with its source."""

from __future__ import annotations

import re
from html import escape

import streamlit as st

from bertviz_core.formula.address import Address
from bertviz_core.formula.markup import flatten, write_html

_TITLE = re.compile(r"(\b(?:19|20)\d\d), [A-Z][^,;]*(?=, (?:eq|sec|fig)\.|;|$)")  # behind the year


def show_formula(tex: str, key: str, source: str = "", cell: Address | None = None) -> None:
    """A formula that never wraps: where it is longer than the card it scrolls in its line, and its source is cut first.

    key: of the card; cell: what a click on it works out with numbers.
    """
    line = flatten(tex)
    try:
        symbols = write_html(line)
    except ValueError:  # it has signs that only KaTeX knows
        _typeset(line, key, source)
        return
    if cell:
        does = f'data-cell="{escape(str(cell))}" title="Work it out with numbers"'
        symbols = f'<button class="bv-worked" {does}>{symbols}</button>'
    st.html(
        f'<div class="bv-formula-line" data-tex="{escape(line)}"><span class="bv-symbols">{symbols}</span>'
        f"{_render_source(source)}</div>"
    )


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
