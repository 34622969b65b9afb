"""Expression nodes that reduce or transform one tensor, and the functions that they apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from bertviz_core.formula.cells import At
from bertviz_core.formula.dims import VOCAB, Axis, Dims, replace_axes
from bertviz_core.formula.nodes import (
    ATOM,
    POSTFIX,
    PRODUCT,
    SUM,
    Env,
    Expr,
    Paint,
    Symbol,
    is_own,
    paint_plain,
    parenthesize,
)
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.tensors import list_numbers
from bertviz_core.formula.tex import bracket, bracket_negative, take_ends, write_sum


@dataclass(frozen=True)
class Unary(Expr):
    """A node over one other node."""

    inner: Expr

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.inner,)

    def dims(self) -> Dims:
        return self.inner.dims()

    def worked(self, env: Env, at: At) -> str:
        (needed,) = self.pull(env, at)
        return self.inner.worked(env, needed)

    def _place(self, axis: Axis) -> int:
        """The axis as PyTorch counts it from the end."""
        return self._inner_dims.index(axis) - len(self._inner_dims)

    @cached_property
    def _inner_dims(self) -> Dims:
        return self.inner.dims()


class Square(Unary):
    level = tex_level = POSTFIX

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].square()

    def value(self, env: Env) -> Tensor:
        inner = self.inner.value(env)
        return torch.square(inner, out=inner if is_own(self.inner, env) else None)

    def latex(self, paint: Paint = paint_plain) -> str:
        return f"{{{bracket(self.inner.latex(paint), self.inner.tex_level, ATOM)}}}^2"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)} ** 2"

    def worked(self, env: Env, at: At) -> str:
        return rf"\left({super().worked(env, at)}\right)^2"


class Sqrt(Unary):
    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].sqrt()

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\sqrt{{{self.inner.latex(paint)}}}"

    def code(self) -> str:
        return f"{'torch' if self.dims() else 'math'}.sqrt({self.inner.code()})"

    def worked(self, env: Env, at: At) -> str:
        return rf"\sqrt{{{super().worked(env, at)}}}"


@dataclass(frozen=True)
class Sum(Unary):
    """The sum over one axis, which disappears."""

    tex_level = SUM

    over: Axis

    @property
    def worked_level(self) -> int:
        return ATOM

    def dims(self) -> Dims:
        return replace_axes(self.inner.dims(), (self.over,), ())

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].sum(dim=self._place(self.over))

    def latex(self, paint: Paint = paint_plain) -> str:
        def indexed(symbol: Symbol) -> str:
            return f"{{{paint(symbol)}}}_{{j}}" if self.over in symbol.axes else paint(symbol)

        inner = bracket(self.inner.latex(indexed), self.inner.tex_level, PRODUCT)
        return rf"\sum_{{j=1}}^{{{self.over.latex}}} {inner}"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}.sum(dim={self._place(self.over)})"

    def worked(self, env: Env, at: At) -> str:
        cells = list_numbers(self._worked_parts(env, at)[0])
        terms = [bracket_negative(format_latex(cell)) for cell in take_ends(cells)]
        return rf"\left({write_sum(terms, len(cells), brace=False)}\right)"


@dataclass(frozen=True)
class Mean(Sum):
    """The mean over one axis, which disappears."""

    @property
    def worked_level(self) -> int:
        return PRODUCT

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].mean(dim=self._place(self.over))

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\frac{{1}}{{{self.over.latex}}}{super().latex(paint)}"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}.mean(dim={self._place(self.over)})"

    def worked(self, env: Env, at: At) -> str:
        count = self._worked_parts(env, at)[0].numel()
        return rf"\frac{{1}}{{{count}}}{super().worked(env, at)}"


@dataclass(frozen=True)
class Softmax(Unary):
    """exp(x) over its sum along one axis; along that axis the result sums to 1.

    Over the vocabulary so many terms are summed that float32 loses the fifth digit: there the sum is taken in float64.
    """

    along: Axis

    def dims(self) -> Dims:
        return replace_axes(self.inner.dims(), (self.along,), (self.along,))

    def apply(self, *parts: Tensor) -> Tensor:
        (scores,), place = parts, self._place(self.along)
        if self.along != VOCAB:
            return scores.softmax(dim=place)
        if scores.dim() > -place:  # row by row: a whole vocabulary of every token in float64 is a lot of memory
            return torch.stack([self.apply(row) for row in scores])
        return scores.double().softmax(dim=place).to(scores.dtype)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        return ({axis: cells for axis, cells in at.items() if axis != self.along},)

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\mathrm{{softmax}}_{{\mathrm{{{self.along.name}}}}}\left({self.inner.latex(paint)}\right)"

    def code(self) -> str:
        place = self._place(self.along)
        if self.along != VOCAB:
            return f"torch.softmax({self.inner.code()}, dim={place})"
        inner = parenthesize(self.inner.code(), self.inner, ATOM)
        return f"torch.softmax({inner}.double(), dim={place}).to({inner}.dtype)"

    def worked(self, env: Env, at: At) -> str:
        row = list_numbers(self._worked_parts(env, at)[0])
        top = bracket_negative(format_latex(max(row)))
        powers = [rf"e^{{{format_latex(score)} - {top}}}" for score in take_ends(row)]
        mine = rf"e^{{{format_latex(row[at[self.along].start])} - {top}}}"
        return rf"\frac{{{mine}}}{{\left({write_sum(powers, len(row), brace=False)}\right)}}"


@dataclass(frozen=True)
class Function:
    """A function of one number. `definition` is its formula in x; `torch_code` its PyTorch call around {}.

    before: what stands in its brackets before x, as the 0 in max(0, x).
    """

    tex: str
    definition: str
    torch_code: str
    of: Callable[[Tensor], Tensor]
    before: str = ""


GELU = Function(
    r"\mathrm{GELU}",
    r"x\,\Phi(x) = \tfrac{1}{2}x\left(1+\mathrm{erf}\left(x/\sqrt{2}\right)\right)",
    "torch.nn.functional.gelu({})",
    torch.nn.functional.gelu,
)
GELU_TANH = Function(
    r"\mathrm{GELU}_{\tanh}",
    r"\tfrac{1}{2}x\left(1+\tanh\left(\sqrt{2/\pi}\,(x+0.044715\,x^3)\right)\right)",
    'torch.nn.functional.gelu({}, approximate="tanh")',
    lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
)
RELU = Function(r"\mathrm{ReLU}", r"\max(0, x)", "torch.relu({})", torch.relu)
MAX_ZERO = Function(r"\max", r"\max(0, x)", "torch.relu({})", torch.relu, before=r"0,\ ")  # ReLU, written out
TANH = Function(r"\tanh", r"\frac{e^{x}-e^{-x}}{e^{x}+e^{-x}}", "torch.tanh({})", torch.tanh)
SIGMOID = Function(r"\mathrm{sigmoid}", r"\frac{1}{1+e^{-x}}", "torch.sigmoid({})", torch.sigmoid)


@dataclass(frozen=True)
class Apply(Unary):
    """A function of one number, applied to every cell by itself."""

    function: Function

    def apply(self, *parts: Tensor) -> Tensor:
        return self.function.of(parts[0])

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"{self.function.tex}\left({self.function.before}{self.inner.latex(paint)}\right)"

    def code(self) -> str:
        return self.function.torch_code.format(self.inner.code())

    def worked(self, env: Env, at: At) -> str:
        return rf"{self.function.tex}\left({self.function.before}{super().worked(env, at)}\right)"
