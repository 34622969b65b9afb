"""Widgets in a menu that may be closed, and that stand in the URL.

A browser keeps what a widget in a closed menu said, and sends it again with whatever happens next; and it does not
take a value that the session sets meanwhile, but the default, once the menu is opened. So where a link, Back, or
another control has set something else, the widget is made anew, under another key; and its value is its default too.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any, NamedTuple

from bertviz_core.ui.frame import state

_SENTENCES, _MODEL = ("text", "pair"), "model"  # after another one of these there are other tokens
_MADE = "field-of-"  # how often the widget of a parameter was made, and what it says


class Field(NamedTuple):
    """A widget's own key, and what it says unless somebody has just used it."""

    key: str
    value: Any


def begin_count() -> int:
    """Where a session begins to count what it makes anew.

    A browser whose server was started again says what its widgets of the session before said. That is nobody's choice
    in this one: the URL has been opened anew, and may be another by then.
    """
    return secrets.randbelow(1 << 48)


def bind_field(key: str, usual: Any, options: Collection[Any] = ()) -> Field:
    """`state.bind`, for such a widget."""
    state.bind(key, usual, options)
    count, said = state.read(_MADE + key) or (begin_count(), None)
    if said != state.read(key):
        count, said = count + 1, state.read(key)
        state.write(_MADE + key, (count, said))
    return Field(_name_field(key, count), said)


def take_field(key: str) -> None:
    """What the widget says is chosen; where that is another sentence or model, nothing among its tokens is.

    Another model is compared with none.
    """
    count, _ = state.read(_MADE + key)
    said = state.read(_name_field(key, count))
    state.write(_MADE + key, (count, said))
    state.write(key, said)
    state.note_choice()
    if key in _SENTENCES:
        state.forget_tokens()
    elif key == _MODEL:
        state.choose_model(said)


def _name_field(key: str, count: int) -> str:
    return f"{key}-field-{count}"
