r"""The sixth reading: a step's equation for one cell, short enough for one line, as the canvas and captions have it.

What a cell's neighbours need is left out: the layer, where the symbols are told apart without it, and how heads are cut
and laid side by side, since one cell stands in one place. A vector of one token is a small letter, a matrix a capital
one: `q = x W_Q + b_Q`. A fraction stands in one line; means and softmaxes say along which axis they go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

from bertviz_core.formula.document_nodes import Argmax, Sinusoid
from bertviz_core.formula.functions import Function, Mean, Softmax, Sum
from bertviz_core.formula.loss_nodes import LogSoftmax
from bertviz_core.formula.markup import write_words
from bertviz_core.formula.nodes import ATOM, POSTFIX, PRODUCT, SUM, Div, Expr, MatMul, Mul, Paint, Symbol, paint_plain
from bertviz_core.formula.notations import Typeset, rebuild, wrap
from bertviz_core.formula.pair_nodes import PairSum
from bertviz_core.formula.shapes import MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.formula.steps import PARAMETER, Step, walk_symbols
from bertviz_core.formula.tex import bracket, bracket_negative

_LAYER = re.compile(r"\\,\(\d+\)|\^\{\(\d+\)\}")
_CAPITAL = re.compile(r"^((?:\\(?:wide)?(?:hat|bar|tilde)\{)?)([A-Z])")


def write_short(step: Step, paint: Paint = paint_plain) -> str:
    """A step's equation for one cell as short LaTeX, every symbol passed through `paint`."""
    names = name_cells((step.output, *step.leaves))
    return f"{_Hand(paint, names).write(step.output)} = {_write(step.expr, paint, names)}"


def write_short_cell(step: Step, index: Iterable[int], paint: Paint = paint_plain) -> tuple[str, str]:
    """Both sides of the equation of one cell: its symbol with its index, and the formula, fractions stacked."""
    names = name_cells((step.output, *step.leaves))
    hand = _Hand(paint, names, stacked=True)
    place = ",".join(map(str, index))
    symbol = hand.write(step.output)
    return (f"{{{symbol}}}_{{{place}}}" if place else symbol), read_short(step.expr, hand).tex


def write_short_expr(expr: Expr, paint: Paint = paint_plain) -> str:
    """The same of an expression that is no step's."""
    return _write(expr, paint, name_cells(walk_symbols(expr)))


def name_function(function: Function) -> str:
    """What a function is called in a sentence: `GELU`, `ReLU`."""
    return write_words(function.tex)


def name_cells(symbols: Iterable[Symbol]) -> Mapping[Symbol, Names]:
    """How each symbol of an equation is written so that no two read alike, in small letters or in capitals."""
    every = tuple(dict.fromkeys(symbols))
    return {
        symbol: next((way(symbol) for way in _WAYS if _is_alone(symbol, every, way)), _WAYS[-1](symbol))
        for symbol in every
    }


def _is_alone(symbol: Symbol, every: Iterable[Symbol], way: Callable[[Symbol], Names]) -> bool:
    own = way(symbol).cell.casefold()
    return all(way(other).cell.casefold() != own for other in every if other != symbol)


@dataclass(frozen=True)
class Names:
    """A symbol as LaTeX. cell: of one token; whole: with all rows, as it stands on the right of a matrix product."""

    cell: str
    whole: str


def _name_bare(symbol: Symbol) -> Names:
    return Names(_LAYER.sub("", _name_small(symbol).cell), _LAYER.sub("", symbol.tex))


def _name_small(symbol: Symbol) -> Names:
    small = symbol.tex if symbol.kind == PARAMETER else _CAPITAL.sub(lambda at: at[1] + at[2].lower(), symbol.tex)
    return Names(small, symbol.tex)


def write_letter(symbol: Symbol) -> str:
    """The letter alone by which a formula of one token has it: `u` of `U^{(2)}`; x where it has none."""
    found = _CAPITAL.match(symbol.tex)
    return found[2].lower() if found else "x"


def _name_fully(symbol: Symbol) -> Names:
    return Names(symbol.tex, symbol.tex)


_WAYS = _name_bare, _name_small, _name_fully  # the shortest first


