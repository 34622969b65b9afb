"""Which folds are open: the parts of a page that are drawn only when asked for."""

from __future__ import annotations

from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import OPEN

_ALL = "all"  # in the URL: every fold is open
_MANY = 3  # of them take much longer than a page does


def is_open(name: str) -> bool:
    """Whether the fold of this name is open on this page."""
    return not {name, _ALL}.isdisjoint(_read())


def are_many_open() -> bool:
    """Whether so many are that drawing the page is costly."""
    return _ALL in _read() or len(_read()) >= _MANY


def turn(name: str) -> None:
    """Open a fold, or close it."""
    opened = _read()
    choices.choose({OPEN: ",".join([one for one in opened if one != name] if name in opened else [*opened, name])})


def _read() -> list[str]:
    return [name for name in state.read(OPEN).split(",") if name]
