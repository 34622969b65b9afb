"""Whose training gives way to whose: nobody has the line, or the memory of all trainings, for one address alone.

Visitors from one address may be one who makes up cookies, or a class; so all of one have no more than others do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from bertviz_core.learning.room import Room, measure_together, read_limit

OF_ONE_ADDRESS = 0.75  # of those who may wait
_MUCH = 0.5  # of the memory: an address that holds more gives way to others


class Asking(Protocol):
    """Who asks for a turn: a visitor, from an address, which is "" where nobody says."""

    @property
    def visitor(self) -> str: ...

    @property
    def near(self) -> str: ...

    @property
    def room(self) -> Room: ...


A = TypeVar("A", bound=Asking)


def find_place(line: Sequence[Asking], new: Asking) -> int:
    """Where somebody new stands, behind the first, who runs: addresses take turns, and the visitors from each."""
    addresses, visitors = Counter[str](), Counter[str]()
    for i, other in enumerate(line):
        if other.near == new.near:
            is_later = visitors[other.visitor] > visitors[new.visitor]
        else:
            is_later = addresses[other.near] > addresses[new.near]
        if i and is_later:
            return i
        addresses[other.near] += 1
        visitors[other.visitor] += 1
    return len(line)


def choose_greedy(new: Asking, others: Collection[A], movable: Sequence[A]) -> A | None:
    """Which one gives way to somebody new: the last that can, from an address which holds most of the memory."""
    for other in reversed(movable):
        alike = [one.room for one in others if one.near == other.near]
        if new.near and other.near not in ("", new.near) and measure_together(alike) > _MUCH * read_limit():
            return other
    return None
