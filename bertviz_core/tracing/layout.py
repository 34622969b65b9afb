"""What a pass will record: its addresses, axes and sizes, known before anything is computed.

Here text becomes an Address: whoever asks a trace for something may write one.
"""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where, read_address
from bertviz_core.formula.dims import Axis
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import Program, Step
from bertviz_core.tracing.hints import suggest_address, suggest_axis


@dataclass(frozen=True)
class Layout:
    """A program on an input of so many tokens. What is asked for under an unknown address raises AddressError."""

    model: Model
    program: Program
    tokens: int

    def step(self, where: Where) -> Step:
        """The step that computes an address (of a tensor, a slice or a cell)."""
        path = read_address(where).path
        step = self.program.by_address.get(path)
        if step is None:
            leaf = self.program.leaves.get(path)
            reason = f"it is one of the {leaf.kind}s" if leaf else suggest_address(path, self.program.by_address)
            raise AddressError(f"{path} is not computed by a step of this trace; {reason}")
        return step

    def has(self, where: Where) -> bool:
        """Whether there is such a tensor, slice or cell; what cannot be read as an address is not there."""
        try:
            where = read_address(where)
            return self.program.symbol(where.path) is not None and bool(self.located(where))
        except AddressError:
            return False

    def locate(self, where: Where) -> Address:
        """The address, which is there, as a value."""
        symbol, fixed = self.located(where)
        return Address(symbol.address, tuple((axis.name, index) for axis, index in fixed.items()))

    def located(self, where: Where) -> tuple[Symbol, dict[Axis, int]]:
        """The symbol and the axes that the address fixes, each within its size."""
        where = read_address(where)
        symbol = self.program.symbol(where.path)
        if symbol is None:
            near = suggest_address(where.path, (*self.program.by_address, *self.program.leaves))
            raise AddressError(f"{where.path} is not in this trace; {near}")
        axes = {axis.name: axis for axis in symbol.axes}
        for name, index in where.index:
            if name not in axes:
                raise AddressError(f"{where.path} has no axis {name!r}; {suggest_axis(name, axes)}")
            size = self.size(axes[name])
            if not 0 <= index < size:
                raise AddressError(f"{where}: {name} {index} is out of range; it runs from 0 to {size - 1}")
        return symbol, {axes[name]: index for name, index in where.index}

    def one_cell(self, where: Where) -> tuple[Symbol, dict[Axis, int]]:
        """`located`, where the address fixes every axis."""
        symbol, fixed = self.located(where)
        missing = [axis.name for axis in symbol.axes if axis not in fixed]
        if missing:
            raise AddressError(f"{where} is not one cell: give an index for {', '.join(missing)} as well")
        return symbol, fixed

    def index(self, where: Where) -> tuple[int | slice, ...]:
        """Where an address lies in its whole tensor, as PyTorch and NumPy index."""
        symbol, fixed = self.located(where)
        return tuple(fixed.get(axis, slice(None)) for axis in symbol.axes)

    def axes(self, where: Where) -> tuple[Axis, ...]:
        """The axes that an address leaves free."""
        symbol, fixed = self.located(where)
        return tuple(axis for axis in symbol.axes if axis not in fixed)

    def shape(self, where: Where) -> tuple[int, ...]:
        """The sizes that go with `axes`."""
        return tuple(self.size(axis) for axis in self.axes(where))

    def size(self, axis: Axis) -> int:
        if axis.of_tokens:
            return self.tokens
        if axis.name == "label":
            return len(self.model.labels)
        return self.model.config.sizes[axis.name]
