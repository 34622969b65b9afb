"""Many passes that differ from one in a single tensor, run at once: what is done token by token in one product.

Only what lies above that tensor is computed, and of it what is asked for. A step that mixes tokens, as attention does,
is computed pass by pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from bertviz_core.formula.address import Address
from bertviz_core.formula.cells import At
from bertviz_core.formula.dims import Dims
from bertviz_core.formula.nodes import Expr
from bertviz_core.formula.steps import Program, Step, inline, walk_symbols
from bertviz_core.tracing.changes import Override
from bertviz_core.tracing.placing import is_by_token, place_tokens
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

Put = Sequence[Override]  # what one of the passes puts into the tensor


def run_stacked(trace: Trace, path: str, puts: Sequence[Put], cells: Sequence[Address]) -> np.ndarray:
    """(pass, cell) in float64: the cells in each of the passes that put numbers into the tensor at a path."""
    with torch.inference_mode():
        stack = _Stack(trace, path, puts)
        found = [stack.read(cell) for cell in cells]
    return lock(np.stack(found, axis=1))


class _Stack:
    """The passes, one behind the other along the axis of tokens; by address what was computed for all of them."""

    def __init__(self, trace: Trace, path: str, puts: Sequence[Put]) -> None:
        self._trace, self._count, self._length = trace, len(puts), trace.layout.tokens
        self._reached = trace.program.reached([path])
        was = torch.tensor(trace[path])
        self._dims = {path: trace.axes(path)}
        self._made: dict[str, list[Tensor] | Tensor] = {path: self._join(path, [_put(was, put) for put in puts])}
        self._repeated: dict[str, Tensor] = {}
        self._known: dict[str, Tensor] = {}

    def read(self, cell: Address) -> np.ndarray:
        """(pass,) one cell in each pass, worked out in float64."""
        symbol, fixed = self._trace.layout.one_cell(cell)
        at = {axis: range(index, index + 1) for axis, index in fixed.items()}
        if cell.path not in self._reached:
            return np.full(self._count, float(self._trace.recomputed(cell)))
        if cell.path in self._made:
            return np.array([float(self._get(i, cell.path)[tuple(fixed.values())]) for i in range(self._count)])
        expr = _unfold(self._trace.program, cell.path)
        leaves = {leaf.address: leaf.axes for leaf in walk_symbols(expr)}
        for step in self._list_steps(leaves):
            self._compute(step)
        token = next((axis for axis in symbol.axes if axis.of_tokens), None)
        if token is not None and is_by_token(expr):
            rows = {address: self._take_rows(address, dims, fixed[token]) for address, dims in leaves.items()}
            return expr.work(rows, {**at, token: range(self._count)}).flatten().numpy()
        return np.array([self._work(expr, leaves, i, at) for i in range(self._count)])

    def _work(self, expr: Expr, leaves: Mapping[str, Dims], i: int, at: At) -> float:
        return float(expr.work({address: self._get(i, address) for address in leaves}, at).item())

    def _list_steps(self, wanted: Mapping[str, Dims]) -> list[Step]:
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

    def _take_rows(self, address: str, dims: Dims, token: int) -> Tensor:
        """What every pass has of one token, as if these were the tokens."""
        if not place_tokens(dims):
            return self._plain(address)
        place = place_tokens(dims)[0]
        return torch.stack([self._get(i, address).select(place, token) for i in range(self._count)], place)

    def _plain(self, address: str) -> Tensor:
        """A tensor that is the same in all passes."""
        if address in self._trace.model.parameters:
            return self._trace.model.parameters[address]
        if address not in self._known:
            self._known[address] = torch.tensor(self._trace[address])
        return self._known[address]


def _put(tensor: Tensor, put: Put) -> Tensor:
    if not put:
        return tensor
    tensor = tensor.clone()
    for override in put:
        override.apply(tensor)
    return tensor


@lru_cache(256)
def _unfold(program: Program, path: str) -> Expr:
    """The expression of a step, with those of others that have a number for every word put in their places."""
    made = {address: program.by_address[address].expr for address in program.by_rows}
    return inline(program.by_address[path].expr, made)
