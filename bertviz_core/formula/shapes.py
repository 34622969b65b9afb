"""Expression nodes that put numbers at other places: transposed, renamed, looked up, cut into heads, selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from bertviz_core.errors import DimsError
from bertviz_core.formula.cells import At, Parted, restrict
from bertviz_core.formula.dims import CONCAT, HEAD, HEAD_DIM, Axis, Dims, list_names, replace_axes
from bertviz_core.formula.functions import Unary
from bertviz_core.formula.nodes import ATOM, POSTFIX, Constant, Env, Expr, Paint, Symbol, paint_plain, parenthesize
from bertviz_core.formula.tensors import list_numbers
from bertviz_core.formula.tex import bracket


class _Moved(Unary):
    """The inner numbers at other places: a cell is worked like the inner cell that it is."""

    @property
    def fresh(self) -> bool:
        return self.inner.fresh

    @property
    def worked_level(self) -> int:
        return self.inner.worked_level


class Transpose(_Moved):
    """The last two axes swapped."""

    level = tex_level = POSTFIX

    def dims(self) -> Dims:
        dims = self.inner.dims()
        if len(dims) < 2:
            raise DimsError(f"cannot transpose the axes {list_names(dims)}: there must be two")
        return (*dims[:-2], *dims[:-3:-1])

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].mT

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"{{{bracket(self.inner.latex(paint), self.inner.tex_level, ATOM)}}}^{{\top}}"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}.mT"


@dataclass(frozen=True)
class Rename(_Moved):
    """One axis under another name: the same token, now as the one that looks or is looked at."""

    old: Axis
    new: Axis

    def dims(self) -> Dims:
        return replace_axes(self.inner.dims(), (self.old,), (self.new,))

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0]

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        return ({self.old if axis == self.new else axis: cells for axis, cells in at.items()},)

    def latex(self, paint: Paint = paint_plain) -> str:
        return bracket(self.inner.latex(paint), self.inner.tex_level, ATOM)

    def code(self) -> str:
        return parenthesize(self.inner.code(), self.inner, ATOM)


@dataclass(frozen=True)
class Lookup(Expr):
    """Rows of a table, chosen by whole numbers. Explained one row at a time."""

    table: Symbol
    ids: Expr

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.table, self.ids

    def dims(self) -> Dims:
        return (*self.ids.dims(), *self.table.dims()[1:])

    def apply(self, *parts: Tensor) -> Tensor:
        table, ids = parts
        return table[ids]

    def value(self, env: Env) -> Tensor:
        return env.look_up(self.table.address, self.ids.value(env)) if isinstance(env, Parted) else super().value(env)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        ids = restrict(at, self.ids.dims())
        row = int(self.ids.work(env, ids).flatten()[0])
        rows, *columns = self.table.dims()
        return {rows: range(row, row + 1), **restrict(at, tuple(columns))}, ids

    def work(self, env: Env, at: At) -> Tensor:
        rows, *columns = self.table.dims()
        ids = map(int, list_numbers(self.ids.work(env, restrict(at, self.ids.dims()))))
        there = restrict(at, tuple(columns))
        return torch.cat([self.table.work(env, {rows: range(row, row + 1), **there}) for row in ids])

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"{self.table.latex(paint)}\left[{self.ids.latex(paint)}\right]"

    def code(self) -> str:
        return f"{self.table.code()}[{self.ids.code()}]"

    def worked(self, env: Env, at: At) -> str:
        cells = self.pull(env, at)[0]
        return rf"{self.table.latex()}\left[{', '.join(str(cells[axis].start) for axis in self.table.dims())}\right]"


@dataclass(frozen=True)
class SplitHeads(_Moved):
    """The concatenated axis cut into heads: (..., token, concat) becomes (..., head, token, head_dim).

    A reshape: concat index = head index * head_dim + component.
    """

    heads: Constant
    head_dim: Constant

    def dims(self) -> Dims:
        dims = self.inner.dims()
        token = dims[-2:-1]
        return replace_axes(dims, (*token, CONCAT), (HEAD, *token, HEAD_DIM))

    def apply(self, *parts: Tensor) -> Tensor:
        sizes = (int(self.heads.amount), int(self.head_dim.amount))
        return cast(Tensor, parts[0].unflatten(-1, sizes)).transpose(-3, -2)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        rest = {axis: cells for axis, cells in at.items() if axis not in (HEAD, HEAD_DIM)}
        if HEAD not in at:
            return (rest,)
        width = int(self.head_dim.amount)
        inside = at.get(HEAD_DIM, range(width))
        head = at[HEAD].start
        return ({**rest, CONCAT: range(head * width + inside.start, head * width + inside.stop)},)

    def work(self, env: Env, at: At) -> Tensor:
        if HEAD not in at:
            return super().work(env, at)
        return self._worked_parts(env, at)[0].unsqueeze(-3)  # the cells pulled belong to one head

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\left[{self.inner.latex(paint)}\right]_{{h}}"

    def code(self) -> str:
        inner = parenthesize(self.inner.code(), self.inner, ATOM)
        return f"{inner}.unflatten(-1, ({self.heads.code()}, {self.head_dim.code()})).transpose(-3, -2)"


@dataclass(frozen=True)
class MergeHeads(_Moved):
    """The heads laid side by side: (..., head, token, head_dim) becomes (..., token, concat)."""

    head_dim: Constant

    def dims(self) -> Dims:
        dims = self.inner.dims()
        token = dims[-2:-1]
        return replace_axes(dims, (HEAD, *token, HEAD_DIM), (*token, CONCAT))

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].transpose(-3, -2).flatten(-2)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        rest = {axis: cells for axis, cells in at.items() if axis != CONCAT}
        if CONCAT not in at or len(at[CONCAT]) != 1:
            return (rest,)
        head, inside = divmod(at[CONCAT].start, int(self.head_dim.amount))
        return ({**rest, HEAD: range(head, head + 1), HEAD_DIM: range(inside, inside + 1)},)

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"\mathrm{{Concat}}_{{h}}\left({self.inner.latex(paint)}\right)"

    def code(self) -> str:
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}.transpose(-3, -2).flatten(-2)"


@dataclass(frozen=True)
class Select(_Moved):
    """One position along an axis, which disappears."""

    axis: Axis
    index: int

    def dims(self) -> Dims:
        return replace_axes(self.inner.dims(), (self.axis,), ())

    def apply(self, *parts: Tensor) -> Tensor:
        return parts[0].select(self._place(self.axis), self.index)

    def pull(self, env: Env, at: At) -> tuple[At, ...]:
        return ({**at, self.axis: range(self.index, self.index + 1)},)

    def work(self, env: Env, at: At) -> Tensor:
        return self._worked_parts(env, at)[0].squeeze(self._place(self.axis))

    @property
    def places(self) -> list[str]:
        """What stands below the tensor in a formula, one an axis: the index, and a colon for what is left."""
        return [str(self.index) if axis == self.axis else ":" for axis in self.inner.dims()]

    def latex(self, paint: Paint = paint_plain) -> str:
        return rf"{{{bracket(self.inner.latex(paint), self.inner.tex_level, ATOM)}}}_{{{','.join(self.places)}}}"

    def code(self) -> str:
        place = self.inner.dims().index(self.axis)
        return f"{parenthesize(self.inner.code(), self.inner, ATOM)}[{':, ' * place}{self.index}]"
