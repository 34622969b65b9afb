"""Texts on charts, drawn as they stand, whoever wrote them.

Plotly reads tags, entities and `$` in every text: a word such as `<a href=…>` would be a link. Only what a chart itself
writes as `Rich` keeps its tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from bertviz_core.formula.texts import shorten, spell_controls

LONGEST, LONGEST_TICK = 200, 40  # characters; longer ticks leave a chart no room
_READ = re.compile(r"[&<>$]|(?<=%)\{")  # `%{` begins what a template fills in
_TAG = "<"
_BROKEN_TAG = "<\u200b"  # what is drawn in space knows tags, but no entities


class Rich(str):
    """A text whose tags, entities and placeholders Plotly shall read: written by a chart, other words in it escaped."""

    __slots__ = ()


def escape(text: str, longest: int = LONGEST) -> Rich:
    """What Plotly draws as the given text; a rich one is that already."""
    return text if isinstance(text, Rich) else _escape(text, longest)


@lru_cache(maxsize=4_096)
def _escape(text: str, longest: int) -> Rich:
    """Kept, as a page is drawn again with almost the same texts, and those are many."""
    return Rich(_READ.sub(lambda sign: f"&#{ord(sign[0])};", _show(text, longest)))


def escape_in_space(text: str) -> Rich:
    """`escape`, for the texts of a scene of three dimensions."""
    return text if isinstance(text, Rich) else Rich(_show(text, LONGEST).replace(_TAG, _BROKEN_TAG))


def bold(text: str, draw: Callable[[str], Rich] = escape) -> Rich:
    """The text, as it stands or rich already, in bold. draw: how it is drawn where it stands."""
    return Rich(f"<b>{draw(text)}</b>")


def _show(text: str, longest: int) -> str:
    return spell_controls(shorten(text, longest))
