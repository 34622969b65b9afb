"""What the model would guess where a token is hidden: one pass for each, and only where somebody asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class Guess:
    """The likeliest entry where a token is hidden. rank: of the token that was typed there, 1 for the likeliest."""

    word: str
    probability: float
    rank: int


def guess_token(trace: Trace, position: int, typed_id: int) -> Guess:
    """What the model guesses at a position where [MASK] stands."""
    probs = trace.recomputed(PROBS.fix(token=position))
    best = rank_top(probs, 1)[0]
    rank = int((probs > probs[typed_id]).sum()) + 1
    return Guess(trace.model.tokenizer.token(best), float(probs[best]), rank)


def guess_tokens(trace: Trace, positions: Iterable[int]) -> dict[int, Guess]:
    """The guess at each of these positions, were its token hidden as well: one pass for each. Remembered."""
    wanted = tuple(positions)
    return remember(trace, f"guesses at {wanted}", lambda: {i: _hide_and_guess(trace, i) for i in wanted})


def _hide_and_guess(trace: Trace, position: int) -> Guess:
    where, mask = Address("input_ids").fix(token=position), trace.model.tokenizer.mask_id
    assert mask is not None
    return guess_token(trace.with_changes({str(where): mask}), position, trace.encoding.ids[position])