@dataclass(frozen=True)
class _Hand:
    """Who writes the symbols. whole: whether with all rows; stacked: fractions as such, where there is room for two
    lines of small letters in one."""

    paint: Paint
    names: Mapping[Symbol, Names]
    whole: bool = False
    stacked: bool = False

    def write(self, symbol: Symbol) -> str:
        names = self.names[symbol]
        return self.paint(replace(symbol, tex=names.whole if self.whole else names.cell))


def _write(expr: Expr, paint: Paint, names: Mapping[Symbol, Names]) -> str:
    return read_short(expr, _Hand(paint, names)).tex


@singledispatch
def read_short(expr: Expr, hand: _Hand) -> Typeset:
    """A node in short. One whose own LaTeX is short is typeset by it, around its parts."""
    return rebuild(expr, [read_short(part, hand) for part in expr.parts], hand.paint)


@read_short.register
def _(expr: Symbol, hand: _Hand) -> Typeset:
    return wrap(expr, hand.write(expr))


@read_short.register
def _(expr: Mul, hand: _Hand) -> Typeset:
    left, right = (read_short(part, hand) for part in expr.parts)
    factor = bracket_negative(bracket(right.tex, right.tex_level, PRODUCT + 1))
    return wrap(expr, rf"{bracket(left.tex, left.tex_level, PRODUCT)} \cdot {factor}", PRODUCT)


@read_short.register
def _(expr: Div, hand: _Hand) -> Typeset:
    left, right = (read_short(part, hand) for part in expr.parts)
    if hand.stacked:
        return wrap(expr, rf"\dfrac{{{left.tex}}}{{{right.tex}}}", POSTFIX)
    below = bracket(right.tex, right.tex_level, PRODUCT + 1)
    return wrap(expr, f"{bracket(left.tex, left.tex_level, PRODUCT)} / {below}", PRODUCT)


@read_short.register
def _(expr: MatMul, hand: _Hand) -> Typeset:
    if hand.stacked and isinstance(expr.right, Transpose):  # of one cell it is a product of two vectors
        left, right = (read_short(part, hand) for part in (expr.left, expr.right.inner))
        return wrap(expr, rf"{left.tex} \cdot {right.tex}", PRODUCT)
    return rebuild(expr, [read_short(expr.left, hand), read_short(expr.right, replace(hand, whole=True))], hand.paint)


@read_short.register
def _(expr: PairSum, hand: _Hand) -> Typeset:
    left, right = (read_short(part, hand) for part in expr.parts)
    return wrap(expr, f"{left.tex} + {right.tex}", SUM)


@read_short.register
def _(expr: Sum, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    return wrap(expr, rf"\sum_{{{_name_axis(expr)}}}\, {bracket(inner.tex, inner.tex_level, PRODUCT)}", SUM)


@read_short.register
def _(expr: Mean, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    return wrap(expr, rf"\mathrm{{mean}}_{{{_name_axis(expr)}}}\left({inner.tex}\right)")


@read_short.register
def _(expr: Softmax, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    if not hand.stacked or isinstance(expr, LogSoftmax):
        return rebuild(expr, [inner], hand.paint)
    power = rf"e^{{{inner.tex} - \max\, {bracket(inner.tex, inner.tex_level, PRODUCT)}}}"  # as it is worked out
    return wrap(expr, rf"\dfrac{{{power}}}{{\sum_{{\mathrm{{{expr.along.name}}}}}\, {power}}}", POSTFIX)


@read_short.register
def _(expr: Argmax, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    return wrap(expr, rf"\mathrm{{argmax}}_{{\mathrm{{{expr.along.name}}}}}\left({inner.tex}\right)")


@read_short.register
def _(expr: Sinusoid, hand: _Hand) -> Typeset:
    return wrap(expr, rf"\mathrm{{Sinusoid}}\left({read_short(expr.positions, hand).tex}\right)")


@read_short.register(Rename)
@read_short.register(SplitHeads)
@read_short.register(MergeHeads)
def _(expr: Rename | SplitHeads | MergeHeads, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    return wrap(expr, inner.tex, inner.tex_level)


@read_short.register
def _(expr: Select, hand: _Hand) -> Typeset:
    inner = read_short(expr.inner, hand)
    return wrap(expr, rf"{bracket(inner.tex, inner.tex_level, ATOM)}\left[{expr.index}\right]")


def _name_axis(expr: Sum) -> str:
    return rf"\mathrm{{{expr.over.name}}}"
