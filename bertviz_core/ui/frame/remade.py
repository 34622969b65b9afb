"""Menus of what links, Back and other controls choose as well: a layer, a head, a component.

A browser says with every message what its menus show. Where something else has moved the place a menu is made anew,
under another key: what the former one still says then is nobody's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.fields import begin_count
from bertviz_core.ui.frame.keys import Key

# How often the menu of a name was made, and what it said when it was drawn or used last.
_SHOWN: Key[tuple[int, int] | None] = Key("menu-shown", None)
_MENU = Key("made-menu", 0)


def show_remade(
    name: str, label: str, options: Sequence[int], now: int, choose: Callable[[int], object], **looks: Any
) -> None:
    """A menu at what is chosen now. name: of its own among all menus; choose: called with another option."""
    shown = _SHOWN.of(name)
    count, said = state.read(shown) or (begin_count(), now)
    count += said != now
    state.write(shown, (count, now))
    st.selectbox(
        label,
        options,
        options.index(now),
        key=_MENU.of(name, count).name,
        label_visibility="collapsed",
        on_change=_take,
        args=(name, count, now, choose),
        **looks,
    )


def _take(name: str, count: int, now: int, choose: Callable[[int], object]) -> None:
    """Choose what the menu says, if that is another option than it was drawn with."""
    said = state.read(_MENU.of(name, count))
    if said != now:
        state.write(_SHOWN.of(name), (count, said))
        choose(said)
