"""LayerNorm and its inside: a number in standard deviations from the mean; a mean; a variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say, say_largest
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.naming import find_noun, tell_where
from bertviz_core.analysis.parts import Parts, unwrap
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Mean, Sqrt, Square
from bertviz_core.formula.nodes import Add, Div, Expr, Mul, Sub, Symbol
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.formula.short import write_letter
from bertviz_core.formula.steps import inline
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line, write_whole_line
from bertviz_core.ui.walk.pictures import Piece
from bertviz_core.ui.walk.spreads import draw_moments, draw_spread
from bertviz_core.ui.walk.templates.ranks import tell_rank

_AND = ", and what n is made from"


@dataclass(frozen=True)
class Norm:
    """A LayerNorm as a formula has it: the vector, its mean, what it is divided by; and, of its output, n, γ and β."""

    x: Symbol
    mean: Symbol
    below: Symbol
    scaled: tuple[Symbol, Symbol, Symbol] | None = None


def find_norm(trace: Trace, expr: Expr) -> Norm | None:
    """The LayerNorm that a formula is a step of, if it is one."""
    match expr:
        case Div(left=Sub(left=Symbol() as x, right=Symbol() as mean), right=Sqrt(inner=Add(left=Symbol() as below))):
            return Norm(x, mean, below)
        case Div(left=Sub(left=Symbol() as x, right=Symbol() as mean), right=Symbol() as below):
            return Norm(x, mean, below)
        case Add(left=Mul(left=Symbol() as gamma, right=Symbol() as normal), right=Symbol() as beta):
            step = trace.program.by_address.get(normal.address)
            inside = find_norm(trace, unwrap(step.expr)[0]) if step else None
            return Norm(inside.x, inside.mean, inside.below, (normal, gamma, beta)) if inside else None
        case _:
            return None


def explain_scale(view: View, why: Explanation, norm: Norm) -> Card:
    """A number of a vector that a LayerNorm puts on scale."""
    trace, at = view.trace, why.cell.at
    vector = trace[_cut(norm.x, at, norm.x.axes[-1].name)].astype(np.float64)
    own = trace[_cut(norm.x, at)].item()
    inside = () if _is_cut(trace, why, norm) else (norm.x, norm.mean, norm.below)
    symbols = [*inside, *(norm.scaled or ())]
    rows = [_list_row(trace, symbol, at) for symbol in symbols]
    pieces, result = _list_pieces(trace, why, norm)
    also = _AND if norm.scaled and not _is_cut(trace, why, norm) else ""
    table = Table(f"Made from {why.count} numbers{also}", ("what", "symbol", "value"), rows)
    picture = draw_spread(vector, norm.x.kind, own, pieces, result)
    return Card(tell_scale(trace, why, norm, vector), table, picture, line=_write_in_one_go(trace, why, norm))


def _write_in_one_go(trace: Trace, why: Explanation, norm: Norm) -> Line | None:
    """γ (x − μ) / σ + β, of which n is a step of its own; None where a change put n."""
    if norm.scaled is None or why.step is None or _is_cut(trace, why, norm):
        return None
    normal = norm.scaled[0].address
    return write_whole_line(trace, why, inline(why.step.expr, {normal: trace.program.by_address[normal].expr}))


def _is_cut(trace: Trace, why: Explanation, norm: Norm) -> bool:
    """Whether a change put the normalized number, so that the vector does not come into the output."""
    return norm.scaled is not None and is_put(trace, _cut(norm.scaled[0], why.cell.at))


def _cut(symbol: Symbol, at: dict[str, int], *free: str) -> Address:
    """A cell of a symbol, or a row of it, at the same place."""
    return Address(symbol.address).fix(**{axis.name: at[axis.name] for axis in symbol.axes if axis.name not in free})


def _list_row(trace: Trace, symbol: Symbol, at: dict[str, int]) -> Row:
    cell = _cut(symbol, at)
    signs = {"mean": "μ", "variance": "σ²", "sigma": "σ", "normalized": "n", "weight": "γ", "bias": "β"}
    sign = signs.get(cell.name) or write_letter(symbol)
    return Row(
        (
            Cell(find_noun(cell.path).title, cell),
            Cell(sign, look=f"{card.SIGN} bv-of-{symbol.kind}"),
            card.write_cell(trace[cell].item(), cell),
        )
    )


def _list_pieces(trace: Trace, why: Explanation, norm: Norm) -> tuple[list[Piece], Piece | None]:
    """The sum at the end of a LayerNorm: γ · n and β."""
    if not norm.scaled:
        return [], None
    normal, gamma, beta = (float(trace[_cut(symbol, why.cell.at)]) for symbol in norm.scaled)
    return [Piece("γ · n", gamma * normal), Piece("β", beta)], Piece("output", why.value)


def tell_scale(trace: Trace, why: Explanation, norm: Norm, vector: np.ndarray) -> Said:
    """How many standard deviations it lies from the mean of its vector."""
    place = why.cell.index[-1][1]
    spread = float(vector.std())
    where = tell_where(trace, why.cell)
    if _is_cut(trace, why, norm):
        return say(f"{where}γ and β put on scale what a change put there.", tell_rank(trace, why.cell))
    if not spread:
        return say(f"{where}all {len(vector):,} numbers of its vector are the same.")
    far = float((vector[place] - vector.mean()) / spread)
    parts = {
        "far": Part(abs(far), format_short),
        "side": Part("above" if far >= 0 else "below"),
        "where": Part(where),
        "all": card.count(len(vector)),
    }
    form = "{where}before LayerNorm it lies **{far} standard deviations** {side} the mean of its {all}"
    lies = Claim("standard deviations from the mean", form, parts)
    return say(lies, _tell_scaled(trace, why, norm, far), ".", tell_rank(trace, why.cell))


def _tell_scaled(trace: Trace, why: Explanation, norm: Norm, far: float) -> Said:
    """What γ and β put on scale: these standard deviations, or what another mean, variance or ε makes of them."""
    if norm.scaled is None:
        return say()
    made = Part(float(trace[_cut(norm.scaled[0], why.cell.at)]), format_short)
    return choose(
        Claim(
            "what is put on scale",
            "; γ and β put that on scale",
            {"n": made, "far": Part(far, format_short)},
            Relation.SAME,
        ),
        Claim("what else is put on scale", "; LayerNorm makes it {n}, and γ and β put that on scale", {"n": made}),
    )


def explain_mean(view: View, why: Explanation, found: Parts, mean: Mean) -> Card:
    """A mean, or a mean of squared distances."""
    trace, x = view.trace, _find_vector(mean)
    axis = mean.over.name
    vector = trace[_cut(x, why.cell.at, axis)].astype(np.float64)
    amounts = found.amounts
    order = rank_top(np.abs(amounts), card.ROWS - 2)
    operand = _cut(x, why.cell.at, axis)
    rows = [
        Row(
            (
                Cell(card.name_place(trace, axis, i), operand.fix(**{axis: i})),
                card.write_cell(float(vector[i])),
                card.write_cell(float(amounts[i])),
            ),
            float(amounts[i]),
        )
        for i in order
    ]
    shared = [
        Row((Cell(find_noun(cell.path).title, cell), card.number(trace, cell), Cell("")), lead=True)
        for cell in found.shared
    ]
    ends = card.close_sum(amounts, order, 3)
    part = "part of the variance" if found.shared else "part of the mean"
    columns = ("component" if axis in ("hidden", "transform") else axis, "number", part)
    table = Table(f"Made from {len(amounts):,} numbers, largest part first", columns, [*shared, *rows], ends)
    return Card(tell_mean(trace, why, found, vector, axis), table, _draw_mean(trace, why, found, vector, x.kind))


def _draw_mean(trace: Trace, why: Explanation, found: Parts, vector: np.ndarray, kind: str) -> str:
    """The vector's numbers with their mean; of a variance, with the standard deviation around that."""
    if not found.shared:
        return draw_moments(vector, kind, why.value)
    return draw_moments(vector, kind, float(trace[found.shared[0]]), max(0.0, why.value) ** 0.5)


