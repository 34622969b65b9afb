"""Many passes that differ from one in a single tensor, run at once: what is done token by token in one product.

Only what lies above that tensor is computed, and of it what is asked for. A step that mixes tokens, as attention does,
is computed pass by pass.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from bertviz_core.formula.address import Address
from bertviz_core.formula.cells import At, narrow
from bertviz_core.formula.dims import TOKEN, Dims
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import Step, walk_nodes, walk_symbols
from bertviz_core.sharing.threads import use_threads
from bertviz_core.tracing.changes import Override
from bertviz_core.tracing.placing import is_by_token, place_tokens
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

FEW = 48  # tokens of passes that are run at once where others wait meanwhile: more save little
Put = Sequence[Override]  # what one of the passes puts into the tensor
_Row = tuple[Symbol, tuple[int, ...]]  # of a tensor: an index for every axis but the last


def list_blocks(count: int, tokens: int, most: int) -> list[range]:
    """Which of so many passes of a text are run at once. most: tokens of all these passes."""
    at_once = max(1, most // tokens)
    return [range(first, min(first + at_once, count)) for first in range(0, count, at_once)]


def run_stacked(trace: Trace, path: str, puts: Sequence[Put], cells: Sequence[Address]) -> np.ndarray:
    """(pass, cell) in float64: the cells in each of the passes that put numbers into the tensor at a path.

    Where a pass puts nothing new, they are the trace's own.
    """
    found = np.array([[float(trace.recomputed(cell)) for cell in cells]]).repeat(len(puts), 0)
    rows = dict[_Row, list[tuple[int, int]]]()
    for which, cell in enumerate(cells):
        symbol, fixed = trace.layout.one_cell(cell)
        *row, last = (fixed[axis] for axis in symbol.axes)
        rows.setdefault((symbol, tuple(row)), []).append((which, last))
    changed, stack = _stack(trace, path, puts)
    with torch.inference_mode(), use_threads(trace.threads):
        for row, places in rows.items():
            if stack and stack.reaches(row[0].address):
                read = stack.read(row, [last for _, last in places])
                moved = stack.list_moved(row[0], [_find_token(row)] * len(changed))
                there = np.ix_([changed[i] for i in moved], [which for which, _ in places])
                found[there] = read[moved]
    return lock(found)


def run_stacked_row(trace: Trace, path: str, puts: Sequence[Put], row: Address) -> np.ndarray:
    """(pass, cell) in float64: the same of all cells of one row, whose last axis alone is not fixed."""
    found = np.array([trace.recomputed(row)], dtype=np.float64).repeat(len(puts), 0)
    changed, stack = _stack(trace, path, puts)
    if stack and stack.reaches(row.path):
        symbol, fixed = trace.layout.located(row)
        first = tuple(fixed[axis] for axis in symbol.axes[:-1])
        with torch.inference_mode(), use_threads(trace.threads):
            read = stack.read((symbol, first), range(trace.layout.size(symbol.axes[-1])))
            moved = stack.list_moved(symbol, [fixed.get(TOKEN)] * len(changed))
            found[[changed[i] for i in moved]] = read[moved]
    return lock(found)


def run_stacked_rows(trace: Trace, path: str, puts: Sequence[Put], rows: Sequence[Address]) -> np.ndarray:
    """(pass, cell) in float64: of each of the passes a row of its own, of one token's numbers in a tensor in which each
    token is treated by itself.
    """
    found = np.array([trace.recomputed(row) for row in rows])
    changed, stack = _stack(trace, path, puts)
    if stack and stack.reaches(rows[0].path):
        with torch.inference_mode(), use_threads(trace.threads):
            symbol, tokens = trace.layout.located(rows[0])[0], [rows[i].at[TOKEN.name] for i in changed]
            read = stack.read_rows(symbol, tokens)
            moved = stack.list_moved(symbol, tokens)
            found[[changed[i] for i in moved]] = read[moved]
    return lock(found)


def _stack(trace: Trace, path: str, puts: Sequence[Put]) -> tuple[list[int], _Stack | None]:
    """Which of the passes put something new into the tensor, and these stacked, if there are any."""
    own = torch.tensor(trace[path])
    tensors = [_put(own, put) for put in puts]
    changed = [i for i, tensor in enumerate(tensors) if not torch.equal(tensor, own)]
    return changed, _Stack(trace, path, [tensors[i] for i in changed]) if changed else None


class _Stack:
    """The passes, one behind the other along the axis of tokens; by address what was computed for all of them.

    A change may stand in the way of what was put. From there on a pass has the trace's own numbers: worked out again
    among those of other passes, their last digits would be others, and pass for a difference.
    """

    def __init__(self, trace: Trace, path: str, tensors: list[Tensor]) -> None:
        self._trace, self._count, self._length = trace, len(tensors), trace.layout.tokens
        self._reached = trace.program.reached([path])
        self._dims = {path: trace.axes(path)}
        self._made: dict[str, list[Tensor] | Tensor] = {path: self._join(path, tensors)}
        self._repeated: dict[str, Tensor] = {}
        self._known: dict[str, Tensor] = {}
        self._same: dict[str, set[int]] = {}  # of what was computed: the passes that have the trace's own there

    def reaches(self, address: str) -> bool:
        """Whether what was put can have made a difference to a tensor."""
        return address in self._reached

    def read(self, row: _Row, last: Sequence[int]) -> np.ndarray:
        """(pass, cell) these cells of one row in each pass, worked out in float64.

        Together where each is made from the whole row, as of a softmax; else one by one.
        """
        symbol, first = row
        along, expr = symbol.axes[-1], self._trace.program.by_address[symbol.address].expr
        whole = any(isinstance(node, Softmax) and node.along == along for node in walk_nodes(expr))
        at = {axis: range(index, index + 1) for axis, index in zip(symbol.axes[:-1], first, strict=True)}
        if whole:
            return self._read(symbol, {**at, along: range(self._trace.layout.size(along))})[:, last]
        return np.concatenate([self._read(symbol, {**at, along: range(i, i + 1)}) for i in last], axis=1)

    def read_rows(self, symbol: Symbol, tokens: Sequence[int]) -> np.ndarray:
        """(pass, cell) of each pass the whole row of one token, worked out in float64."""
        expr = self._trace.program.by_address[symbol.address].expr
        if symbol.address in self._made or self._trace.overrides(symbol.address) or not is_by_token(expr):
            self._reach([symbol.address])
            return self._take_rows(symbol.address, symbol.axes, tokens).double().numpy()
        rows = {leaf.address: self._take_rows(leaf.address, leaf.axes, tokens) for leaf in walk_symbols(expr)}
        return expr.work(rows, {TOKEN: range(self._count)}).numpy()

    def list_moved(self, symbol: Symbol, tokens: Sequence[int | None]) -> list[int]:
        """The passes in which a row that was read can differ from the trace's. tokens: each pass's, None for no one."""
        if not self._trace.changes:
            return [*range(self._count)]
        same = self._find_same(symbol.address, tokens)
        return [i for i in range(self._count) if i not in same]

    def _find_same(self, address: str, tokens: Sequence[int | None]) -> set[int]:
        """The passes in which a token's row, or all of a tensor, is made from the trace's own numbers alone."""
        if address not in self._reached:
            return {*range(self._count)}
        if address in self._made:
            return self._same.get(address, set()) | self._compare_rows(address, tokens)
        step = self._trace.program.by_address[address]
        along = tokens if is_by_token(step.expr) else [None] * self._count
        return set[int].intersection(*(self._find_same(leaf.address, along) for leaf in step.leaves))

    def _compare_rows(self, address: str, tokens: Sequence[int | None]) -> set[int]:
        """The passes whose row of a token is the trace's, to the bit."""
        places, plain = place_tokens(self._dims[address]), self._plain(address)
        if len(places) != 1:
            return set()
        return {
            i
            for i, token in enumerate(tokens)
            if token is not None
            and torch.equal(self._get(i, address).select(places[0], token), plain.select(places[0], token))
        }

    def _read(self, symbol: Symbol, at: At) -> np.ndarray:
        """(pass, cell) all cells of a row that are asked for."""
        if self._trace.overrides(symbol.address):
            self._reach([symbol.address])
        if symbol.address in self._made:
            parts = [narrow(self._get(i, symbol.address), symbol.axes, at) for i in range(self._count)]
            return torch.stack(parts).flatten(1).double().numpy()
        step = self._trace.program.by_address[symbol.address]
        leaves = {leaf.address: leaf.axes for leaf in step.leaves}
        token = next((axis for axis in symbol.axes if axis.of_tokens), None)
        if token is not None and is_by_token(step.expr):
            tokens = [at[token].start] * self._count
            rows = {address: self._take_rows(address, dims, tokens) for address, dims in leaves.items()}
            return step.expr.work(rows, {**at, token: range(self._count)}).reshape(self._count, -1).numpy()
        self._reach(leaves)
        works = [step.expr.work({name: self._get(i, name) for name in leaves}, at) for i in range(self._count)]
        return torch.stack(works).flatten(1).numpy()

    def _reach(self, wanted: Collection[str]) -> None:
        """Compute what lies between the tensor and what is wanted."""
        for step in self._list_steps(wanted):
            self._compute(step)

    def _list_steps(self, wanted: Collection[str]) -> list[Step]:
        """The steps that lie between the tensor and what is wanted, in order."""
        needed = set(wanted)
        for step in reversed(self._trace.program.steps):
            if step.address in needed:
                needed.update(leaf.address for leaf in step.leaves)
        known = self._made
        return [
            step
            for step in self._trace.program.steps
            if step.address in needed and step.address in self._reached and step.address not in known
        ]

    def _compute(self, step: Step) -> None:
        """One step in all passes."""
        self._work(step)
        if not self._trace.changes:
            return
        leaves = [leaf.address for leaf in step.leaves if leaf.address in self._reached]
        same = set[int].intersection(*(self._same.get(leaf, set()) for leaf in leaves))
        if step.address in self._trace.program.by_rows and not (same or self._trace.overrides(step.address)):
            return
        plain = self._plain(step.address)
        for i in same:
            self._take_own(i, step.address, plain)
        self._same[step.address] = {i for i in range(self._count) if torch.equal(self._get(i, step.address), plain)}

    def _take_own(self, i: int, address: str, plain: Tensor) -> None:
        """Have a pass begin anew with the trace's own numbers."""
        made = self._made[address]
        if isinstance(made, list):
            made[i] = plain
        else:
            self._get(i, address).copy_(plain)

    def _work(self, step: Step) -> None:
        names = {leaf.address: leaf.axes for leaf in step.leaves}
        self._dims[step.address] = step.output.axes
        whole = is_by_token(step.expr) and not any(isinstance(self._made.get(name), list) for name in names)
        if whole and not self._trace.overrides(step.address):
            self._made[step.address] = step.expr.value({name: self._repeat(name, dims) for name, dims in names.items()})
            return
        put = self._trace.overrides(step.address)
        parts = [_put(step.expr.value({name: self._get(i, name) for name in names}), put) for i in range(self._count)]
        self._made[step.address] = self._join(step.address, parts)

    def _join(self, address: str, parts: list[Tensor]) -> list[Tensor] | Tensor:
        """One tensor where there is one axis of tokens to stand behind one another."""
        places = place_tokens(self._dims[address])
        return torch.cat(parts, places[0]) if len(places) == 1 else parts

    def _get(self, i: int, address: str) -> Tensor:
        """A tensor as one of the passes has it."""
        made = self._made.get(address)
        if made is None:
            return self._plain(address)
        if isinstance(made, list):
            return made[i]
        return made.narrow(place_tokens(self._dims[address])[0], i * self._length, self._length)

    def _repeat(self, address: str, dims: Dims) -> Tensor:
        """A tensor for all passes at once; one that is the same in all of them as often as there are passes."""
        made = self._made.get(address)
        if isinstance(made, Tensor):
            return made
        places = place_tokens(dims)
        if not places:
            return self._plain(address)
        if address not in self._repeated:
            self._repeated[address] = torch.cat([self._plain(address)] * self._count, places[0])
        return self._repeated[address]

    def _take_rows(self, address: str, dims: Dims, tokens: Sequence[int]) -> Tensor:
        """What every pass has of one token, as if these were the tokens."""
        if not place_tokens(dims):
            return self._plain(address)
        place, step = place_tokens(dims)[0], self._trace.program.by_address.get(address)
        by_row = address in self._trace.program.by_rows & self._reached and address not in self._made
        if step and by_row and not self._trace.overrides(address):
            rows = {leaf.address: self._take_rows(leaf.address, leaf.axes, tokens) for leaf in step.leaves}
            return step.expr.value(rows)
        self._reach([address])
        return torch.stack([self._get(i, address).select(place, token) for i, token in enumerate(tokens)], place)

    def _plain(self, address: str) -> Tensor:
        """A tensor that is the same in all passes."""
        if address in self._trace.model.parameters:
            return self._trace.model.parameters[address]
        if address not in self._known:
            self._known[address] = torch.tensor(self._trace[address])
        return self._known[address]


def _find_token(row: _Row) -> int | None:
    """The token whose row it is, None where it is of no one."""
    symbol, first = row
    return dict(zip(symbol.axes, first, strict=False)).get(TOKEN)


def _put(tensor: Tensor, put: Put) -> Tensor:
    if not put:
        return tensor
    tensor = tensor.clone()
    for override in put:
        override.apply(tensor)
    return tensor
