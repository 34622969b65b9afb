"""A number that no step computes, with all that the drawer says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import AddressError
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.told import Told
from bertviz_core.ui.walk.card import Card
from bertviz_core.ui.walk.line import Line

NOTE = "worked out from the pass, not one of its steps"


class UnfinishedError(AddressError):
    """A number that is being worked out: to be asked for again in a while."""


@dataclass(frozen=True, kw_only=True)
class WorkedOut(Told):
    """One of these numbers. number: not rounded; value: by default that in full; card, line: what the drawer says of it
    and its formula; awaits: the finding that one of its sentences waits for.
    """

    value: str = ""
    words: str = ""
    formulas: Sequence[str] = ()
    number: float
    card: Card
    line: Line
    awaits: Wanted[Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.value or format_number(self.number))
