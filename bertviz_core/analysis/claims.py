"""Sentences with numbers as claims: what a sentence says and compares, its numbers, and whether it is true of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

NOTHING = np.zeros(0)
Form = tuple[str, str]  # a claim's name and its sentence


class Relation(StrEnum):
    """How a claim's first part stands to the others, or to the part behind it."""

    SAYS = "says"  # nothing is compared
    LARGEST = "larger than every other, and written as no other is"
    SMALLEST = "smaller than every other, and written as no other is"
    HIGHEST = "no other is larger"
    LOWEST = "no other is smaller"
    TIED = "no other is larger, and another is as large"
    ABOVE = "larger than the second part, and written otherwise"
    SAME = "written like the second part"
    ONLY = "not zero, and every other is"
    NONE = "all are zero"


@dataclass(frozen=True, eq=False)
class Part:
    """What stands in a sentence for a number, a count or a word. write: how it is written, and others beside it."""

    value: Any
    write: Callable[[Any], str] = str

    @property
    def text(self) -> str:
        return self.write(self.value)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Claim:
    """A sentence, or a part of one, that says something of numbers.

    name: unique among all claims; form: the sentence, with the names of the parts in braces; parts: by those names, the
    one first that is compared; others: what it is compared with; at: the places of those that are the part itself,
    where it is among them.
    """

    name: str
    form: str
    parts: Mapping[str, Part]
    relation: Relation = Relation.SAYS
    others: np.ndarray = field(default_factory=lambda: NOTHING)
    at: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The sentence as it is read, Markdown where its parts are."""
        return self.form.format_map(self.parts)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (self,)

    @property
    def first(self) -> Part:
        """The part that is compared."""
        return next(iter(self.parts.values()))

    @property
    def rest(self) -> np.ndarray:
        """The others without the part itself, in float64."""
        return np.delete(np.asarray(self.others, dtype=np.float64).ravel(), list(self.at))

    @property
    def holds(self) -> bool:
        """Whether it is true, also as it is written: one that is written like another is not said to be larger."""
        numbers = [part.value for part in self.parts.values() if not isinstance(part.value, str)]
        finite = bool(np.isfinite([*map(float, numbers)]).all() and np.isfinite(self.rest).all())
        return finite and _CHECKS[self.relation](self)


@dataclass(frozen=True, eq=False)
class Said:
    """A text as a page shows it: plain words that claim nothing, and claims, in order."""

    pieces: tuple[str | Claim, ...]

    @property
    def text(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.text for piece in self.pieces)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Claim))

    def __str__(self) -> str:
        return self.text


def say(*pieces: str | Claim | Said) -> Said:
    """A text out of plain words, claims and texts."""
    return Said(tuple(each for piece in pieces for each in (piece.pieces if isinstance(piece, Said) else (piece,))))


def choose(*ways: Claim | Said) -> Said:
    """The first of several ways to say something of which every claim holds; the last one claims least, and stands in
    for all others."""
    return say(next((way for way in ways if all(claim.holds for claim in way.claims)), ways[-1]))


def say_largest(
    alone: Form, shared: Form, parts: Mapping[str, Part], others: np.ndarray, at: tuple[int, ...] = ()
) -> Said:
    """That the first part is larger than every other, or, where it is not or is not written so, that none is larger."""
    return choose(
        Claim(*alone, parts, Relation.LARGEST, others, at), Claim(*shared, parts, Relation.HIGHEST, others, at)
    )


def say_smallest(
    alone: Form, shared: Form, parts: Mapping[str, Part], others: np.ndarray, at: tuple[int, ...] = ()
) -> Said:
    """That the first part is smaller than every other, or else that none is smaller."""
    return choose(
        Claim(*alone, parts, Relation.SMALLEST, others, at), Claim(*shared, parts, Relation.LOWEST, others, at)
    )


def stands_out(values: np.ndarray, at: int, write: Callable[[float], str]) -> bool:
    """Whether the value at a place, counted through all axes, is larger than every other and written as no other is."""
    part = Part(float(np.ravel(values)[at]), write)
    return Claim("", "", {"value": part}, Relation.LARGEST, values, (at,)).holds


def _is_written_apart(claim: Claim, others: Iterable[float]) -> bool:
    write, text = claim.first.write, claim.first.text
    return all(write(other) != text for other in others)


def _is_extreme(claim: Claim, sign: int) -> bool:
    """Whether it is beyond all others, also as written. Of many others only the next one has to be written."""
    rest = sign * claim.rest
    return not rest.size or bool(
        sign * claim.first.value > rest.max() and _is_written_apart(claim, [sign * float(rest.max())])
    )


def _is_above(claim: Claim) -> bool:
    one, other, *_ = claim.parts.values()
    return one.value > other.value and one.text != other.text


def _is_same(claim: Claim) -> bool:
    one, other, *_ = claim.parts.values()
    return one.text == other.text


_CHECKS: Mapping[Relation, Callable[[Claim], bool]] = {
    Relation.SAYS: lambda _: True,
    Relation.LARGEST: lambda claim: _is_extreme(claim, 1),
    Relation.SMALLEST: lambda claim: _is_extreme(claim, -1),
    Relation.HIGHEST: lambda claim: bool((claim.rest <= claim.first.value).all()),
    Relation.LOWEST: lambda claim: bool((claim.rest >= claim.first.value).all()),
    Relation.TIED: lambda claim: bool(claim.rest.size) and claim.rest.max() == claim.first.value,
    Relation.ABOVE: _is_above,
    Relation.SAME: _is_same,
    Relation.ONLY: lambda claim: bool(claim.first.value) and not claim.rest.any(),
    Relation.NONE: lambda claim: not np.asarray(claim.others).any(),
}
