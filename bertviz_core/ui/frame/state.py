"""What a session remembers: the one module that touches it, but for the URL. All others ask it, by declared keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import streamlit as st

from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.streamlit_costs import find_kept
from bertviz_core.ui.frame.streamlit_inside import keep_undrawn

T = TypeVar("T")
_HALF = re.compile("[\ud800-\udfff]")
_NOTHING = object()
_MANY = 1_000_000  # more than there are of anything
Form = Callable[[object], bool]  # whether something has the form of what a component sends
Sent = Mapping[str, Any] | None  # what a component of ours has sent, by the names of its events


def read(key: Key[T]) -> T:
    """What a widget says, or what else is remembered; the usual value where nothing is."""
    return find_kept(st.session_state, key.name, key.usual)


def find(key: Key[T]) -> T | None:
    """The same; None where nothing is remembered."""
    return find_kept(st.session_state, key.name, None)


def holds(key: Key[Any]) -> bool:
    """Whether anything is remembered."""
    return find_kept(st.session_state, key.name, _NOTHING) is not _NOTHING


def write(key: Key[T], value: T) -> None:
    """Set a widget that is drawn later in this run or in the next one, or remember something else."""
    st.session_state[key.name] = value


def take(key: Key[T]) -> T:
    """`read`, and forget it."""
    return st.session_state.pop(key.name, key.usual) if holds(key) else key.usual


def keep(key: Key[T], forgotten: T | None) -> None:
    """Hold what a widget says through a run that does not draw it. forgotten: what it said, if that is forgotten."""
    keep_undrawn(st.session_state, key.name, forgotten)


def on_event(component: Key[Sent], name: str, act: Callable[[Any], object], form: Form) -> Callable[[], None]:
    """The function to be called for an event of a component of ours: it acts on what was sent.

    What a component sends while the page that it stands on is left arrives when it is gone; that is forgotten, and so
    is what has another form: no component of ours has sent it.
    """

    def take_event() -> None:
        sent = read(component)
        if isinstance(sent, Mapping) and form(sent.get(name)):
            act(sent[name])

    return take_event


def is_text(said: object) -> bool:
    """Whether a component has said a text; halves of characters, which JSON can hold, are none."""
    return isinstance(said, str) and _HALF.search(said) is None


def is_number(said: object) -> bool:
    """Whether it has said which one of many."""
    return isinstance(said, int) and not isinstance(said, bool) and 0 <= said < _MANY


def is_record(said: object) -> bool:
    """Whether it has said several things by name, none of which has parts."""
    if not isinstance(said, Mapping):
        return False
    values = cast("Mapping[object, object]", said).values()
    return all(one is None or isinstance(one, int) or is_text(one) for one in values)


def read_event(component: Key[Sent], name: str) -> Any:
    """What a widget of Streamlit's has just sent, in the function that is called for it."""
    return st.session_state[component.name][name]
