"""Menus that a page has many of and that are seldom opened: what is in one is made when it is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bertviz_core.ui.frame import choices


@st.fragment
def show_menu(label: str, key: str, draw: Callable[[], object], **looks: Any) -> None:
    """A button that opens a menu; only the menu runs for that. draw: draws what is in it; looks: of the button.

    What is chosen in it may change the whole page: `choices.ask_for_rerun`.
    """
    choices.rerun_if_asked()
    menu = st.popover(label, key=key, on_change="rerun", type="tertiary", **looks)
    if menu.open:
        with menu:
            draw()
