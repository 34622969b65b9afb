"""A formula as data: one small tree, seven readings.

value(env)        the torch tensor (differentiable)
dims()            its named axes
latex(paint)      the formula as typeset
code()            the PyTorch expression that computes it
work(env, at), worked(env, at), operands(env, at)
                  one cell recomputed in float64, its formula with numbers, and the cells it was made from
write_short(step) the equation of one cell, short enough for one line: in `short`, off the same tree
work_short(expr, env, at)
                  the same cell's numbers in that line: in `short_worked`

The leaves, arithmetic and the matrix product stand here; functions of one tensor in `functions`, what puts numbers at
other places in `shapes`. A node says what it does once, in `apply`; everything about a single cell follows from `pull`,
which maps the cells wanted of the node to the cells needed of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from bertviz_core.errors import DimsError
from bertviz_core.formula.cells import At, Parted, narrow, read_part, restrict
from bertviz_core.formula.dims import Dims, align, combine, contract, is_trailing, list_names, write_index
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.tensors import list_numbers, make_constant, multiply
from bertviz_core.formula.tex import bracket, bracket_negative, write_products

Env = Mapping[str, Tensor]
Paint = Callable[["Symbol"], str]  # how a symbol is typeset: plain, or in its colour

SUM, PRODUCT, POSTFIX, ATOM = 1, 2, 3, 4  # how tightly a node binds, for parentheses


def paint_plain(symbol: Symbol) -> str:
    return symbol.tex


class Expr:
    """A node. `parts` are its operands; `level` is how tightly it binds in code, `tex_level` in LaTeX."""

    level: ClassVar[int] = ATOM
    tex_level: int = ATOM

    @property
    def parts(self) -> tuple[Expr, ...]:
        return ()

    def dims(self) -> Dims:
        raise NotImplementedError

    @property
    def fresh(self) -> bool:
        """Whether its value is a tensor of its own, that nobody else holds."""
        return bool(self.parts)

    @property
    def worked_level(self) -> int:
        """How tightly the formula with numbers binds."""
        return self.tex_level

    def apply(self, *parts: Tensor) -> Tensor:
        raise NotImplementedError

    def latex(self, paint: Paint = paint_plain) -> str:
        raise NotImplementedError

    def code(self) -> str:
        raise NotImplementedError

    def worked(self, env: Env, at: At) -> str:
        raise NotImplementedError

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        """Which cells of each part the cells `at` of this node are made from."""
        return tuple(restrict(at, part.dims()) for part in self.parts)

    def value(self, env: Env) -> Tensor:
        """The whole tensor, axes as in `dims()`."""
        return self.apply(*(part.value(env) for part in self.parts))

    def work(self, env: Env, at: At) -> Tensor:
        """The cells `at`, recomputed in float64 from the recorded leaves; narrowed axes keep their place."""
        return narrow(self.apply(*self._worked_parts(env, at)), self.dims(), at)

    def operands(self, env: Env, at: At) -> Iterator[tuple[Symbol, At]]:
        """The leaves that the cells `at` are made from, with the cells needed of each."""
        for part, needed in zip(self.parts, self.pull(env, at), strict=True):
            yield from part.operands(env, needed)

    def _worked_parts(self, env: Env, at: At) -> list[Tensor]:
        return [part.work(env, needed) for part, needed in zip(self.parts, self.pull(env, at), strict=True)]

    def _number(self, env: Env, at: At) -> str:
        return format_latex(self.work(env, at).item())

    def __add__(self, other: Expr) -> Expr:
        return Add(self, other)

    def __sub__(self, other: Expr) -> Expr:
        return Sub(self, other)

    def __mul__(self, other: Expr) -> Expr:
        return Mul(self, other)

    def __truediv__(self, other: Expr) -> Expr:
        return Div(self, other)

    def __matmul__(self, other: Expr) -> Expr:
        return MatMul(self, other)


@dataclass(frozen=True)
class Symbol(Expr):
    """A leaf: a recorded tensor, a parameter of the checkpoint, or an input.

    column: the LaTeX that stands for it in column notation, where that is the transpose of what `tex` stands for.
    """

    address: str
    tex: str
    axes: Dims
    variable: str
    kind: str
    column: str = ""

    def __post_init__(self) -> None:
        if len(set(self.axes)) != len(self.axes):
            raise DimsError(f"{self.address} has one axis twice: {list_names(self.axes)}")

    def dims(self) -> Dims:
        return self.axes

    def value(self, env: Env) -> Tensor:
        return env[self.address]

    def work(self, env: Env, at: At) -> Tensor:
        cells = read_part(env, self.address, self.axes, at)
        return cells.double() if cells.is_floating_point() else cells

    def operands(self, env: Env, at: At) -> Iterator[tuple[Symbol, At]]:
        yield self, at

    def latex(self, paint: Paint = paint_plain) -> str:
        return paint(self)

    def code(self) -> str:
        return self.variable

    def worked(self, env: Env, at: At) -> str:
        return self._number(env, at)


@dataclass(frozen=True)
class Constant(Expr):
    """A fixed number: a size of the model, epsilon, or a plain constant."""

    tex: str
    amount: float | int

    def dims(self) -> Dims:
        return ()

    def apply(self, *parts: Tensor) -> Tensor:
        return make_constant(self.amount)

    def latex(self, paint: Paint = paint_plain) -> str:
        return bracket_negative(self.tex)

    def code(self) -> str:
        return f"({self.amount!r})" if self.amount < 0 else repr(self.amount)

    def worked(self, env: Env, at: At) -> str:
        return format_latex(self.amount)


@dataclass(frozen=True)
class _Binary(Expr):
    left: Expr
    right: Expr

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.left, self.right


class _Elementwise(_Binary):
    """Cell by cell. The side with fewer axes is repeated along the axes that it lacks."""

    sign: ClassVar[str]
    number_sign: ClassVar[str]
    operate: ClassVar[Callable[..., Tensor]]

    def dims(self) -> Dims:
        return combine(self.left.dims(), self.right.dims())

    def apply(self, *parts: Tensor) -> Tensor:
        return self.operate(*self._line_up(*parts))

    def value(self, env: Env) -> Tensor:
        sides = self._line_up(*(part.value(env) for part in self.parts))
        for part, (_, whole), side in zip(self.parts, self._fit, sides, strict=True):
            if whole and is_own(part, env) and side.dtype == torch.result_type(*sides):
                return self.operate(*sides, out=side)
        return self.operate(*sides)

    def _line_up(self, *parts: Tensor) -> tuple[Tensor, ...]:
        return tuple(part if index is None else part[index] for part, (index, _) in zip(parts, self._fit, strict=True))

    @cached_property
    def _fit(self) -> tuple[tuple[tuple[slice | None, ...] | None, bool], ...]:
        """Of each side: how to index it so that it lines up, None where broadcasting does; whether it has all axes."""
        dims, sides = self.dims(), [part.dims() for part in self.parts]
        return tuple((None if is_trailing(side, dims) else align(side, dims), side == dims != ()) for side in sides)

    def latex(self, paint: Paint = paint_plain) -> str:
        left, right = (part.latex(paint) for part in self.parts)
        return self._joined(left, self.left.tex_level, self._tex_sign(), right, self.right.tex_level)

    def worked(self, env: Env, at: At) -> str:
        left, right = (part.worked(env, needed) for part, needed in zip(self.parts, self.pull(env, at), strict=True))
        return self._joined(left, self.left.worked_level, self.number_sign, right, self.right.worked_level)

    def _tex_sign(self) -> str:
        return self.number_sign

    def _joined(self, left: str, left_level: int, sign: str, right: str, right_level: int) -> str:
        """Both sides as LaTeX, in brackets where they bind too loosely, and a negative right side always."""
        right = bracket_negative(bracket(right, right_level, self.tex_level + 1))
        return f"{bracket(left, left_level, self.tex_level)} {sign} {right}"

    def code(self) -> str:
        dims = self.dims()
        return f"{_place(self.left, self.level, dims)} {self.sign} {_place(self.right, self.level + 1, dims)}"


class Add(_Elementwise):
    sign = number_sign = "+"
    level = tex_level = SUM
    operate = staticmethod(torch.add)


class Sub(_Elementwise):
    sign = number_sign = "-"
    level = tex_level = SUM
    operate = staticmethod(torch.sub)


class Mul(_Elementwise):
    sign, number_sign = "*", r"\cdot"
    level = tex_level = PRODUCT
    operate = staticmethod(torch.mul)

    def _tex_sign(self) -> str:
        return r"\odot" if self.left.dims() and self.right.dims() else r"\cdot"


class Div(_Elementwise):
    sign, number_sign = "/", ""
    level = PRODUCT
    tex_level = POSTFIX  # a fraction needs no brackets, unless it carries an exponent
    operate = staticmethod(torch.div)

    def _joined(self, left: str, left_level: int, sign: str, right: str, right_level: int) -> str:
        return rf"\frac{{{left}}}{{{right}}}"


class MatMul(_Binary):
    """A matrix product: the left's last axis summed against the right's last but one, which must share its name."""

    level = tex_level = PRODUCT

    def dims(self) -> Dims:
        return contract(self.left.dims(), self.right.dims())

    def apply(self, *parts: Tensor) -> Tensor:
        return multiply(*parts)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        summed = self.left.dims()[-1]
        keep = {axis: cells for axis, cells in at.items() if axis != summed}
        return restrict(keep, self.left.dims()), restrict(keep, self.right.dims())

    def latex(self, paint: Paint = paint_plain) -> str:
        left = bracket(self.left.latex(paint), self.left.tex_level, self.tex_level)
        return rf"{left}\, {bracket(self.right.latex(paint), self.right.tex_level, self.tex_level + 1)}"

    def code(self) -> str:
        left = parenthesize(self.left.code(), self.left, self.level)
        return f"{left} @ {parenthesize(self.right.code(), self.right, self.level + 1)}"

    def worked(self, env: Env, at: At) -> str:
        left, right = (list_numbers(part) for part in self._worked_parts(env, at))
        return write_products(left, right)


def is_own(node: Expr, env: Env) -> bool:
    """Whether the node's value may be written over: a trace's, that nobody else reads and no gradient needs."""
    if not (isinstance(env, Parted) and torch.is_inference_mode_enabled()):
        return False
    return node.fresh or (isinstance(node, Symbol) and node.address in env.spare)


def parenthesize(text: str, node: Expr, level: int) -> str:
    """Code in parentheses where the node binds less tightly than its place needs."""
    return f"({text})" if node.level < level else text


def _place(part: Expr, level: int, wide: Dims) -> str:
    """The part's code, indexed so that it lines up with `wide`."""
    index = write_index(part.dims(), wide)
    return parenthesize(part.code(), part, ATOM if index else level) + index
