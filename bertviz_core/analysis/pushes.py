"""Which words a number of the pass pushes up and down: what is without it, as it is set to 0 and the pass run again."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ablation import run_without, run_without_cell
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

WORDS = "vocab"  # the axis of the words


@dataclass(frozen=True)
class Push:
    """What a number does to an answer and to all words beside it.

    without: the answer's probability with the number set to 0; up, down: the ids of the words whose probability falls
    and rises most then; None where the answer is no word, and where none falls or rises.
    """

    without: float
    up: int | None = None
    down: int | None = None


Pushes = Mapping[Address, Push | None]  # by what is set to 0; None where that cannot be


def push_each(
    traces: Sequence[Trace], answer: Address, cells: Sequence[Address]
) -> Generator[tuple[float, tuple[Pushes, ...]]]:
    """What each of these numbers pushes in each pass, set to 0 in turn; what is known after each of them."""
    found: tuple[dict[Address, Push | None], ...] = tuple({} for _ in traces)
    rows = [_read_words(trace, answer) for trace in traces]
    pairs = [(*each, cell) for each in zip(found, traces, rows, strict=True) for cell in cells]
    for done, (known, trace, row, cell) in enumerate(pairs, 1):
        known[cell] = _push(trace, answer, row, cell)
        yield done / len(pairs), tuple(dict(each) for each in found)


def _read_words(trace: Trace, answer: Address) -> np.ndarray | None:
    """The probabilities of all words where the answer is one of them."""
    return trace.recomputed(answer.without(WORDS)) if WORDS in answer.at else None


def _push(trace: Trace, answer: Address, row: np.ndarray | None, cell: Address) -> Push | None:
    """row: (vocab,) the probabilities with the number."""
    if row is None:
        alone = run_without_cell(trace, answer, cell)
        return None if alone is None else Push(alone)
    without = run_without(trace, answer.without(WORDS), cell)
    if without is None:
        return None
    moved = row - without
    up, down = int(moved.argmax()), int(moved.argmin())
    return Push(float(without[answer.at[WORDS]]), up if moved[up] > 0 else None, down if moved[down] < 0 else None)
