"""A pass once more in float64, whatever the model's precision: what sums of parts are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

import torch
from torch import Tensor

from bertviz_core.formula.cells import At, Parted, narrow
from bertviz_core.formula.dims import Dims
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.trace import Trace


class Doubled(Parted):
    """The tensors of a pass by address, computed anew in float64 from its parameters, inputs and changes.

    needed: the steps to hold; what they are made from is let go again. A cell that is read of any other step whose
    operands are held, as of the logits, is computed then.
    """

    def __init__(self, trace: Trace, needed: Collection[str]) -> None:
        self.trace, self._held = trace, dict[str, Tensor]()
        steps = list_ancestors(trace, needed)
        left = Counter(leaf.address for step in steps for leaf in step.leaves)
        for step in steps:
            self.compute(step)
            left.subtract(leaf.address for leaf in step.leaves)
            for leaf in step.leaves:
                if left[leaf.address] == 0 and leaf.address not in needed:
                    self._held.pop(leaf.address, None)

    def compute(self, step: Step) -> None:
        """Hold a step's result, made from what is held."""
        self._held[step.address] = self._put(step, step.expr.value(self))

    def hold(self, tensors: Mapping[str, Tensor]) -> None:
        """Hold these tensors in place of what their steps would compute."""
        self._held.update(tensors)

    def __getitem__(self, address: str) -> Tensor:
        if address in self._held:
            return self._held[address]
        step = self.trace.program.by_address.get(address)
        if step is not None:
            return self._put(step, step.expr.value(self))
        return _double(self._find_leaf(address))

    def part(self, address: str, dims: Dims, at: At) -> Tensor:
        step = self.trace.program.by_address.get(address)
        if step is None:
            return _double(narrow(self._find_leaf(address), dims, at))
        if address in self._held or self.trace.overrides(address):
            return narrow(self[address], dims, at)
        return step.expr.work(self, at)

    def look_up(self, address: str, ids: Tensor) -> Tensor:
        if address in self.trace.program.by_address:
            return self[address][ids]
        return _double(self._find_leaf(address)[ids])  # the rows are made float64, and not the table

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def _find_leaf(self, address: str) -> Tensor:
        """A parameter, or an input."""
        found = self.trace.model.parameters.get(address)
        return torch.tensor(self.trace[address]) if found is None else found

    def _put(self, step: Step, tensor: Tensor) -> Tensor:
        """The tensor with what changes put in place of its numbers."""
        overrides = self.trace.overrides(step.address)
        tensor = tensor.clone() if overrides else tensor
        for override in overrides:
            override.apply(tensor)
        return tensor


def list_ancestors(trace: Trace, needed: Collection[str]) -> list[Step]:
    """The steps that are needed and all that they are made from, in the order computed."""
    found, wanted = list[Step](), set(needed)
    for step in reversed(trace.program.steps):
        if step.address in wanted:
            found.append(step)
            wanted.update(leaf.address for leaf in step.leaves)
    return found[::-1]


def _double(leaf: Tensor) -> Tensor:
    """In float64; ids stay whole numbers."""
    return leaf.double() if leaf.is_floating_point() else leaf
