"""How much a head matters to numbers of the pass: what becomes of them when the head is zeroed."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analysis.answers import END, LOGITS, START, find_answer
from bertviz_core.analysis.frames import list_places, make_frame
from bertviz_core.analysis.predictions import PROBS, RELATIONS, SCORES
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.changes import Changes, make_overrides
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import recall, remember, remember_apart
from bertviz_core.tracing.stacked import FEW, list_blocks, run_stacked
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

WORTH = r"w = P - P(A = 0)"  # of a head: with it, less the same with its weights zeroed
_ROUNDED = 32  # units in the last place: by fewer two passes differ because they are rounded, one of them among others
_OFFERED, _SCORES = 5, 8  # words
Without = Mapping[Address, float | None]  # a number by what is set to 0; None where that cannot be


def list_outcomes(trace: Trace, token: int, k: int) -> dict[str, Address]:
    """Probabilities that a head could matter to: address of the cell by what it stands for.

    Words first, then the answers of the other heads; of each of these the likeliest first.
    """
    found: dict[str, Address] = {}
    if PROBS in trace:
        here, name = PROBS.fix(token=token), trace.model.tokenizer.name
        best = rank_top(trace.recomputed(here), k)
        found |= {f"“{name(i)}” at position {token}": here.fix(vocab=i) for i in best}
    for path, axis, labels in (
        ("cls.seq_relationship.probs", "relation", RELATIONS),
        ("classifier.probs", "label", trace.model.labels),
    ):
        if path in trace:
            here = Address(path).fix(token=token) if "token" in trace.dims(path) else Address(path)
            best = rank_top(trace.recomputed(here), len(labels))
            found |= {labels[i]: here.fix(**{axis: i}) for i in best}
    if LOGITS in trace:
        span = find_answer(trace)
        found |= {
            f"an answer from {name_token(trace.tokens, span.start)}": START.enter("probs").fix(start=span.start),
            f"an answer up to {name_token(trace.tokens, span.end)}": END.enter("probs").fix(end=span.end),
        }
    return found


def find_outcomes(trace: Trace, token: int) -> Mapping[str, Address]:
    """The likeliest of these probabilities; none where the checkpoint predicts nothing. Remembered."""
    return remember(trace, f"outcomes at {token}", lambda: list_outcomes(trace, token, _OFFERED))


def list_worked(trace: Trace, token: int) -> tuple[Address, ...]:
    """The cells that are asked of each pass without a head: these probabilities, then what their softmax is made from,
    the scores of the likeliest words. Remembered."""
    outcomes = tuple(find_outcomes(trace, token).values())
    if PROBS not in trace:
        return outcomes
    row = SCORES.fix(token=token)
    scores = remember(trace, f"likeliest scores at {token}", lambda: tuple(rank_top(trace[row], _SCORES)))
    return (*outcomes, *(row.fix(vocab=i) for i in scores))


def cut_place(name: str) -> str:
    """What such a probability stands for, without where a word is predicted; an answer keeps its own place."""
    return name.partition(" at position")[0] if name.startswith("“") else name


def zero_head(layer: int, head: int) -> Changes:
    """The change that lets one head hand on nothing: all its attention weights are 0."""
    return {ATTENTION_WEIGHTS.in_layer(layer).fix(head=head): 0.0}


def drop_zeroed(trace: Trace) -> Changes:
    """What was changed in a pass, without whole heads that were zeroed: all are, in turn, on a map of their worth."""
    if not trace.changes:
        return {}
    config = trace.model.config
    layers, heads = range(config.num_hidden_layers), range(config.num_attention_heads)
    zeros = {where for layer in layers for head in heads for where in zero_head(layer, head)}
    return {where: value for where, value in trace.changes.items() if where not in zeros or value != 0}


def read_cells(trace: Trace, addresses: Sequence[Address]) -> np.ndarray:
    """(address,) cells in float64; those of one softmax are worked out together: each needs its whole row."""
    rows: dict[Address, np.ndarray] = {}
    found: list[float] = []
    for address in addresses:
        axis, i = address.index[-1]
        row = address.without(axis)
        if not isinstance(trace.step(row).expr, Softmax):
            found.append(float(trace.recomputed(address)))
            continue
        if row not in rows:
            rows[row] = trace.recomputed(row)
        found.append(float(rows[row][i]))
    return np.array(found)


def run_without_cell(trace: Trace, address: Address, cell: Address) -> float | None:
    """A cell's value when one number on the way to it is 0; None for itself and for what cannot be set to 0."""
    value = None if cell == address else run_without(trace, address, cell)
    return None if value is None else float(value)


def run_without(trace: Trace, address: Address, cell: Address) -> np.ndarray | None:
    """Numbers in float64 when one on the way to them is 0; None where that cannot be set to 0."""
    if cell.path not in trace.program.by_address:
        return None
    try:
        return trace.with_changes({cell: 0.0}).recomputed(address)
    except BertvizError:
        return None


