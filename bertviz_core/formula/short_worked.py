r"""The seventh reading: a cell's formula with its numbers in one line, as the drawer has it.

Of many products the largest are written, shortly, and dots: `x W_Q + b_Q` is `1.19 \cdot 0.27 + \dots - 0.2524`. What
else a formula does with many numbers stands as what comes of them: a sum is one number, a softmax
`\frac{0.4345}{1.8194}`. A sign stands before a number, not in brackets.
"""

from __future__ import annotations

import math
from functools import singledispatch

from bertviz_core.formula.cells import At
from bertviz_core.formula.document_nodes import BASE, Dropout, Sinusoid
from bertviz_core.formula.functions import Apply, Mean, Softmax, Sqrt
from bertviz_core.formula.loss_nodes import LogSoftmax, Negative
from bertviz_core.formula.nodes import ATOM, POSTFIX, PRODUCT, SUM, Add, Constant, Div, Env, Expr, MatMul, Mul, Sub
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.shapes import Lookup, MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.formula.tensors import list_numbers
from bertviz_core.formula.tex import bracket, bracket_negative, write_largest

Worked = tuple[str, int]  # LaTeX, and how tightly it binds


def work_short(expr: Expr, env: Env, at: At) -> str:
    """One cell's formula with its numbers, as LaTeX; "" where that is its result alone."""
    text, _ = _work(expr, env, at)
    return "" if text == _write(expr, env, at) else text


@singledispatch
def _work(expr: Expr, env: Env, at: At) -> Worked:
    """A node whose numbers are too many for a line: its result."""
    return _write(expr, env, at), ATOM


def _write(expr: Expr, env: Env, at: At) -> str:
    return format_latex(expr.amount if isinstance(expr, Constant) else expr.work(env, at).item())


def _work_parts(expr: Expr, env: Env, at: At) -> list[Worked]:
    return [_work(part, env, needed) for part, needed in zip(expr.parts, expr.pull(env, at), strict=True)]


@_work.register(Transpose)
@_work.register(Rename)
@_work.register(SplitHeads)
@_work.register(MergeHeads)
@_work.register(Select)
def _(expr: Expr, env: Env, at: At) -> Worked:
    (inner,) = _work_parts(expr, env, at)
    return inner


@_work.register
def _(expr: Add, env: Env, at: At) -> Worked:
    (left, _), (right, level) = _work_parts(expr, env, at)
    return _join(left, right, level), SUM


@_work.register
def _(expr: Sub, env: Env, at: At) -> Worked:
    (left, _), (right, level) = _work_parts(expr, env, at)
    if right.startswith("-") and level > SUM:  # of what is taken off and is negative, the size is added
        return f"{left} + {right[1:]}", SUM
    return f"{left} - {bracket(right, level, PRODUCT)}", SUM


def _join(left: str, right: str, level: int) -> str:
    """A sum; what is added and begins with a minus is taken off instead, unless it is a sum itself."""
    if right.startswith("-") and level > SUM:
        return f"{left} - {right[1:]}"
    return f"{left} + {bracket(right, level, SUM)}"


@_work.register
def _(expr: Mul, env: Env, at: At) -> Worked:
    (left, own), (right, other) = _work_parts(expr, env, at)
    if not expr.work(env, at).item():  # as what a mask adds where nothing is masked
        return "0", ATOM
    return rf"{bracket(left, own, PRODUCT)} \cdot {bracket_negative(bracket(right, other, POSTFIX))}", PRODUCT


@_work.register
def _(expr: MatMul, env: Env, at: At) -> Worked:
    left, right = (
        list_numbers(part.work(env, needed)) for part, needed in zip(expr.parts, expr.pull(env, at), strict=True)
    )
    return write_largest(left, right), SUM if len(left) > 1 else PRODUCT


@_work.register
def _(expr: Div, env: Env, at: At) -> Worked:
    (above, _), (below, _) = _work_parts(expr, env, at)
    return rf"\dfrac{{{above}}}{{{below}}}", POSTFIX


@_work.register
def _(expr: Sqrt, env: Env, at: At) -> Worked:
    if isinstance(expr.inner, Constant):
        return rf"\sqrt{{{format_latex(expr.inner.amount)}}}", ATOM
    return _write(expr, env, at), ATOM


@_work.register
def _(expr: Negative, env: Env, at: At) -> Worked:
    ((inner, level),) = _work_parts(expr, env, at)
    return f"-{bracket_negative(bracket(inner, level, PRODUCT))}", PRODUCT


@_work.register
def _(expr: Mean, env: Env, at: At) -> Worked:
    (needed,) = expr.pull(env, at)
    cells = expr.inner.work(env, needed)
    return rf"\dfrac{{{format_latex(cells.sum().item())}}}{{{cells.numel()}}}", POSTFIX


@_work.register
def _(expr: Softmax, env: Env, at: At) -> Worked:
    own, total = _raise(expr, env, at)
    return rf"\dfrac{{{format_latex(math.exp(own))}}}{{{format_latex(total)}}}", POSTFIX


@_work.register
def _(expr: LogSoftmax, env: Env, at: At) -> Worked:
    own, total = _raise(expr, env, at)
    return f"{format_latex(own)} - {bracket_negative(format_latex(math.log(total)))}", SUM


def _raise(expr: Softmax, env: Env, at: At) -> tuple[float, float]:
    """How far below the largest a number lies, and the sum of all powers of e with such exponents."""
    (needed,) = expr.pull(env, at)
    row = expr.inner.work(env, needed).flatten()
    below = row - row.max()
    return below[at[expr.along].start].item(), below.exp().sum().item()


@_work.register
def _(expr: Apply, env: Env, at: At) -> Worked:
    (needed,) = expr.pull(env, at)
    function = expr.function
    return rf"{function.tex}\left({function.before}{_write(expr.inner, env, needed)}\right)", ATOM


@_work.register
def _(expr: Lookup, env: Env, at: At) -> Worked:
    return expr.worked(env, at), ATOM


@_work.register
def _(expr: Dropout, env: Env, at: At) -> Worked:
    if not expr.work(env, at).item():
        return "0", ATOM
    return rf"\dfrac{{{_write(expr.inner, env, at)}}}{{{1 - expr.rate:g}}}", POSTFIX


@_work.register
def _(expr: Sinusoid, env: Env, at: At) -> Worked:
    (needed,) = expr.pull(env, at)
    component = at[expr.along].start
    position = _write(expr.positions, env, needed)
    power = f"{component - component % 2} / {expr.width.amount}"
    name = r"\cos" if component % 2 else r"\sin"
    return rf"{name}\left({position} / {BASE}^{{{power}}}\right)", ATOM
