"""The walk back from a number: which operands made it what it is, and the shortest story down to the input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from bertviz_core.formula.address import format_cell, parse
from bertviz_core.formula.cells import At, restrict
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Function
from bertviz_core.formula.nodes import Add, Expr, Sub, Symbol
from bertviz_core.formula.shapes import MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.tracing.trace import Trace

LONGEST_STORY = 80  # steps; a model of 24 layers needs fewer


@dataclass(frozen=True, eq=False)
class Operands:
    """The operands of one cell, each once, in the order of the formula.

    effects: value times derivative, which for a sum of products is the term that the operand stands in.
    """

    addresses: tuple[str, ...]
    values: np.ndarray
    effects: np.ndarray

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
    if why.step is None:
        return Operands((), np.zeros(0), np.zeros(0))
    once: dict[str, tuple[float, float]] = {}
    for (address, value), slope in zip(why.operands, trace.derivatives(why.address), strict=True):
        once[address] = (value, value * slope)
    numbers = np.array(list(once.values()), dtype=np.float64).reshape(-1, 2)
    return Operands(tuple(once), numbers[:, 0], numbers[:, 1])


def split_terms(why: Explanation, found: Operands) -> Terms | None:
    """The cell taken apart into terms that add up to it; None where the formula is no sum of products.

    Both factors of a product have the same effect; the one that stands first in the formula is kept.
    """
    groups: dict[str, list[int]] = {}
    for place, address in enumerate(found.addresses):
        groups.setdefault(address.partition("[")[0], []).append(place)
    kept: list[list[int]] = []
    for places in groups.values():
        effects = found.effects[places]
        again = any(len(other) == len(places) and np.allclose(found.effects[other], effects, rtol=1e-9, atol=1e-12)
                    for other in kept)  # fmt: skip
        if not again and effects.any():
            kept.append(places)
    chosen = np.array([place for places in kept for place in places], dtype=int)
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
    cell_at = {axes[name]: range(i, i + 1) for name, i in parse(why.address).index}
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
    """A function of one number, of every number of `x`."""
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
    where = format_cell(symbol.address, {axis.name: needed[axis].start for axis in symbol.axes if axis in needed})
    return torch.tensor(trace[where]).reshape([1 if axis in needed else -1 for axis in symbol.axes])


def tell_story(trace: Trace, address: str) -> tuple[str, ...]:
    """From a cell back to the input: at every step the recorded operand with the largest effect.

    Ends at a token id, or at a parameter where nothing else is left to follow.
    """
    return tuple(_walk_back(trace, address))


def _walk_back(trace: Trace, address: str) -> Iterator[str]:
    for _ in range(LONGEST_STORY):
        why = trace.explain(address)
        yield why.address
        found = weigh_operands(trace, why)
        if not found.addresses:
            return
        address = _choose_next(trace, found)


def _choose_next(trace: Trace, found: Operands) -> str:
    computed = [i for i in found.strongest(len(found.addresses)) if parse(found.addresses[i]).path in trace.addresses]
    ids = [i for i, address in enumerate(found.addresses) if parse(address).path == "input_ids"]
    return found.addresses[(computed or ids or found.strongest(1))[0]]


def choose_stops(way: tuple[str, ...]) -> list[int]:
    """The places in a story worth a stop: where the token or the component changes, the embeddings, and the end.

    Between two stops the same component of the same token goes through sums, normalizations and functions.
    """
    cells = [parse(address) for address in way]
    leaves = [cell.path.startswith("embeddings.") for cell in cells]
    stops = [i for i in range(len(way)) if not i or cells[i].at != cells[i - 1].at or leaves[i] != leaves[i - 1]]
    return sorted({*stops, len(way) - 1})
