"""A slip: where a document contradicts itself, its own code, arithmetic, or the BERT that it describes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Proof(Enum):
    """What shows a slip."""

    NUMBER = "a number"
    CONTRADICTION = "a contradiction"
    CODE = "its own code"


@dataclass(frozen=True)
class Slip:
    """One slip of a document.

    name: of its own in all documents; where: the formula, section or cell; says, right: what is printed there and what
    it should be, short; proof: what shows it, and shows says how; place: where else than in the list of slips the app
    shows it, a page and the fold on it.
    """

    name: str
    where: str
    says: str
    right: str
    proof: Proof
    shows: str
    place: tuple[str, str] | None = None


NUMBER, CONTRADICTION, CODE = Proof
WORKED = ("documents", "slips-worked")  # those that have a picture on the page of the documents
