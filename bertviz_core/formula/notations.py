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
from bertviz_core.formula.nodes import ATOM, PRODUCT, Add, Div, Expr, MatMul, Mul, Paint, Sub, Symbol, paint_plain
from bertviz_core.formula.pair_nodes import PairSum
from bertviz_core.formula.shapes import Lookup, Select, SplitHeads, Transpose
from bertviz_core.formula.tex import ONES, bracket

Notation = Literal["row", "column", "function"]
NOTATIONS: tuple[Notation, ...] = get_args(Notation)


def typeset(expr: Expr, paint: Paint = paint_plain, notation: Notation = "row") -> str:
    """The formula in one of the notations, every symbol passed through `paint`."""
    if notation == "row":
        return expr.latex(paint)
    return (typeset_column if notation == "column" else typeset_function)(expr, paint).tex


@dataclass(frozen=True)
class Typeset(Expr):
    """A part that is typeset already: LaTeX, the axes of what it stands for, and how tightly it binds."""

    tex: str
    axes: Dims
    tex_level: int = ATOM

    def dims(self) -> Dims:
        return self.axes

    def latex(self, paint: Paint = paint_plain) -> str:
        return self.tex


Reading = Callable[[Expr, Paint], Typeset]


@singledispatch
def typeset_column(expr: Expr, paint: Paint) -> Typeset:
    """The formula with tokens as columns. A node that does the same either way is typeset around its parts."""
    return rebuild(expr, [typeset_column(part, paint) for part in expr.parts], paint)


@typeset_column.register
def _(expr: Symbol, paint: Paint) -> Typeset:
    """A matrix of the checkpoint is the same in both notations, and here its transpose is meant."""
    if expr.column:
        return wrap(expr, paint(replace(expr, tex=expr.column)))
    own = wrap(expr, paint(expr))
    return rebuild(Transpose(expr), [own], paint) if _is_matrix(expr) else own


@typeset_column.register
def _(expr: Transpose, paint: Paint) -> Typeset:
    if _is_matrix(expr.inner) and isinstance(expr.inner, Symbol) and not expr.inner.column:
        return wrap(expr, paint(expr.inner))  # transposed twice
    return rebuild(expr, [typeset_column(expr.inner, paint)], paint)


@typeset_column.register(Add)
@typeset_column.register(Sub)
@typeset_column.register(Mul)
@typeset_column.register(Div)
def _(expr: Expr, paint: Paint) -> Typeset:
    return rebuild(expr, [_spread(part, expr.dims(), paint) for part in expr.parts], paint)


@typeset_column.register
def _(expr: PairSum, paint: Paint) -> Typeset:
    left, right = (_spread(part, expr.dims(), paint) for part in expr.parts)
    return wrap(expr, f"{left.tex} + {right.tex}", expr.tex_level)


@typeset_column.register
def _(expr: MatMul, paint: Paint) -> Typeset:
    left, right = (typeset_column(part, paint) for part in expr.parts)
    return rebuild(expr, [right, left], paint)


@typeset_column.register
def _(expr: Sum, paint: Paint) -> Typeset:
    return wrap(expr, expr.latex(paint), expr.tex_level)  # one component after the other: no rows and no columns


@typeset_column.register
def _(expr: Lookup, paint: Paint) -> Typeset:
    table = typeset_column(expr.table, paint)
    ids = typeset_column(expr.ids, paint).tex
    return wrap(expr, rf"{{{bracket(table.tex, table.tex_level, ATOM)}}}_{{:,\,{ids}}}")


@typeset_column.register
def _(expr: Select, paint: Paint) -> Typeset:
    inner = typeset_column(expr.inner, paint)
    selected = rf"{{{bracket(inner.tex, inner.tex_level, ATOM)}}}_{{{','.join(reversed(expr.places))}}}"
    is_row = expr.axis == expr.inner.dims()[-1] and len(expr.places) > 1  # what is one number of every token
    return wrap(expr, rf"{{{selected}}}^{{\top}}" if is_row else selected)