def _find_vector(mean: Mean) -> Symbol:
    match mean.inner:
        case Square(inner=Sub(left=Symbol() as x)):
            return x
        case Symbol() as x:
            return x
        case _:
            raise TypeError(f"no vector in {mean}")


def is_spread(expr: Expr) -> bool:
    """Whether a formula is the mean of a vector or its variance."""
    match expr:
        case Mean(inner=Symbol()) | Mean(inner=Square(inner=Sub(left=Symbol(), right=Symbol()))):
            return True
        case _:
            return False


def tell_mean(trace: Trace, why: Explanation, found: Parts, vector: np.ndarray, axis: str) -> Said:
    """What it is the middle of, and which number lies farthest from it."""
    distances = np.abs(vector - vector.mean())
    far = int(distances.argmax())
    where = tell_where(trace, why.cell)
    parts = {
        "distance": Part(float(distances[far]), format_number),
        "where": Part(where),
        "all": card.count(len(vector)),
        "number": Part(float(vector[far]), format_short),
        "name": Part(f"{axis} {far}" if axis not in ("hidden", "transform") else f"component {far}"),
    }
    farthest = say_largest(
        ("mean of a vector", "{where}{all} numbers, of which {name} lies farthest from the middle: **{number}**."),
        ("none farther", "{where}{all} numbers, of which none lies farther from the middle than {name}: **{number}**."),
        parts,
        distances,
        (far,),
    )
    return say(_tell_spread(trace, found) if why.cell.name == "variance" else "", farthest)


def _tell_spread(trace: Trace, found: Parts) -> str:
    """What a variance is the mean of: squared distances from the mean, or from what a change put in its place."""
    if any(is_put(trace, cell) for cell in found.shared):
        return "The mean of the squared distances from what a change put in place of their mean. "
    return "How widely they are spread: the mean of the squared distances from their mean. "
