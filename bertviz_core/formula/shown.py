"""What a value shows of itself in a notebook: written by a room above, which says so here.

A trace can be drawn, but does not know how: charts are made of traces, not the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WRITERS: dict[str, Callable[..., Any]] = {}


def tell_how(**writers: Callable[..., Any]) -> None:
    """From now on these are called for what has their names, with the value first."""
    _WRITERS.update(writers)


def show(name: str, *given: Any, **more: Any) -> Any:
    """What the writer of this name makes of a value."""
    return _WRITERS[name](*given, **more)
