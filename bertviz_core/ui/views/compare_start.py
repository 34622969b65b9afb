"""The page Compare while no second pass was chosen: that what it shows is an example, and what one can compare."""

from __future__ import annotations

import streamlit as st

from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.controls import LONGEST_TEXT
from bertviz_core.ui.frame.example import BANKS
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.second import get_hidden, get_second, tell_refused
from bertviz_core.ui.frame.view import View

_TEXT = Key("compare-another", "")
# A sentence, and the one that it is compared with: one word is another one, or one word means something else.
EXAMPLES = {
    "Rome or Paris": ("When in Rome, do as the [MASK] do.", "When in Paris, do as the [MASK] do."),
    "“bank” in two sentences": BANKS,
}


def show_start(view: View) -> None:
    """The field for a second sentence and examples in one row; nothing once something is compared."""
    if get_second(view) is not None or tell_refused(view):
        return
    hidden = get_hidden(view)
    shown = f"; the example: {escape_markdown(hidden.said)}" if hidden else ""
    with st.container(key="compare-start", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"**Nothing is chosen yet**{shown}", width="content")
        st.text_input(
            "Compare with another sentence",
            key=_TEXT.name,
            max_chars=LONGEST_TEXT,
            placeholder="Compare with …",
            label_visibility="collapsed",
            width=170,
            on_change=_use_text,
        )
        for i, (name, pair) in enumerate(EXAMPLES.items()):
            st.button(name, key=f"compare-example-{i}", on_click=_use_pair, args=pair)


def _use_text() -> None:
    choices.compare_with(state.read(_TEXT).strip())


def _use_pair(text: str, other: str) -> None:
    choices.use_sentence(text)
    choices.compare_with(other)
