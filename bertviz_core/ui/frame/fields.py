"""Widgets in a menu that may be closed, and that stand in the URL.

A browser keeps what a widget in a closed menu said, and sends it again with whatever happens next; and it does not
take a value that the session sets meanwhile, but the default, once the menu is opened. So where a link, Back, or
another control has set something else, the widget is made anew, under another key; and its value is its default too.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any, Generic, NamedTuple, TypeVar

from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.keys import MODEL, PAIR, TEXT, Key

_SENTENCES = (TEXT, PAIR)  # after another one of these there are other tokens
# How often the widget of a parameter was made, and what it says.
_MADE: Key[tuple[int, Any] | None] = Key("field-of", None)

T = TypeVar("T")


class Field(NamedTuple, Generic[T]):
    """A widget's own key, and what it says unless somebody has just used it."""

    key: str
    value: T


def begin_count() -> int:
    """Where a session begins to count what it makes anew.

    A browser whose server was started again says what its widgets of the session before said. That is nobody's choice
    in this one: the URL has been opened anew, and may be another by then.
    """
    return secrets.randbelow(1 << 48)


def bind_field(key: Key[T], usual: T | None = None, options: Collection[T] = ()) -> Field[T]:
    """`url.bind`, for such a widget."""
    url.bind(key, options, usual)
    made, now = _MADE.of(key.name), state.read(key)
    count, said = state.read(made) or (begin_count(), None)
    if said != now:
        count += 1
        state.write(made, (count, now))
    return Field(_make_field(key, count).name, now)


def take_field(key: Key[Any]) -> None:
    """What the widget, which stands in a fragment, says is chosen: the whole page runs again.

    Where that is another sentence or model, nothing among its tokens is chosen; another model is compared with none.
    """
    made = _MADE.of(key.name)
    count, _ = state.read(made) or (0, None)
    said = state.read(_make_field(key, count))
    state.write(made, (count, said))
    state.write(key, said)
    url.note_choice()
    if key in _SENTENCES:
        choices.forget_tokens()
    elif key == MODEL:
        choices.choose_model(said)
    choices.ask_for_rerun()


def _make_field(key: Key[T], count: int) -> Key[T]:
    return key.of("field", count)
