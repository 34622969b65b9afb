"""One quantity in every source's words, side by side: what a reader of one finds in another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.naming import find_noun
from bertviz_core.analysis.notation import AXIS, Entry
from bertviz_core.documents.names import SOURCES
from bertviz_core.formula.texts import write_count
from bertviz_core.programs.names import QUERIES
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import state, style, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.names import IN_CODE, write_name

ENTRY = Key("quantity", QUERIES.in_layers("{i}"))
_STYLE = read_css(Path(__file__).with_name("notation_one.css"))


def find_open(entries: Sequence[Entry]) -> Entry:
    """The quantity that was chosen; to begin with a layer's query."""
    by_key = {entry.names.key: entry for entry in entries}
    url.bind(ENTRY, by_key)
    return by_key[state.read(ENTRY)]


def is_first(entries: Sequence[Entry]) -> bool:
    """Whether the quantity that is open to begin with is among these."""
    return any(entry.names.key == ENTRY.usual for entry in entries)


def show_one(view: View, entry: Entry, symbol: str) -> None:
    """What it is called here and in every source. symbol: ours, as Markdown."""
    called, address = sum(bool(getattr(entry.names, source)) for source in SOURCES), entry.symbol.address
    title = entry.meaning if entry.symbol.kind == AXIS else find_noun(address).title
    see = f"{title[:1].upper()}{title[1:]}: {write_count(called, 'name')} elsewhere"
    about = "" if entry.symbol.kind == AXIS else entry.meaning
    tiles = [_write_tile("here", f"{symbol} {write_name(IN_CODE[0], address)}", "bv-tile bv-here")]
    tiles += [_write_tile(name, write_name(source, getattr(entry.names, source))) for source, name in SOURCES.items()]
    step = view.trace.program.by_address.get(address)
    formula, source = (step.typeset(style.make_painter(view.colors)), step.source) if step else ("", "")
    heading = Heading(see, about, formula, source)
    with open_card(view, entry.symbol.kind, heading, address, name="one-quantity"):
        st.html(_STYLE)
        st.markdown(f'<div class="bv-one">\n\n{"".join(tiles)}\n\n</div>', unsafe_allow_html=True)


def _write_tile(source: str, name: str, look: str = "bv-tile") -> str:
    return f'<span class="{look}"><small>{source}</small><span>{name}</span></span>'
