"""What the model would guess where a token is hidden: one pass for each."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.programs.bert import TOKEN_IDS
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class Guess:
    """The likeliest entry where a token is hidden.

    rank: of the token that was typed there, 1 for the likeliest; tied: how many entries are as likely as the likeliest.
    """

    id: int
    word: str
    probability: float
    rank: int
    tied: int

    @property
    def right(self) -> bool:
        """Whether the token that was typed is likelier than every other entry."""
        return self.rank == 1 and self.tied == 1


Guesses = Mapping[int, Guess]  # by position
Hidden = Mapping[int, float | None]  # a number by the position whose token is hidden; None where that cannot be


def guess_token(trace: Trace, position: int, typed_id: int) -> Guess:
    """What the model guesses at a position where [MASK] stands."""
    probs = trace.recomputed(PROBS.fix(token=position))
    best = rank_top(probs, 1)[0]
    rank = int((probs > probs[typed_id]).sum()) + 1
    return Guess(best, trace.model.tokenizer.name(best), float(probs[best]), rank, int((probs == probs[best]).sum()))


def guess_tokens(traces: Sequence[Trace], positions: Sequence[int]) -> Generator[tuple[float, tuple[Guesses, ...]]]:
    """The guess at each of these positions of each pass, were its token hidden as well; what is known after each."""
    found: tuple[dict[int, Guess], ...] = tuple({} for _ in traces)
    pairs = [(guesses, trace, i) for guesses, trace in zip(found, traces, strict=True) for i in positions]
    for done, (guesses, trace, i) in enumerate(pairs, 1):
        guesses[i] = guess_token(hide_token(trace, i), i, trace.encoding.ids[i])
        yield done / len(pairs), tuple(dict(each) for each in found)


def hide_token(trace: Trace, position: int) -> Trace:
    """The pass with [MASK] at a position. Raises InputError where the checkpoint has no mask token."""
    mask = trace.model.tokenizer.mask_id
    if mask is None:
        raise InputError("This checkpoint's vocabulary has no mask token, so none can be hidden. Choose another model.")
    return trace.with_changes({Address(TOKEN_IDS.address).fix(token=position): mask})


def list_hideable(trace: Trace) -> tuple[int, ...]:
    """The positions whose token a [MASK] can stand for: of words and pieces, padding left out."""
    real = set(trace.encoding.real)
    return tuple(i for i in trace.model.tokenizer.maskable(trace.encoding) if i in real)


def measure_hidden(trace: Trace, number: Address, position: int) -> float | None:
    """A number of the pass, were the token at this position hidden; None where that pass cannot be had."""
    try:
        return float(hide_token(trace, position).recomputed(number))
    except InputError:
        return None


def hide_each(trace: Trace, number: Address, positions: Sequence[int]) -> Generator[tuple[float, Hidden]]:
    """A number of the pass with each of these tokens hidden in turn; what is known after each."""
    found: dict[int, float | None] = {}
    for position in positions:
        found[position] = measure_hidden(trace, number, position)
        yield len(found) / len(positions), dict(found)
