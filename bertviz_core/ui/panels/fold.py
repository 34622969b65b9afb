"""What a page holds beyond its first panels: folded under a heading that says what it is, drawn when it is opened."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st

from bertviz_core.ui.frame import folds, state
from bertviz_core.ui.frame.keys import Key

_FOLD = Key("fold", False)


@contextmanager
def fold(name: str, title: str) -> Generator[bool]:
    """A fold; gives whether it is open: `with fold("heads", "All heads · of this layer") as opened: if opened: ...`.

    name: in the URL, unique on its page; title: as Markdown, what it shows and what it holds.
    """
    key = _FOLD.of(name)
    state.write(key, folds.is_open(name))
    with st.expander(title, key=key.name, on_change=lambda: folds.turn(name)) as part:
        yield bool(part.open)
