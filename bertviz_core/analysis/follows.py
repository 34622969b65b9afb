"""Whether the next-sentence head says yes to anything: the same first sentence with other second ones, run in turn."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

FOLLOWS = Address("cls.seq_relationship.probs").fix(relation=0)
_ANOTHER_SUBJECT, _SAME_SCENE = "The committee published its annual report.", "They were very tired."


@dataclass(frozen=True)
class TriedPair:
    """Two sentences. what: how the second came about; share: the probability that it follows, None if too long."""

    what: str
    first: str
    second: str
    share: float | None = None


def list_pairs(first: str, second: str | None) -> tuple[TriedPair, ...]:
    """The pair as written, if it is one, and others to compare it with."""
    own = second or ""
    written = (
        [
            TriedPair("as written", first, own),
            TriedPair("the same, turned around", own, first),
        ]
        if second
        else []
    )
    others = [
        TriedPair("A again", first, first),
        TriedPair("another subject", first, _ANOTHER_SUBJECT),
        TriedPair("perhaps the same scene", first, _SAME_SCENE),
    ]
    order = own.split()
    disorder = [TriedPair("words in disorder", first, " ".join(order[::-1]))] if order != order[::-1] else []
    return (*written, *others, *disorder)


def try_pairs(
    pairs: tuple[TriedPair, ...], run: Callable[[str, str], Trace]
) -> Generator[tuple[float, tuple[TriedPair, ...]]]:
    """Each pair's own pass; what is known after each."""
    found: list[TriedPair] = []
    for pair in pairs:
        found.append(TriedPair(pair.what, pair.first, pair.second, _measure(pair, run)))
        yield len(found) / len(pairs), tuple(found)


def _measure(pair: TriedPair, run: Callable[[str, str], Trace]) -> float | None:
    try:
        return float(run(pair.first, pair.second).recomputed(FOLLOWS))
    except InputError:  # twice a long sentence may be more than the model can read
        return None