def _spread(part: Expr, wide: Dims, paint: Paint) -> Typeset:
    """A part of an elementwise operation; a vector beside a matrix is repeated by a product with ones."""
    own, dims = typeset_column(part, paint), part.dims()
    rows, columns = (wide[-1], wide[-2]) if len(wide) > 1 else (None, None)
    if rows in dims and columns not in dims and columns is not None:
        return Typeset(rf"{bracket(own.tex, own.tex_level, PRODUCT)}\, {ONES}^{{\top}}", dims, PRODUCT)
    if columns in dims and rows not in dims:
        turned = rf"{{{bracket(own.tex, own.tex_level, ATOM)}}}^{{\top}}"
        return Typeset(rf"{ONES}\, {turned}", dims, PRODUCT)
    return own


@singledispatch
def typeset_function(expr: Expr, paint: Paint) -> Typeset:
    """The formula as functions of functions; what is done cell by cell keeps its signs."""
    return rebuild(expr, [typeset_function(part, paint) for part in expr.parts], paint)


@typeset_function.register
def _(expr: Symbol, paint: Paint) -> Typeset:
    return wrap(expr, paint(expr))


@typeset_function.register
def _(expr: Add, paint: Paint) -> Typeset:
    product, bias = expr.left, expr.right
    if isinstance(product, MatMul) and _is_matrix(product.right) and isinstance(bias, Symbol) and len(bias.axes) == 1:
        return _call(expr, "Linear", [product.left], paint, index=[product.right, bias])
    return rebuild(expr, [typeset_function(part, paint) for part in expr.parts], paint)


@typeset_function.register
def _(expr: MatMul, paint: Paint) -> Typeset:
    if _is_matrix(expr.right):
        return _call(expr, "Linear", [expr.left], paint, index=[expr.right])
    return _call(expr, "MatMul", expr.parts, paint)


@typeset_function.register
def _(expr: Lookup, paint: Paint) -> Typeset:
    return _call(expr, "Embedding", [expr.ids], paint, index=[expr.table])


@typeset_function.register
def _(expr: Transpose, paint: Paint) -> Typeset:
    return _call(expr, "transpose", expr.parts, paint)


@typeset_function.register
def _(expr: Sum, paint: Paint) -> Typeset:
    return _call(expr, "mean" if isinstance(expr, Mean) else "sum", expr.parts, paint, rf"\mathrm{{{expr.over.name}}}")


@typeset_function.register
def _(expr: SplitHeads, paint: Paint) -> Typeset:
    return _call(expr, "Split", expr.parts, paint, "h")


@typeset_function.register
def _(expr: Select, paint: Paint) -> Typeset:
    return _call(expr, "Select", expr.parts, paint, str(expr.index))


@typeset_function.register
def _(expr: Sinusoid, paint: Paint) -> Typeset:
    return _call(expr, "Sinusoid", expr.parts, paint)


def _call(expr: Expr, name: str, arguments: Any, paint: Paint, below: str = "", index: Any = ()) -> Typeset:
    """A named function of the arguments; `index`, what it is made with, stands below its name."""
    below = below or r",\,".join(typeset_function(part, paint).tex for part in index)
    inside = r",\, ".join(typeset_function(part, paint).tex for part in arguments)
    return wrap(expr, rf"\mathrm{{{name}}}{f'_{{{below}}}' if below else ''}\left({inside}\right)")


def rebuild(expr: Any, parts: list[Typeset], paint: Paint) -> Typeset:
    """The node's own LaTeX around parts that are typeset already."""
    places = [place.name for place in fields(expr) if any(getattr(expr, place.name) is part for part in expr.parts)]
    rebuilt = replace(expr, **dict(zip(places, parts, strict=True))) if places else expr
    return Typeset(rebuilt.latex(paint), expr.dims(), expr.tex_level)


def wrap(expr: Expr, tex: str, level: int = ATOM) -> Typeset:
    return Typeset(tex, expr.dims(), level)


def _is_matrix(expr: Expr) -> bool:
    """Whether this is a matrix or table of the checkpoint."""
    return isinstance(expr, Symbol) and expr.kind == "parameter" and len(expr.axes) > 1
