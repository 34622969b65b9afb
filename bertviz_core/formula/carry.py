"""One more reading of an expression: what it carries on of one part of its operands.

A sum carries the sum of the parts, a matrix product with fixed numbers their product, a mean their mean: what is linear
is taken as it is. Of what is not, one factor is held as the pass has it: attention weights, the deviation in a
LayerNorm, the slope a(z)/z of an activation. So the parts of a tensor, each carried on alone, add up to the tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.formula.cells import At, narrow
from bertviz_core.formula.document_nodes import Dropout
from bertviz_core.formula.functions import Apply, Function, Sum
from bertviz_core.formula.nodes import Add, Div, Env, Expr, MatMul, Mul, Sub, Symbol
from bertviz_core.formula.shapes import MergeHeads, Rename, Select, SplitHeads, Transpose

_LINEAR = (Sum, Transpose, Rename, Select, SplitHeads, MergeHeads, Dropout)  # Mean and PairSum are a Sum and an Add
_PLACED = (Select, SplitHeads, MergeHeads)  # whose cells are taken from the whole


def is_carried(expr: Expr, carried: Collection[str]) -> bool:
    """Whether parts of these tensors, by address, go through an expression; else all of it is held as it is."""
    if isinstance(expr, Symbol):
        return expr.address in carried
    moved = [is_carried(part, carried) for part in expr.parts]
    if isinstance(expr, Add | Sub):
        return any(moved)
    if isinstance(expr, Div):
        return moved == [True, False]
    if isinstance(expr, Mul | MatMul):
        return sum(moved) == 1
    if isinstance(expr, Apply):
        return moved[0] and passes_zero(expr.function)
    return isinstance(expr, _LINEAR) and any(moved)


def passes_zero(function: Function) -> bool:
    """Whether a function of one number is 0 at 0, so that its value is the number times a slope."""
    return bool(function.of(torch.zeros(1, dtype=torch.float64)) == 0)


@dataclass(frozen=True)
class Carry:
    """The tensors of a pass, and the part of some of them that is carried on.

    env: every tensor in float64; parts: by address, in the same shape; own: how much of what a formula adds by itself,
    as a bias, belongs to the part: all (1) or nothing (0).
    """

    env: Env
    parts: Mapping[str, Tensor]
    own: Tensor

    def read(self, expr: Expr, at: At = {}) -> Tensor:  # noqa: B006 - never written to
        """The cells `at` of the part that an expression carries on; narrowed axes keep their place.

        The expression must be one that `is_carried`.
        """
        if isinstance(expr, Symbol):
            return narrow(self.parts[expr.address], expr.axes, at)
        if isinstance(expr, _PLACED):
            return narrow(expr.apply(self.read(expr.inner)), expr.dims(), at)
        needed = expr.pull(self.env, at)
        if isinstance(expr, Apply):
            return self.read(expr.inner, needed[0]) * find_slope(expr.function, expr.inner.work(self.env, needed[0]))
        sides = [self._read_side(expr, part, cells) for part, cells in zip(expr.parts, needed, strict=True)]
        return narrow(expr.apply(*sides), expr.dims(), at)

    def _read_side(self, expr: Expr, part: Expr, at: At) -> Tensor:
        if is_carried(part, self.parts.keys()):
            return self.read(part, at)
        held = part.work(self.env, at)
        return held * self.own if isinstance(expr, Add | Sub) else held


def find_slope(function: Function, z: Tensor) -> Tensor:
    """a(z)/z of a function that is 0 at 0: the slope of the line from there; at 0 its limit, the derivative."""
    tiny = z.abs() < torch.finfo(z.dtype).tiny
    there = torch.where(tiny, torch.ones_like(z), z)
    with torch.enable_grad():
        zero = torch.zeros(1, dtype=z.dtype, requires_grad=True)
        (limit,) = torch.autograd.grad(function.of(zero).sum(), zero)
    return torch.where(tiny, limit, function.of(there) / there)
