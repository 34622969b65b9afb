"""Findings on a page: the picture at once, with places for what is worked out meanwhile, which fill by themselves.

Only the part of the page that shows a finding runs again, and only until the finding is over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from bertviz_core.sharing.findings import Found, Work
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import get_findings
from bertviz_core.ui.frame.streamlit_inside import read_session
from bertviz_core.ui.frame.visitor import read_network, read_visitor

T = TypeVar("T")
WAITS = "…".rjust(7, "\N{FIGURE SPACE}")  # for a number not known yet; as wide, so that columns stay
# From one look to the next, for each finding under way: they take turns, so that of many each gets on more slowly. But
# never so long that one would pass for unwanted.
_AFTER_MS, _MOST_AFTER_MS = 400, 4000
_LOOKS = Key("finding-looks", 0)
# Of the name of what looks again. A rule for all of them would be by a part of a class; see style.css.
_TAKES_NO_ROOM = expand(
    "<style>:--layout-wrapper:has(> .st-key-again-{}) {{ position: absolute; width: 0; overflow: hidden; }}</style>"
)
_again = load_component("again")


@dataclass(frozen=True)
class Wanted(Generic[T]):
    """A finding that a page shows. name: what it is, with all that it depends on beside the pass, such as a token;
    trace: the pass that it is about, if it is about one; begin: makes the work."""

    name: tuple[object, ...]
    trace: Trace | None
    begin: Callable[[], Work[T]]

    def look(self) -> Found[T]:
        """What is known by now; the rest is worked out in the background."""
        return get_findings().ask(self._key, self.begin, read_session(), read_visitor(), read_network())

    def recall(self) -> Found[T] | None:
        """What was found before, if it is kept still; nothing is worked out for it."""
        return get_findings().recall(self._key)

    def leave(self) -> Found[T]:
        """What is known by now; this session asks for no more of it."""
        return get_findings().leave(self._key, read_session())

    @property
    def _key(self) -> tuple[object, ...]:
        return (*self.name, *(name_pass(self.trace) if self.trace else ()))


@st.fragment
def show_finding(name: str, asked: Wanted[T], draw: Callable[[Found[T]], object]) -> None:
    """A part of a page that shows a finding as far as it is known, and goes on until it is over.

    name: unique on the page; draw: must give what is not known yet the room that it will take.
    """
    choices.rerun_if_asked()
    found = asked.look()
    with st.container(gap=None):
        draw(found)
    if not found.over:
        look_again(name)


def look_again(name: str) -> None:
    """Have this part of the page run again in a while: another number each time, so that the browser notices."""
    key = _LOOKS.of(name)
    looks = state.read(key) + 1
    state.write(key, looks)
    with st.container(key=f"again-{name}"):
        st.html(_TAKES_NO_ROOM.format(name))
        after = min(_AFTER_MS * max(1, get_findings().count_open()), _MOST_AFTER_MS)
        _again(key=f"again-of-{name}", data={"look": looks, "after": after}, on_again_change=_note_nothing)


def _note_nothing() -> None:
    """That a part of the page runs again is all that is wanted."""


def tell_progress(found: Found[Any], what: str) -> str:
    """How far a finding is, as Markdown; "" where all is known. what: what is counted, such as `heads zeroed`."""
    if found.error:
        return escape_markdown(found.error)
    if found.whole:
        return ""
    share = f"{found.done:.0%} of {what}"
    return f"{share}: the rest would take this server too long." if found.over else f"{share} …"
