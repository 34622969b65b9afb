"""The bar at the top of every page: the sentence as it is read, the place in the model; and the map of the pass."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.formula.texts import shorten
from bertviz_core.ui.frame import example, share, site, state
from bertviz_core.ui.frame.controls import show_sentence_editor
from bertviz_core.ui.frame.keys import LESSON
from bertviz_core.ui.frame.menu import show_menu
from bertviz_core.ui.frame.pages_menu import list_pages
from bertviz_core.ui.frame.resources import BUNDLED
from bertviz_core.ui.frame.style import render_token
from bertviz_core.ui.frame.view import View

_STAGES = tuple(info for info in site.PAGES if info.on_map)
_TWO = tuple(info for info in site.PAGES if info.of_two)
_WHOLE_MODEL = ("heads", "layers", "learn")  # what the bar leads to besides, where it has room
_COLOR = "{} a::before{{background:var(--bv-{})}}"
MARKS = "".join(  # of links to pages, in the colours of what is seen there
    [_COLOR.format(f".st-key-map > :nth-child({i})", info.kind) for i, info in enumerate(_STAGES, 1)]
    + [_COLOR.format(f".st-key-page-of-{info.name}", info.kind) for info in site.PAGES if info.kind]
)
NOTHING_BESIDE = '<i class="bv-nothing" hidden></i>'  # the place that was kept for the drawer is the page's
_LONGEST = 121  # characters of a text that could not be read as tokens


@dataclass(frozen=True)
class Bar:
    """The places of the bar, from left to right; they are filled as far as a run gets."""

    brand: DeltaGenerator
    tokens: DeltaGenerator
    place: DeltaGenerator
    actions: DeltaGenerator

    @classmethod
    def open(cls, page: str) -> Bar:
        """Draw the bar, empty. page: the one that is opened, on which the menu that led there is closed."""
        with st.container(key="bar", horizontal=True, vertical_alignment="center", wrap=False):
            task = '<button class="bv-skip" data-task>To the task</button>' if state.read(LESSON) else ""
            st.html(f'<button class="bv-skip" data-skip>Skip to the first picture</button>{task}', width="content")
            with st.container(width="content"):
                show_menu("Pages", f"menu-{page}", list_pages, icon=":material/menu:")
            brand = st.container(key="brand", width="content")
            tokens = st.container(key="tokens", width="stretch")
            with st.container(key="editing", width="content"):
                show_sentence_editor()
            with st.container(key="whole", horizontal=True, width="content", wrap=False, gap=None):
                for name, says in example.list_queries(_WHOLE_MODEL).items():
                    site.show_link(site.get_page(name), says=says)
            place = st.container(key="place", horizontal=True, vertical_alignment="center", width="content", wrap=False)
            actions = st.container(
                key="actions", horizontal=True, vertical_alignment="center", width="content", wrap=False
            )
            with actions:
                own = st.container(width="content")
                share.show_share()
        return cls(brand, tokens, place, own)

    def show_model(self, name: str) -> None:
        """Whose numbers all pages show, where it is not the model that the visitor finds here."""
        own = "" if name == BUNDLED else _render_model(name)
        self.brand.html(f'<div class="bv-brand"><b>BERT</b>{own}</div>')

    def show_tokens(self, view: View) -> None:
        """The tokens in the order in which they are read, each a button that chooses it."""
        self.tokens.html(_render_tokens(view))

    def show_text(self, text: str) -> None:
        """What was typed, where no tokens could be made of it."""
        self.tokens.html(f'<div class="bv-chips"><span>{escape(shorten(text, _LONGEST))}</span></div>')


def _render_model(name: str) -> str:
    """A model's name without the folder or the account that it lies in; whole where it is pointed at, or read aloud."""
    whole, short = escape(f"Model: {name}"), escape(Path(name).name or name)
    return f'<span class="bv-model" role="note" title="{whole}" aria-label="{whole}">{short}</span>'


def _render_tokens(view: View) -> str:
    chips: list[str] = []
    special = view.trace.model.tokenizer.special_tokens
    for i, token in enumerate(view.trace.tokens):
        checked, stop = ("true", 0) if i == view.chosen.token else ("false", -1)
        means = f'title="{escape(GLOSSARY[token])}" ' if token in GLOSSARY.keys() & special else ""
        does = (
            f'data-token="{i}" role="radio" aria-checked="{checked}" tabindex="{stop}" '
            f'{means}aria-label="token {i} {escape(token)}"'
        )
        chips.append(render_token(view.trace, i, "bv-chip", does=does))
    return f'<div class="bv-chips" role="radiogroup" aria-label="Token" data-roving>{"".join(chips)}</div>'


def show_map(here: site.PageInfo) -> None:
    """The pass as a thin line of stages, in their colours; a click goes there, the page's own place is marked.

    Behind it, apart, the pages that set a second pass beside it.
    """
    queries = example.list_queries([info.name for info in (*_STAGES, *_TWO)])
    with st.container(horizontal=True, key="map", wrap=False, gap=None):
        for info in _STAGES:
            _show_stop(info, here, queries[info.name])
        with st.container(horizontal=True, key="map-two", wrap=False, gap=None, width="content"):
            st.html("<span>two passes</span>", width="content")
            for info in _TWO:
                _show_stop(info, here, queries[info.name])


def _show_stop(info: site.PageInfo, here: site.PageInfo, says: Mapping[str, str]) -> None:
    with st.container(key="map-here", width="content") if info is here else nullcontext():
        site.show_link(info, says=says)
