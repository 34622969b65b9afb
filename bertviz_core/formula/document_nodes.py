"""Expression nodes that BERT as released has no use for, and the documents that describe it have."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.formula.cells import At, narrow, restrict
from bertviz_core.formula.dims import Axis, Dims, replace_axes
from bertviz_core.formula.functions import Function
from bertviz_core.formula.nodes import ATOM, PRODUCT, Constant, Env, Expr, Paint, Symbol, paint_plain, parenthesize
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.tensors import list_numbers
from bertviz_core.formula.tex import take_ends

BASE = 10_000

ZEROS = Function(r"\mathrm{zeros\_like}", "0", "torch.zeros_like({})", torch.zeros_like)


@dataclass(frozen=True)
class Sinusoid(Expr):
    """The sinusoidal vector of each position: even components a sine, odd ones the cosine of the same angle.

    The angles are taken in float64, and the result is rounded to `dtype`: at position 500 an angle in float32 is no
    longer right in the fifth digit.
    """

    positions: Symbol
    along: Axis
    width: Constant
    dtype: torch.dtype

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.positions,)

    def dims(self) -> Dims:
        return (*self.positions.dims(), self.along)

    def apply(self, *parts: Tensor) -> Tensor:
        component = torch.arange(int(self.width.amount), dtype=torch.float64)
        angle = parts[0][:, None] / BASE ** (component // 2 * 2 / self.width.amount)
        return torch.where(component % 2 == 0, torch.sin(angle), torch.cos(angle)).to(self.dtype)

    def latex(self, paint: Paint = paint_plain) -> str:
        i, d = self.positions.latex(paint), self.width.latex()
        lines = (
            rf"{name}\left(\frac{{{i}}}{{{BASE}^{{\frac{{{j}}}{{{d}}}}}}}\right) & \text{{if }} j \text{{ is {which}}}"
            for name, j, which in ((r"\sin", "j", "even"), (r"\cos", "j-1", "odd"))
        )
        return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"

    def code(self) -> str:
        component = f"torch.arange({self.width.code()}, dtype=torch.float64)"
        angle = f"{self.positions.code()}[:, None] / {BASE} ** ({component} // 2 * 2 / {self.width.code()})"
        return f"torch.where({component} % 2 == 0, torch.sin({angle}), torch.cos({angle})).to({self.dtype})"

    def worked(self, env: Env, at: At) -> str:
        position, j = self.positions.worked(env, restrict(at, self.positions.dims())), at[self.along].start
        name = r"\cos" if j % 2 else r"\sin"
        return rf"{name}\left(\frac{{{position}}}{{{BASE}^{{\frac{{{j - j % 2}}}{{{self.width.amount}}}}}}}\right)"


@dataclass(frozen=True)
class Dropout(Expr):
    """Each number set to 0 with probability `rate`, the others divided by 1 - rate, so that the mean stays.

    Which ones is drawn from `seed` and the tensor's shape: the same in every run.
    """

    level = PRODUCT

    inner: Symbol
    rate: float
    seed: int

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.inner,)

    def dims(self) -> Dims:
        return self.inner.dims()

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0] * self._kept(parts[0].shape) / (1 - self.rate)

    def work(self, env: Env, at: At) -> Tensor:
        kept = narrow(self._kept(env[self.inner.address].shape), self.dims(), at)
        return self.inner.work(env, at) * kept / (1 - self.rate)

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\mathrm{{Dropout}}_{{{self.rate}}}\left({self.inner.latex(paint)}\right)"

    def code(self) -> str:
        drawn = f"torch.rand({self.inner.code()}.shape, generator=torch.Generator().manual_seed({self.seed}))"
        return f"{self.inner.code()} * ({drawn} >= {self.rate}) / {1 - self.rate}"

    def worked(self, env: Env, at: At) -> str:
        kept = narrow(self._kept(env[self.inner.address].shape), self.dims(), at).item()
        return rf"\frac{{{int(kept)}\cdot \left({self.inner.worked(env, at)}\right)}}{{{1 - self.rate}}}"

    def _kept(self, shape: torch.Size) -> Tensor:
        return torch.rand(shape, generator=torch.Generator().manual_seed(self.seed)) >= self.rate


@dataclass(frozen=True)
class Argmax(Expr):
    """The index of the largest number along one axis, which disappears."""

    inner: Symbol
    along: Axis

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.inner,)

    def dims(self) -> Dims:
        return replace_axes(self.inner.dims(), (self.along,), ())

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].argmax(dim=self.inner.dims().index(self.along))

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\underset{{\mathrm{{{self.along.name}}}}}{{\mathrm{{argmax}}}}\left({self.inner.latex(paint)}\right)"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}.argmax(dim={self.inner.dims().index(self.along)})"

    def worked(self, env: Env, at: At) -> str:
        row = [format_latex(cell) for cell in list_numbers(self.inner.work(env, at))]
        shown = take_ends(row)
        between = [r"\ldots"] if len(shown) < len(row) else []
        return r"\mathrm{argmax}\left(" + r",\ ".join([*shown[:-1], *between, shown[-1]]) + r"\right)"
