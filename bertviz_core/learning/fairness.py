"""Whose training gives way to whose: nobody has the memory of all trainings for one address alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from bertviz_core.learning.room import Room, measure_together, read_limit
from bertviz_core.sharing.fairness import Asking

_MUCH = 0.5  # of the memory: an address that holds more gives way to others


class Holding(Asking, Protocol):
    """Who has memory, or is about to."""

    @property
    def room(self) -> Room: ...


H = TypeVar("H", bound=Holding)


def choose_greedy(new: Asking, others: Collection[H], movable: Sequence[H]) -> H | None:
    """Which one gives way to somebody new: the last that can, from an address which holds most of the memory."""
    for other in reversed(movable):
        alike = [one.room for one in others if one.near == other.near]
        if new.near and other.near not in ("", new.near) and measure_together(alike) > _MUCH * read_limit():
            return other
    return None
