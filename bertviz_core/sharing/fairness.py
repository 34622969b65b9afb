"""Who comes before whom in a line where one is served at a time: no address has it for itself.

Visitors from one address may be one who makes up cookies, or a class; so all of one have no more turns than others do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

OF_ONE_ADDRESS = 0.75  # of the places of those who may wait, or be there


class Asking(Protocol):
    """Who asks for a turn: a visitor, from an address, which is "" where nobody says."""

    @property
    def visitor(self) -> str: ...

    @property
    def near(self) -> str: ...


def is_crowded(line: Sequence[Asking], near: str, most: int) -> bool:
    """Whether of a line with so many places those are taken that one address may have."""
    return bool(near) and sum(other.near == near for other in line) >= OF_ONE_ADDRESS * most


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
