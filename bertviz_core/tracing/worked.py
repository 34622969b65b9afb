"""What a trace says of its addresses, and of single cells worked out from what was recorded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import torch

from bertviz_core.formula.address import Where
from bertviz_core.formula.cells import At, Parted
from bertviz_core.formula.dims import Axis, list_names
from bertviz_core.formula.explain import Explanation, Made, differentiate, explain, find_made
from bertviz_core.formula.nodes import Expr, Symbol
from bertviz_core.formula.short_worked import work_short
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.changes import Override
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.seen import Seen


class Worked(Seen):
    """The part of a trace that computes nothing of the pass: it asks the layout, and works cells out."""

    layout: Layout

    @abstractmethod
    def __getitem__(self, address: Where) -> np.ndarray: ...

    @abstractmethod
    def _env(self) -> Parted:
        """The recorded tensors, as expressions read them."""

    @abstractmethod
    def _overrides(self, address: str) -> Sequence[Override]:
        """What was put in place of the numbers of a whole tensor, in order."""

    def dims(self, address: Where) -> tuple[str, ...]:
        """The axes, by name, of what `trace[address]` gives."""
        return list_names(self.axes(address))

    def axes(self, address: Where) -> tuple[Axis, ...]:
        """The axes of what `trace[address]` gives."""
        return self.layout.axes(address)

    def shape(self, address: Where) -> tuple[int, ...]:
        """The sizes that go with `dims`, known without computing the tensor."""
        return self.layout.shape(address)

    def step(self, address: Where) -> Step:
        """The step that computes an address (of a tensor, a slice or a cell)."""
        return self.layout.step(address)

    def explain(self, address: Where) -> Explanation:
        """Work out one cell: every axis must be fixed. Raises AddressError otherwise."""
        return explain(self._env(), *self._cell(address))

    def made(self, address: Where) -> Made:
        """The operands of one cell, without working it out: every axis must be fixed. Raises AddressError otherwise."""
        return find_made(self._env(), *self._cell(address))

    def needs(self, address: Where) -> tuple[tuple[Symbol, At], ...]:
        """What the formula of one cell names, each tensor with the cells needed of it, an axis left out being whole.

        Also where a change put another number there; none for a parameter or an input. Every axis must be fixed:
        raises AddressError otherwise.
        """
        symbol, at, _ = self._cell(address)
        step = self.program.by_address.get(symbol.address)
        return tuple(step.expr.operands(self._env(), at)) if step else ()

    def recomputed(self, address: Where) -> np.ndarray:
        """A slice or a cell in float64 from its recorded operands, axes as `dims` says, without the rest of its tensor.

        As recorded, where no step computes it or a change put numbers there.
        """
        symbol, fixed = self.layout.located(address)
        step = self.program.by_address.get(symbol.address)
        if step is None or self._overrides(symbol.address):
            return lock(self[address].astype(np.float64))
        at = {axis: range(index, index + 1) for axis, index in fixed.items()}
        return lock(self.work(step.expr, at).reshape(self.shape(address)))

    def work(self, expr: Expr, at: At) -> np.ndarray:
        """The cells `at` of an expression in float64, from the recorded numbers that it reads; every axis is kept."""
        with torch.inference_mode():
            return lock(expr.work(self._env(), at))

    def write_short(self, expr: Expr, at: At) -> str:
        """The formula of one cell of an expression in one line, with the recorded numbers, as LaTeX."""
        return work_short(expr, self._env(), at)

    def derivatives(self, address: Where) -> tuple[float, ...]:
        """How one cell changes with each operand that `explain` names, in its order; 0 for ids, which do not vary.

        An operand that the formula names twice has its whole derivative at both places.
        """
        _, at, _ = self._cell(address)
        return differentiate(self._env(), self.step(address), at)

    def _cell(self, address: Where) -> tuple[Symbol, At, Step | None]:
        """One cell: its symbol, where it lies, and the step that made it, if it was not put there."""
        symbol, fixed = self.layout.one_cell(address)
        put = any(
            override.covers([fixed[axis] for axis in symbol.axes]) for override in self._overrides(symbol.address)
        )
        step = None if put else self.program.by_address.get(symbol.address)
        return symbol, {axis: range(fixed[axis], fixed[axis] + 1) for axis in symbol.axes}, step
