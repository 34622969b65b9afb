"""Two more readings of a formula as LaTeX, off the same tree: with tokens as columns, and as functions of functions.

row       A token is a row: `x W + b`, with W as (in, out). This is every node's own `latex`.
column    A token is a column: whatever a step computes is transposed, and a matrix of the checkpoint stays (in, out):
          `W^T x + b 1^T`. A vector that is repeated is written out as its product with a vector of ones.
function  What is done has a name and stands before what it is done to: `Linear_{W, b}(x)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import singledispatch
from typing import Any, Literal, get_args

from bertviz_core.formula.dims import Dims
from bertviz_core.formula.document_nodes import Sinusoid
from bertviz_core.formula.functions import Mean, Sum
from bertviz_core.formula.nodes import ATOM, PRODUCT, Add, Div, Expr, MatMul, Mul, Paint, Sub, Symbol, plain
from bertviz_core.formula.shapes import Lookup, Select, SplitHeads, Transpose
from bertviz_core.formula.tex import bracketed

Notation = Literal["row", "column", "function"]
NOTATIONS: tuple[Notation, ...] = get_args(Notation)

_ONES = r"\mathbf{1}"


def typeset(expr: Expr, paint: Paint = plain, notation: Notation = "row") -> str:
    """The formula in one of the notations, every symbol passed through `paint`."""
    if notation == "row":
        return expr.latex(paint)
    return (column if notation == "column" else function)(expr, paint).tex


@dataclass(frozen=True)
class Typeset(Expr):
    """A part that is typeset already: LaTeX, the axes of what it stands for, and how tightly it binds."""

    tex: str
    axes: Dims
    tex_level: int = ATOM

    def dims(self) -> Dims:
        return self.axes

    def latex(self, paint: Paint = plain) -> str:
        return self.tex


Reading = Callable[[Expr, Paint], Typeset]


@singledispatch
def column(expr: Expr, paint: Paint) -> Typeset:
    """The formula with tokens as columns. A node that does the same either way is typeset around its parts."""
    return _around(expr, [column(part, paint) for part in expr.parts], paint)


@column.register
def _(expr: Symbol, paint: Paint) -> Typeset:
    """A matrix of the checkpoint is the same in both notations, and here its transpose is meant."""
    if expr.column:
        return _typeset(expr, paint(replace(expr, tex=expr.column)))
    own = _typeset(expr, paint(expr))
    return _around(Transpose(expr), [own], paint) if _is_matrix(expr) else own


@column.register
def _(expr: Transpose, paint: Paint) -> Typeset:
    if _is_matrix(expr.inner) and isinstance(expr.inner, Symbol) and not expr.inner.column:
        return _typeset(expr, paint(expr.inner))  # transposed twice
    return _around(expr, [column(expr.inner, paint)], paint)


@column.register(Add)
@column.register(Sub)
@column.register(Mul)
@column.register(Div)
def _(expr: Expr, paint: Paint) -> Typeset:
    return _around(expr, [_spread(part, expr.dims(), paint) for part in expr.parts], paint)


@column.register
def _(expr: MatMul, paint: Paint) -> Typeset:
    left, right = (column(part, paint) for part in expr.parts)
    return _around(expr, [right, left], paint)


@column.register
def _(expr: Sum, paint: Paint) -> Typeset:
    return _typeset(expr, expr.latex(paint), expr.tex_level)  # one component after the other: no rows and no columns


@column.register
def _(expr: Lookup, paint: Paint) -> Typeset:
    table = column(expr.table, paint)
    ids = column(expr.ids, paint).tex
    return _typeset(expr, rf"{{{bracketed(table.tex, table.tex_level, ATOM)}}}_{{:,\,{ids}}}")


@column.register
def _(expr: Select, paint: Paint) -> Typeset:
    inner = column(expr.inner, paint)
    return _typeset(expr, rf"{{{bracketed(inner.tex, inner.tex_level, ATOM)}}}_{{:,{expr.index}}}")


def _spread(part: Expr, wide: Dims, paint: Paint) -> Typeset:
    """A part of an elementwise operation; a vector beside a matrix is repeated by a product with ones."""
    own, dims = column(part, paint), part.dims()
    rows, columns = (wide[-1], wide[-2]) if len(wide) > 1 else (None, None)
    if rows in dims and columns not in dims and columns is not None:
        return Typeset(rf"{bracketed(own.tex, own.tex_level, PRODUCT)}\, {_ONES}^{{\top}}", dims, PRODUCT)
    if columns in dims and rows not in dims:
        turned = rf"{{{bracketed(own.tex, own.tex_level, ATOM)}}}^{{\top}}"
        return Typeset(rf"{_ONES}\, {turned}", dims, PRODUCT)
    return own


@singledispatch
def function(expr: Expr, paint: Paint) -> Typeset:
    """The formula as functions of functions; what is done cell by cell keeps its signs."""
    return _around(expr, [function(part, paint) for part in expr.parts], paint)


@function.register
def _(expr: Symbol, paint: Paint) -> Typeset:
    return _typeset(expr, paint(expr))


@function.register
def _(expr: Add, paint: Paint) -> Typeset:
    product, bias = expr.left, expr.right
    if isinstance(product, MatMul) and _is_matrix(product.right) and isinstance(bias, Symbol) and len(bias.axes) == 1:
        return _called(expr, "Linear", [product.left], paint, index=[product.right, bias])
    return _around(expr, [function(part, paint) for part in expr.parts], paint)


@function.register
def _(expr: MatMul, paint: Paint) -> Typeset:
    if _is_matrix(expr.right):
        return _called(expr, "Linear", [expr.left], paint, index=[expr.right])
    return _called(expr, "MatMul", expr.parts, paint)


@function.register
def _(expr: Lookup, paint: Paint) -> Typeset:
    return _called(expr, "Embedding", [expr.ids], paint, index=[expr.table])


@function.register
def _(expr: Transpose, paint: Paint) -> Typeset:
    return _called(expr, "transpose", expr.parts, paint)


@function.register
def _(expr: Sum, paint: Paint) -> Typeset:
    return _called(
        expr, "mean" if isinstance(expr, Mean) else "sum", expr.parts, paint, rf"\mathrm{{{expr.over.name}}}"
    )


@function.register
def _(expr: SplitHeads, paint: Paint) -> Typeset:
    return _called(expr, "Split", expr.parts, paint, "h")


@function.register
def _(expr: Select, paint: Paint) -> Typeset:
    return _called(expr, "Select", expr.parts, paint, str(expr.index))


@function.register
def _(expr: Sinusoid, paint: Paint) -> Typeset:
    return _called(expr, "Sinusoid", expr.parts, paint)


def _called(expr: Expr, name: str, arguments: Any, paint: Paint, below: str = "", index: Any = ()) -> Typeset:
    """A named function of the arguments; `index`, what it is made with, stands below its name."""
    below = below or r",\,".join(function(part, paint).tex for part in index)
    inside = r",\, ".join(function(part, paint).tex for part in arguments)
    return _typeset(expr, rf"\mathrm{{{name}}}{f'_{{{below}}}' if below else ''}\left({inside}\right)")


def _around(expr: Any, parts: list[Typeset], paint: Paint) -> Typeset:
    """The node's own LaTeX around parts that are typeset already."""
    places = [place.name for place in fields(expr) if any(getattr(expr, place.name) is part for part in expr.parts)]
    rebuilt = replace(expr, **dict(zip(places, parts, strict=True))) if places else expr
    return Typeset(rebuilt.latex(paint), expr.dims(), expr.tex_level)


def _typeset(expr: Expr, tex: str, level: int = ATOM) -> Typeset:
    return Typeset(tex, expr.dims(), level)


def _is_matrix(expr: Expr) -> bool:
    """Whether this is a matrix or table of the checkpoint."""
    return isinstance(expr, Symbol) and expr.kind == "parameter" and len(expr.axes) > 1