def zero_each(
    traces: Sequence[Trace], address: Address, cells: Sequence[Address]
) -> Generator[tuple[float, tuple[Without, ...]]]:
    """A cell's value in each pass with each of these numbers set to 0 in turn; what is known after each of them."""
    found: tuple[dict[Address, float | None], ...] = tuple({} for _ in traces)
    pairs = [(known, trace, cell) for known, trace in zip(found, traces, strict=True) for cell in cells]
    for done, (known, trace, cell) in enumerate(pairs, 1):
        known[cell] = run_without_cell(trace, address, cell)
        yield done / len(pairs), tuple(dict(each) for each in found)


@dataclass(frozen=True, eq=False)
class Ablation:
    """Numbers of a pass with every head and without each one, as far as that is known.

    values: (address,) the cells as they are; without: (address, layer, head) the same without that head, NaN where not
    yet known.
    """

    addresses: tuple[Address, ...]
    values: np.ndarray
    without: np.ndarray

    @property
    def most_needed(self) -> tuple[int, int]:
        """The layer and head without which the first of the cells is smallest; all must be known."""
        layer, head = np.unravel_index(int(self.without[0].argmin()), self.without.shape[1:])
        return int(layer), int(head)

    def measure_worth(self, which: int = 0) -> np.ndarray:
        """(layer, head) a cell as it is minus the cell without that head: above 0 where the head raises it.

        which: of the cells that were asked about, in their order. Raises InputError where there are not so many.
        """
        if which not in range(len(self.addresses)):
            raise InputError(
                f"{len(self.addresses)} cells were asked about, so there is none of number {which!r}. Choose one from "
                f"0 to {len(self.addresses) - 1}."
            )
        return self.values[which] - self.without[which]

    def table(self) -> DataFrame:
        """A row for each cell and head: its value, that without the head, and what the head is worth to it."""
        _, layers, heads = self.without.shape
        columns = list_places(address=[str(each) for each in self.addresses], layer=layers, head=heads)
        values = np.repeat(self.values, layers * heads)
        without = self.without.reshape(-1)
        return make_frame({**columns, "value": values, "without": without, "worth": values - without})


def zero_heads(trace: Trace, addresses: Sequence[Address]) -> Generator[tuple[float, Ablation]]:
    """Zero every head in turn, the last layer first, where least has to be computed again; what is known after each of
    the blocks of heads that are run at once."""
    config, where = trace.model.config, tuple(addresses)
    values = lock(read_cells(trace, where))
    without = np.full((len(where), config.num_hidden_layers, config.num_attention_heads), np.nan)
    blocks, done = list_blocks(config.num_attention_heads, len(trace.tokens), FEW), 0
    for layer in reversed(range(config.num_hidden_layers)):
        for block in reversed(blocks):
            without[:, layer, block.start : block.stop] = _run_block(trace, where, layer, block)
            done += len(block)
            yield done / without[0].size, Ablation(where, values, lock(without.copy()))


def run_without_head(trace: Trace, addresses: Sequence[Address], layer: int, head: int) -> np.ndarray:
    """(address,) the cells' values when one head is zeroed: as `zero_heads` found them, or else found alone, which may
    differ in the last digits. Remembered, so that one who looks again sees the same."""
    where, alone = tuple(addresses), range(head, head + 1)
    found = recall(trace, _name_block(where, layer, alone))
    if found is None:
        blocks = list_blocks(trace.model.config.num_attention_heads, len(trace.tokens), FEW)
        block = next(block for block in blocks if head in block)
        if recall(trace, _name_block(where, layer, block)) is not None:
            return _run_block(trace, where, layer, block)[:, head - block.start]
    return _run_block(trace, where, layer, alone)[:, 0]


def _name_block(addresses: tuple[Address, ...], layer: int, block: range) -> str:
    return f"{' '.join(map(str, addresses))} without each of heads {block} of layer {layer}"


def _run_block(trace: Trace, addresses: tuple[Address, ...], layer: int, block: range) -> np.ndarray:
    """(address, head) the cells' values when each head of a block is zeroed. Remembered."""

    own = ATTENTION_WEIGHTS.in_layer(layer)

    def run() -> np.ndarray:
        changes = [zero_head(layer, head).items() for head in block]
        puts = [[put for each in one for put in make_overrides(trace.layout, trace.encoding, *each)] for one in changes]
        without = run_stacked(trace, own.path, puts, addresses).T
        with_it, unit = read_cells(trace, addresses)[:, None], np.finfo(trace[own].dtype).eps
        return lock(np.where(np.abs(without - with_it) < _ROUNDED * unit * np.abs(with_it), with_it, without))

    return remember_apart(trace, _name_block(addresses, layer, block), run)
