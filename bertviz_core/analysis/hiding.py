"""What the model would guess where a token is hidden: one pass for each."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.programs.bert import TOKEN_IDS
from bertviz_core.tracing.changes import Override, make_overrides
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import remember_apart
from bertviz_core.tracing.stacked import FEW, list_blocks, run_stacked, run_stacked_row, run_stacked_rows
from bertviz_core.tracing.trace import Trace

_IDS = Address(TOKEN_IDS.address)


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
    return _guess(trace, trace.recomputed(PROBS.fix(token=position)), typed_id)


def _guess(trace: Trace, probs: np.ndarray, typed_id: int) -> Guess:
    best = rank_top(probs, 1)[0]
    rank = int((probs > probs[typed_id]).sum()) + 1
    return Guess(best, trace.model.tokenizer.name(best), float(probs[best]), rank, int((probs == probs[best]).sum()))


def guess_tokens(traces: Sequence[Trace], positions: Sequence[int]) -> Generator[tuple[float, tuple[Guesses, ...]]]:
    """The guess at each of these positions of each pass, were its token hidden as well; what is known after each block
    of passes that are run at once."""
    found: tuple[dict[int, Guess], ...] = tuple({} for _ in traces)
    done = 0
    for guesses, trace in zip(found, traces, strict=True):
        for block in list_blocks(len(positions), len(trace.tokens), FEW):
            here = positions[block.start : block.stop]
            probs = run_stacked_rows(trace, _IDS.path, _hide(trace, here), [PROBS.fix(token=i) for i in here])
            for i, row in zip(here, probs, strict=True):
                guesses[i] = _guess(trace, row, trace.encoding.ids[i])
            done += len(here)
            yield done / (len(traces) * len(positions)), tuple(dict(each) for each in found)


def _hide(trace: Trace, positions: Sequence[int]) -> list[list[Override]]:
    """What each of the passes puts into the ids that hides one of these tokens."""
    mask = _find_mask(trace)
    return [make_overrides(trace.layout, trace.encoding, _IDS.fix(token=i), mask) for i in positions]


def _find_mask(trace: Trace) -> int:
    mask = trace.model.tokenizer.mask_id
    if mask is None:
        raise InputError("This checkpoint's vocabulary has no mask token, so none can be hidden. Choose another model.")
    return mask


def list_hideable(trace: Trace) -> tuple[int, ...]:
    """The positions whose token a [MASK] can stand for: of words and pieces, padding left out."""
    real = set(trace.encoding.real)
    return tuple(i for i in trace.model.tokenizer.maskable(trace.encoding) if i in real)


def read_hidden(trace: Trace, cells: Sequence[Address], position: int) -> np.ndarray:
    """(cell,) numbers of the pass, were the token at this position hidden. Of several tokens the passes are run at
    once, and remembered. Raises InputError where the checkpoint has no mask token."""
    block = _find_block(trace, position)

    def run() -> np.ndarray:
        return lock(run_stacked(trace, _IDS.path, _hide(trace, block), cells))

    found = remember_apart(trace, f"{' '.join(map(str, cells))} with each of tokens {block} hidden", run)
    return found[block.index(position)]


def read_hidden_row(trace: Trace, row: Address, position: int) -> np.ndarray:
    """(cell,) a whole row of numbers of the same pass, the same bit for bit. Raises InputError likewise."""
    block = _find_block(trace, position)

    def run() -> np.ndarray:
        return lock(run_stacked_row(trace, _IDS.path, _hide(trace, block), row)[block.index(position)].copy())

    return remember_apart(trace, f"{row} with token {position} hidden", run)


def _find_block(trace: Trace, position: int) -> list[int]:
    """The tokens that are hidden at once, each in a pass of its own, with this one among them."""
    places = trace.encoding.real
    blocks = (places[block.start : block.stop] for block in list_blocks(len(places), len(trace.tokens), FEW))
    return list(next((block for block in blocks if position in block), [position]))


def measure_hidden(trace: Trace, number: Address, position: int) -> float | None:
    """A number of the pass, were the token at this position hidden; None where that pass cannot be had."""
    try:
        found = float(read_hidden(trace, [number], position)[0])
    except InputError:
        return None
    return found if np.isfinite(found) else None


def hide_each(trace: Trace, number: Address, positions: Sequence[int]) -> Generator[tuple[float, Hidden]]:
    """A number of the pass with each of these tokens hidden in turn; what is known after each."""
    found: dict[int, float | None] = {}
    for position in positions:
        found[position] = measure_hidden(trace, number, position)
        yield len(found) / len(positions), dict(found)
