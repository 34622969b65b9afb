"""What a pass will record: its addresses, axes and sizes, known before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, parse
from bertviz_core.formula.dims import Axis
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import Program, Step

_TOKEN_AXES = {"token", "query", "key"}


@dataclass(frozen=True)
class Layout:
    """A program on an input of so many tokens. What is asked for under an unknown address raises AddressError."""

    model: Model
    program: Program
    tokens: int

    def step(self, address: str) -> Step:
        """The step that computes an address (of a tensor, a slice or a cell)."""
        path = parse(address).path
        step = self.program.by_address.get(path)
        if step is None:
            raise AddressError(f"{path} is not computed by a step of this trace{self._hint(path)}")
        return step

    def symbol(self, where: Address) -> Symbol:
        """The symbol of a step's result, a parameter or an input."""
        symbol = self.program.symbol(where.path)
        if symbol is None:
            raise AddressError(f"{where.path} is not in this trace{self._hint(where.path)}")
        return symbol

    def located(self, address: str) -> tuple[Symbol, dict[Axis, int]]:
        """The symbol and the axes that the address fixes, each within its size."""
        where = parse(address)
        symbol = self.symbol(where)
        axes = {axis.name: axis for axis in symbol.axes}
        for name, index in where.at.items():
            if name not in axes:
                raise AddressError(f"{where.path} has no axis {name!r}; its axes are {', '.join(axes) or 'none'}")
            size = self.size(axes[name])
            if index >= size:
                raise AddressError(f"{where}: {name} {index} is out of range; it runs from 0 to {size - 1}")
        return symbol, {axes[name]: index for name, index in where.at.items()}

    def one_cell(self, address: str) -> tuple[Symbol, dict[Axis, int]]:
        """`located`, where the address fixes every axis."""
        symbol, fixed = self.located(address)
        missing = [axis.name for axis in symbol.axes if axis not in fixed]
        if missing:
            raise AddressError(f"{address} is not one cell: give an index for {', '.join(missing)} as well")
        return symbol, fixed

    def index(self, address: str) -> tuple[int | slice, ...]:
        """Where an address lies in its whole tensor, as PyTorch and NumPy index."""
        symbol, fixed = self.located(address)
        return tuple(fixed.get(axis, slice(None)) for axis in symbol.axes)

    def axes(self, address: str) -> tuple[Axis, ...]:
        """The axes that an address leaves free."""
        symbol, fixed = self.located(address)
        return tuple(axis for axis in symbol.axes if axis not in fixed)

    def shape(self, address: str) -> tuple[int, ...]:
        """The sizes that go with `axes`."""
        return tuple(self.size(axis) for axis in self.axes(address))

    def size(self, axis: Axis) -> int:
        if axis.name in _TOKEN_AXES:
            return self.tokens
        if axis.name == "label":
            return len(self.model.labels)
        return self.model.config.sizes[axis.name]

    def _hint(self, path: str) -> str:
        leaf = path.rsplit(".", 1)[-1]
        addresses = [step.address for step in self.program.steps]
        near = [address for address in addresses if address.rsplit(".", 1)[-1] == leaf]
        return f"; did you mean {near[0]}?" if near else f"; an address looks like {addresses[0]}"
