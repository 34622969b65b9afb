"""What one thing that a document does otherwise changes alone: BERT with it, at one token."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from bertviz_core.analysis.alignment import measure_layers
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.programs.departures import name_program
from bertviz_core.tracing.trace import Trace, run


@dataclass(frozen=True)
class Departed:
    """A departure's pass at one token.

    cosine: of its last layer's vector with BERT's; word, probability: its likeliest entry; answer: the probability of
    the entry that BERT itself finds likeliest. Without a language model head the word is "".
    """

    name: str
    cosine: float
    word: str = ""
    probability: float = 0.0
    answer: float = 0.0


def run_departures(trace: Trace, token: int, names: Sequence[str]) -> Generator[tuple[float, tuple[Departed, ...]]]:
    """Run BERT's pass with each of these departures alone; what is known after each."""
    found: list[Departed] = []
    best = rank_top(trace.recomputed(PROBS.fix(token=token)), 1)[0] if PROBS in trace else None
    for name in names:
        departed = run(trace.model, trace.encoding, program=name_program([name]), cache=trace.cache)
        found.append(_read(name, departed, float(measure_layers(trace, departed)[-1].cosines[token]), token, best))
        yield len(found) / len(names), tuple(found)


def _read(name: str, departed: Trace, cosine: float, token: int, best: int | None) -> Departed:
    if best is None:
        return Departed(name, cosine)
    probs = departed.recomputed(PROBS.fix(token=token))
    own = rank_top(probs, 1)[0]
    return Departed(name, cosine, departed.model.tokenizer.name(own), float(probs[own]), float(probs[best]))
