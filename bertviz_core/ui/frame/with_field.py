"""The field “with …” of pages of two passes: what is set beside that on screen, a sentence, a model or changes."""

from __future__ import annotations

import zlib
from functools import partial

import streamlit as st

from bertviz_core.formula.texts import shorten
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.controls import LONGEST_TEXT
from bertviz_core.ui.frame.keys import AGAINST, CHANGES, WITH, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.menu import show_menu
from bertviz_core.ui.frame.packing import LONGEST
from bertviz_core.ui.frame.resources import list_models, list_own
from bertviz_core.ui.frame.second import get_hidden, get_second, tell_refused
from bertviz_core.ui.frame.view import View

_SHOWN = 44  # characters of what is set beside
_TEXT, _MODEL, _CHANGES = Key("with-text", ""), Key("with-model", ""), Key("with-changes", "", LONGEST)
_NO_MODEL = "the same model"


def show_with(view: View) -> None:
    """What the second pass is, in a menu that chooses another one; and the button that ends the comparison."""
    asked = get_second(view)
    second = asked or get_hidden(view)
    said = shorten(second.said, _SHOWN) if second else "nothing yet"
    now = zlib.crc32("~".join(map(state.read, (WITH, AGAINST, CHANGES))).encode())  # else it is another menu, so closed
    with st.container(key="second-pass", horizontal=True, width="content", wrap=False, gap=None):
        show_menu(f":gray[with] {escape_markdown(said)}", f"with-menu-{now:x}", partial(_show_ways, view, now))
        if asked or state.read(WITH) or state.read(AGAINST):
            st.button(
                "End the comparison",
                key="second-end",
                icon=":material/close:",
                help="End the comparison",
                type="tertiary",
                on_click=_end,
            )


def show_wrong(view: View) -> None:
    """What of the second pass that the URL asks for cannot be had, and why."""
    second = get_second(view)
    for told in filter(None, (tell_refused(view), second.wrong if second else "")):
        st.info(told, icon=":material/info:")


def _end() -> None:
    choices.compare_no_more()
    choices.use_changes("")


def _show_ways(view: View, now: int) -> None:
    text, model, changes = (key.of(f"{now:x}") for key in (_TEXT, _MODEL, _CHANGES))
    st.text_input(
        "Another sentence",
        state.read(WITH),
        max_chars=LONGEST_TEXT,
        key=text.name,
        on_change=_use_text,
        args=(text,),
        placeholder="Read by the same model",
        help="A pair’s second sentence stays the same." if view.pair else None,
    )
    names, free = list_models()
    others = [name for name in dict.fromkeys((*names, *list_own(), state.read(AGAINST))) if name]
    options = [_NO_MODEL, *(name for name in others if name != view.outcome.after.model.name)]
    st.selectbox(
        "Another model",
        options,
        options.index(state.read(AGAINST)) if state.read(AGAINST) in options else 0,
        key=model.name,
        on_change=_use_model,
        args=(model,),
        accept_new_options=free,
        help="All pages then show before, after or the difference, where the two have the same encoder.",
    )
    st.text_input(
        "Changes",
        state.read(CHANGES),
        max_chars=changes.longest,
        key=changes.name,
        on_change=_use_changes,
        args=(changes,),
        placeholder=f"{ATTENTION_WEIGHTS.in_layer(2).fix(head=0)}:0",
        help="Addresses with what to put there, as “What if” writes them into the link; all pages show what moved.",
    )


def _use_text(key: Key[str]) -> None:
    choices.compare_with(state.read(key).strip())
    choices.ask_for_rerun()


def _use_model(key: Key[str]) -> None:
    said = state.read(key)
    choices.compare_with(model="" if said == _NO_MODEL else said)
    choices.ask_for_rerun()


def _use_changes(key: Key[str]) -> None:
    choices.use_changes(state.read(key).strip(), from_fragment=True)
