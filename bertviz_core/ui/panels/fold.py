"""What a page holds beyond its first panels: folded under a heading that says what it is, drawn when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from bertviz_core.ui.frame import state

ALL = "all"  # in the URL: every fold is open
_OPEN = "open"  # what the URL calls the names of the folds that are open on this page


@contextmanager
def fold(name: str, title: str) -> Iterator[bool]:
    """A fold; gives whether it is open: `with fold("heads", "All heads · of this layer") as opened: if opened: ...`.

    name: in the URL, unique on its page; title: as Markdown, what it shows and what it holds.
    """
    key, opened = f"fold-{name}", _read_open()
    state.write(key, name in opened or ALL in opened)
    with st.expander(title, key=key, on_change=lambda: _turn_fold(name)) as part:
        yield bool(part.open)


def _read_open() -> list[str]:
    return [name for name in state.read(_OPEN, "").split(",") if name]


def _turn_fold(name: str) -> None:
    """Open a fold, or close it."""
    opened = _read_open()
    state.choose(_OPEN, ",".join([one for one in opened if one != name] if name in opened else [*opened, name]))
