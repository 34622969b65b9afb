"""The walk back from a number: which operands made it what it is, and the shortest story down to the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from bertviz_core.formula.address import Address, Block
from bertviz_core.formula.cells import At, restrict
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Function
from bertviz_core.formula.nodes import Add, Expr, Sub, Symbol
from bertviz_core.formula.shapes import MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.formula.stages import Stage
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

LONGEST_STORY = 80  # steps; a model of 24 layers needs fewer


@dataclass(frozen=True, eq=False)
class Operands:
    """The operands of one cell, each once, in the order of the formula; a sequence of their addresses.

    blocks: where they lie; kept: the places of the operands among the blocks' cells, counted through; effects: value
    times derivative, which for a sum of products is the term that the operand stands in.
    """

    blocks: tuple[Block, ...]
    kept: np.ndarray
    values: np.ndarray
    effects: np.ndarray

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, place: int) -> Address:
        block = int(self._owners[place])
        return self.blocks[block][int(self.kept[place] - self._starts[block])]

    def __iter__(self) -> Iterator[Address]:
        return (self[place] for place in range(len(self)))

    def group_by_path(self) -> dict[str, np.ndarray]:
        """The places of the operands that lie in each tensor, tensors in the order of the formula."""
        paths = list(dict.fromkeys(block.path for block in self.blocks))
        own = np.array([paths.index(block.path) for block in self.blocks], dtype=int)[self._owners]
        return {path: np.flatnonzero(own == i) for i, path in enumerate(paths)}

    @cached_property
    def _starts(self) -> np.ndarray:
        """Which cell, counted through, is the first of each block."""
        return np.cumsum([0, *map(len, self.blocks)])[:-1]

    @cached_property
    def _owners(self) -> np.ndarray:
        """The block that each operand lies in."""
        return np.searchsorted(self._starts, self.kept, side="right") - 1

    def strongest(self, k: int) -> list[int]:
        """The places of the k operands with the largest effects, largest first.

        Both factors of a product have the same effect but for its last digits: the first in the formula comes first.
        """
        sizes = np.abs(self.effects)
        digits = np.round(sizes / max(sizes.max(initial=0.0), 1e-300), 9)
        return np.argsort(-digits, kind="stable")[:k].tolist()


@dataclass(frozen=True, eq=False)
class Terms:
    """A cell as a sum: operands (by place) with the terms that they stand in, and what the terms add up to."""

    places: np.ndarray
    values: np.ndarray
    total: float


def weigh_operands(trace: Trace, why: Explanation) -> Operands:
    """What a cell is made from. A parameter and an input are made from nothing."""
    blocks = tuple(source.block for source in why.sources)
    kept = np.array(list(_find_first(blocks)), dtype=int)
    values = np.array([value for source in why.sources for value in source.values], dtype=np.float64)
    slopes = np.array(trace.derivatives(why.cell) if why.step else (), dtype=np.float64)
    return Operands(blocks, kept, values[kept], (values * slopes)[kept])


def _find_first(blocks: tuple[Block, ...]) -> Iterator[int]:
    """The places, counted through all blocks, of cells that lie in no block before their own."""
    start = 0
    for i, block in enumerate(blocks):
        before = [other for other in blocks[:i] if other.path == block.path]
        if not before:
            yield from range(start, start + len(block))
        elif block not in before:
            yield from (start + n for n in range(len(block)) if not any(block[n] in other for other in before))
        start += len(block)


def split_terms(why: Explanation, found: Operands) -> Terms | None:
    """The cell taken apart into terms that add up to it; None where the formula is no sum of products.

    Both factors of a product have the same effect; the one that stands first in the formula is kept.
    """
    kept: list[np.ndarray] = []
    for places in found.group_by_path().values():
        effects = found.effects[places]
        again = any(len(other) == len(places) and np.allclose(found.effects[other], effects, rtol=1e-9, atol=1e-12)
                    for other in kept)  # fmt: skip
        if not again and effects.any():
            kept.append(places)
    chosen = np.concatenate([np.zeros(0, dtype=int), *kept])
    total = float(found.effects[chosen].sum())
    scale = float(np.abs(found.effects[chosen]).sum())
    if not len(chosen) or abs(total - why.recomputed) > 1e-9 * max(scale, 1e-12):
        return None
    return Terms(chosen, found.effects[chosen], total)


@dataclass(frozen=True)
class Addend:
    """A part of a sum, with its sign: what it is made from, and its value."""

    symbols: tuple[Symbol, ...]
    value: float


def split_addends(trace: Trace, why: Explanation) -> list[Addend]:
    """The parts of a cell whose formula is a sum, worked out one by one in double precision."""
    assert why.step is not None
    axes = {axis.name: axis for axis in why.step.output.axes}
    cell_at = {axes[name]: range(i, i + 1) for name, i in why.cell.index}
    expr, at = unwrap(why.step.expr, cell_at)
    return [
        Addend(tuple(symbol for symbol, _ in part.operands({}, here)), sign * _work_part(trace, part, here) + 0.0)
        for sign, part in _flatten_sum(expr)
        for here in [restrict(at, part.dims())]
    ]


def unwrap(expr: Expr, at: At = MappingProxyType({})) -> tuple[Expr, At]:
    """What a formula calculates, without what only puts its numbers at other places; and where there a cell stands."""
    while isinstance(expr, Transpose | Rename | SplitHeads | MergeHeads | Select):
        (at,) = expr.pull({}, at)
        expr = expr.inner
    return expr, at


def sample_function(function: Function, x: np.ndarray) -> np.ndarray:
    """A function of one number, of every number of `x`, in float64."""
    return function.of(torch.tensor(x, dtype=torch.float64)).numpy()


def _flatten_sum(expr: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    if isinstance(expr, Add | Sub):
        yield from _flatten_sum(expr.left, sign)
        yield from _flatten_sum(expr.right, -sign if isinstance(expr, Sub) else sign)
    else:
        yield sign, expr


def _work_part(trace: Trace, part: Expr, at: At) -> float:
    """One cell of a part, from the recorded cells that it is made of."""
    cells = {symbol.address: _cut_cells(trace, symbol, needed) for symbol, needed in part.operands({}, at)}
    return part.work(cells, at).item()


def _cut_cells(trace: Trace, symbol: Symbol, needed: At) -> Tensor:
    """The recorded cells, every axis kept in place."""
    where = Address(symbol.address).fix(**{axis.name: needed[axis].start for axis in symbol.axes if axis in needed})
    return torch.tensor(trace[where]).reshape([1 if axis in needed else -1 for axis in symbol.axes])


def tell_story(trace: Trace, cell: Address) -> tuple[Address, ...]:
    """From a cell back to the input: at every step the recorded operand with the largest effect.

    Ends at a token id, or at a parameter where nothing else is left to follow.
    """
    return remember(trace, f"story of {cell}", lambda: tuple(_walk_back(trace, cell)))


def _walk_back(trace: Trace, cell: Address) -> Iterator[Address]:
    for _ in range(LONGEST_STORY):
        why = trace.explain(cell)
        yield why.cell
        found = weigh_operands(trace, why)
        if not len(found):
            return
        cell = _choose_next(trace, found)


def _choose_next(trace: Trace, found: Operands) -> Address:
    groups = found.group_by_path()
    computed = {int(i) for path, places in groups.items() if path in trace.program.by_address for i in places}
    order = found.strongest(len(found))
    ids = groups.get("input_ids", np.array(order[:1]))
    return found[next((i for i in order if i in computed), int(ids[0]))]


def choose_stops(trace: Trace, cells: Sequence[Address]) -> list[int]:
    """The places in a story worth a stop: where the token or the component changes, the embeddings, and the end.

    Between two stops the same component of the same token goes through sums, normalizations and functions.
    """
    embedded = [trace.program.stages[cell.path] is Stage.EMBEDDINGS for cell in cells]
    stops = [i for i in range(len(cells)) if not i or cells[i].at != cells[i - 1].at or embedded[i] != embedded[i - 1]]
    return sorted({*stops, len(cells) - 1})
