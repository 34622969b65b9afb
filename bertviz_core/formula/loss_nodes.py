"""Expression nodes that only training has a use for: the loss of a distribution at the words that were hidden."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.formula.cells import At, restrict
from bertviz_core.formula.dims import VOCAB, Axis, Dims, replace_axes
from bertviz_core.formula.functions import Softmax, Sum, Unary
from bertviz_core.formula.nodes import ATOM, POSTFIX, SUM, Env, Expr, Mul, Paint, paint_plain, parenthesize
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.tensors import list_numbers
from bertviz_core.formula.tex import bracket, bracket_negative, take_ends, write_sum


class Negative(Unary):
    """Minus the inner number."""

    level = tex_level = SUM

    def apply(self, *parts: Tensor) -> Tensor:
        return -parts[0]

    def latex(self, paint: Paint = paint_plain) -> str:
        return f"-{bracket(self.inner.latex(paint), self.inner.tex_level, POSTFIX)}"

    def code(self) -> str:
        return f"-{parenthesize(self.inner.code(), self.inner, POSTFIX)}"

    def worked(self, env: Env, at: At) -> str:
        return f"-{bracket_negative(super().worked(env, at))}"


class LogSoftmax(Softmax):
    """The logarithm of a softmax, taken at one go: a probability too small to be told from 0 keeps its logarithm.

    Over the vocabulary the sum is taken in float64, as the softmax itself takes it.
    """

    def apply(self, *parts: Tensor) -> Tensor:
        (scores,), place = parts, self._place(self.along)
        if self.along != VOCAB or scores.dtype == torch.float64:
            return scores.log_softmax(dim=place)
        if scores.dim() > -place:  # row by row, for the sake of memory
            return torch.stack([self.apply(row) for row in scores])
        return scores.double().log_softmax(dim=place).to(scores.dtype)

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\log\,{super().latex(paint)}"

    def code(self) -> str:
        return super().code().replace("torch.softmax", "torch.log_softmax", 1)

    def worked(self, env: Env, at: At) -> str:
        return rf"\log {super().worked(env, at)}"


class Chosen(Mul):
    """What counts times 1, what does not times 0: written side by side, as with a bracket that is 1 where it holds."""

    def _tex_sign(self) -> str:
        return r"\,"


class SumChosen(Sum):
    """A sum over one axis in which most numbers are 0, since they were not chosen: with numbers, these are left out."""

    def worked(self, env: Env, at: At) -> str:
        cells = [cell for cell in list_numbers(self._worked_parts(env, at)[0]) if cell] or [0.0]
        return write_sum([bracket_negative(format_latex(cell)) for cell in take_ends(cells)], len(cells), brace=False)


@dataclass(frozen=True)
class Pick(Expr):
    """Of each row the one cell that a whole number chooses; the axis of the choice disappears."""

    rows: Expr
    ids: Expr
    along: Axis

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.rows, self.ids

    def dims(self) -> Dims:
        return replace_axes(self.rows.dims(), (*self.ids.dims(), self.along), self.ids.dims())

    def apply(self, *parts: Tensor) -> Tensor:
        rows, ids = parts
        return rows.gather(-1, ids.unsqueeze(-1)).squeeze(-1)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        there = restrict(at, self.ids.dims())
        chosen = self.ids.work(env, there).flatten()
        if len(chosen) != 1:
            return there, there
        return {**there, self.along: range(int(chosen[0]), int(chosen[0]) + 1)}, there

    def work(self, env: Env, at: At) -> Tensor:
        rows, ids = self._worked_parts(env, at)
        return rows.squeeze(-1) if ids.numel() == 1 else self.apply(rows, ids)

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"{{{bracket(self.rows.latex(paint), self.rows.tex_level, ATOM)}}}_{{{self.ids.latex(paint)}}}"

    def code(self) -> str:
        rows = parenthesize(self.rows.code(), self.rows, ATOM)
        return f"{rows}.gather(-1, {self.ids.code()}.unsqueeze(-1)).squeeze(-1)"

    def worked(self, env: Env, at: At) -> str:
        return self.rows.worked(env, self.pull(env, at)[0])
