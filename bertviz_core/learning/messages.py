"""What the process that answers visitors and the one that trains say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertviz_core.learning.parcel import Parcel
from bertviz_core.learning.records import PassRecord, StepRecord
from bertviz_core.learning.settings import Settings


@dataclass(frozen=True)
class Begin:
    """Hold a training that has taken no step yet, under the number `training`, and answer `number`."""

    number: int
    training: int
    model: Parcel
    sentences: tuple[str, ...]
    settings: Settings
    only: frozenset[str] | None


@dataclass(frozen=True)
class Advance:
    """Take up to so many steps, for `seconds` if they last longer, and answer `number`."""

    number: int
    training: int
    steps: int
    seconds: float


@dataclass(frozen=True)
class Ask:
    """Answer what is asked of a training, by its name in `QUESTIONS`. until: of the monotonic clock, afterwards nobody
    waits any more."""

    number: int
    training: int
    what: str
    given: tuple[Any, ...]
    until: float


@dataclass(frozen=True)
class Halt:
    """Take no further step now."""

    training: int


@dataclass(frozen=True)
class Drop:
    """Hold a training no more."""

    training: int


@dataclass(frozen=True)
class Progress:
    """What a training has come to since this was last said. asked: words, of those asked for after a pass."""

    training: int
    records: tuple[StepRecord, ...]
    passes: tuple[PassRecord, ...]
    asked: int


@dataclass(frozen=True)
class Answer:
    """To the message of this number. error: why there is none, as an exception of the project's."""

    number: int
    value: Any = None
    error: Exception | None = None
