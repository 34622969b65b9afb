"""What becomes of an answer while something on the way to it is taken back from its full strength to nothing."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ablation import read_cells
from bertviz_core.formula.address import Address
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.rewrites import SCALE, Rule
from bertviz_core.tracing.trace import Trace

STEPS = 10  # from nothing to full strength
_ORDER = (10, 0, 5, 8, 3, 9, 7, 6, 4, 2, 1)  # coarse first: what is dragged to is soon near something known


@dataclass(frozen=True, eq=False)
class Strengths:
    """Probabilities at strengths from 0 to 1. values: (step, address), the last row at full strength, as they are; NaN
    where they are not known yet."""

    values: np.ndarray


def scale(where: Address, step: int) -> Changes:
    """The change that leaves so many tenths of what stands at an address; at full strength none."""
    return {} if step == STEPS else {where: Rule(f"{SCALE}={step / STEPS:g}")}


def try_strengths(trace: Trace, where: Address, addresses: Sequence[Address]) -> Generator[tuple[float, Strengths]]:
    """The cells at every strength of what stands at an address; what is known after each."""
    values = np.full((STEPS + 1, len(addresses)), np.nan)
    for done, step in enumerate(_ORDER, 1):
        changes = scale(where, step)
        values[step] = read_cells(trace.with_changes(changes) if changes else trace, addresses)
        yield done / len(_ORDER), Strengths(values.copy())
