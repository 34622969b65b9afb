"""Whether the next-sentence head says yes to anything: the same first sentence with other second ones, run in turn."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

FOLLOWS = Address("cls.seq_relationship.probs").fix(relation=0)
AS_WRITTEN, _SUBJECT = "as written", "another subject"
_ANOTHER_SUBJECT, _SAME_SCENE = "The committee published its annual report.", "They were very tired."


@dataclass(frozen=True)
class TriedPair:
    """Two sentences, or one where the second is "". what: how the second came about; share: the probability that it
    follows, None if too long."""

    what: str
    first: str
    second: str
    share: float | None = None


def list_pairs(first: str, second: str | None) -> tuple[TriedPair, ...]:
    """What is written, and others to compare it with: of a sentence alone, its words for those of the second."""
    own = second or first
    about = f"{_SUBJECT}, turned around"
    turned = ("the same, turned around", own, first) if second else (about, _ANOTHER_SUBJECT, first)
    order = own.split()
    disorder = [("words in disorder", first, " ".join(order[::-1]))] if order != order[::-1] else []
    pairs = [
        (AS_WRITTEN, first, second or ""),
        *([turned] if second else []),
        ("A again", first, first),
        (_SUBJECT, first, _ANOTHER_SUBJECT),
        *([] if second else [turned]),
        ("perhaps the same scene", first, _SAME_SCENE),
        *disorder,
    ]
    return tuple(TriedPair(*pair) for pair in pairs)


def try_pairs(
    pairs: tuple[TriedPair, ...], run: Callable[[str, str | None], Trace]
) -> Generator[tuple[float, tuple[TriedPair, ...]]]:
    """Each pair's own pass; what is known after each."""
    found: list[TriedPair] = []
    for pair in pairs:
        found.append(TriedPair(pair.what, pair.first, pair.second, _measure(pair, run)))
        yield len(found) / len(pairs), tuple(found)


def _measure(pair: TriedPair, run: Callable[[str, str | None], Trace]) -> float | None:
    try:
        return float(run(pair.first, pair.second or None).recomputed(FOLLOWS))
    except InputError:  # twice a long sentence may be more than the model can read
        return None
