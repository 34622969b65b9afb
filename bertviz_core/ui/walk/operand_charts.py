"""What a number was made from as a picture, chosen by how its formula combines its operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.parts import SUMMAND, TERM, Parts, unwrap
from bertviz_core.analysis.ranking import MASKED, rank_top
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.attention import draw_products
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.figures.operands import Spread, draw_point_on_curve, draw_row, draw_softmax_row, draw_sum_of_parts
from bertviz_core.formula.address import Address
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Apply, Function, Mean, Softmax, Sqrt, Square
from bertviz_core.formula.nodes import Add, Div, Sub, Symbol
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.steps import NORM
from bertviz_core.ui.frame.cell_names import drop_common, name_index, name_leaf, name_term, shorten
from bertviz_core.ui.frame.view import View

_ROWS = 40  # bars of a chart
_LARGEST = 24  # shares of a softmax that is not drawn whole, each with its name, where nothing else is said
_WHOLE = 64  # a softmax over no more than this is drawn whole

Drawn = tuple[Chart, str]


def choose_chart(view: View, why: Explanation, found: Parts, largest: int = _LARGEST) -> Drawn:
    """The chart that fits the formula, with one line of how to read it. largest: shares drawn of a long softmax."""
    assert why.step is not None
    match unwrap(why.step.expr)[0]:
        case Softmax(inner=Symbol() as scores, along=axis):
            drawn = _draw_softmax(view, why, scores, axis.name, largest)
        case Apply(function=function):
            drawn = _draw_on_curve(view, why, function)
        case Lookup(table=table):
            drawn = _draw_lookup(view, why, table)
        case Mean(inner=Symbol() as x, over=axis) | Mean(inner=Square(inner=Sub(left=Symbol() as x)), over=axis):
            drawn = _draw_spread(view, why, x, axis.name)
        case Div(left=Sub(left=Symbol() as x, right=Symbol()), right=Sqrt()):
            drawn = _draw_spread(view, why, x, x.axes[-1].name)
        case _ if found.measure is TERM:
            drawn = _draw_terms(view, why, found)
        case Add() | Sub() if found.measure is SUMMAND:
            drawn = _draw_summands(view, why, found)
        case _:
            drawn = _draw_values(view, why, found)
    return drawn


def _draw_softmax(view: View, why: Explanation, scores: Symbol, axis: str, largest: int) -> Drawn:
    """The whole row of scores and shares, tokens in sentence order; of a long one what matters most."""
    where = why.cell
    row = where.without(axis)
    before, after = (view.trace[Address(path, row.index)] for path in (scores.address, where.path))
    shown = np.arange(len(after)) if len(after) <= _WHOLE else _rank_largest(after, where.at[axis], largest)
    names = [name_index(view.trace, axis, int(i)) for i in shown]
    picked = int(np.flatnonzero(shown == where.at[axis])[0])
    # A masked score lies so far below that no bar could show it.
    drawn = np.where(before[shown] > MASKED, before[shown], np.nan)
    figure = draw_softmax_row(drawn, after[shown], names, picked, view.colors, _choose_color(view, why))
    others = float(np.delete(after.astype(np.float64), shown).sum())
    best = len(shown) - (where.at[axis] not in rank_top(after, len(shown)))
    own = " and this one" if best < len(shown) else ""
    more = (
        f" The {best} largest of {len(after):,}{own}; the others together have {format_percent(others)}."
        if len(shown) < len(after)
        else ""
    )
    return figure, f"Left: the scores that go into the softmax. Right: its probabilities, which sum to 1.{more}"


def _rank_largest(shares: np.ndarray, picked: int, largest: int) -> np.ndarray:
    """The places of the largest shares in their order, with the picked one among them."""
    best = rank_top(shares, largest)
    return np.array(best if picked in best else [*best[:-1], picked])


def _draw_on_curve(view: View, why: Explanation, function: Function) -> Drawn:
    """The function around the operand, which is its only one."""
    at = float(why.sources[0].values[0])
    x = np.linspace(min(-4.0, 1.25 * at), max(4.0, 1.25 * at), 200)
    figure = draw_point_on_curve(x, sample_function(function, x), at, why.value, view.colors, _choose_color(view, why))
    return figure, "The function; the point marks this operand and its result."


def _draw_lookup(view: View, why: Explanation, table: Symbol) -> Drawn:
    """The row of the table that the id chose, the component in question marked."""
    chosen = next(source.block[0] for source in why.sources if source.block.path == table.address)
    rows, columns = table.axes
    values = view.trace[chosen.without(columns.name)]
    figure = draw_row(values, chosen.at[columns.name], view.colors, _choose_color(view, why), title=columns.name)
    name = name_index(view.trace, rows.name, chosen.at[rows.name])
    return figure, f"Row {name} of {name_leaf(chosen)}; the circle marks this number."


def _draw_spread(view: View, why: Explanation, x: Symbol, axis: str) -> Drawn:
    """The vector that a LayerNorm normalizes, with its mean and variance."""
    at = why.cell.at
    values = view.trace[Address(x.address).fix(**{a.name: at[a.name] for a in x.axes if a.name != axis})]
    exact = values.astype(np.float64)
    spread = Spread(float(exact.mean()), float(exact.var()), view.colors.kinds[NORM])
    color = view.colors.kinds.get(x.kind, view.colors.faint)
    figure = draw_row(values, at.get(axis), view.colors, color, title=axis, spread=spread)
    note = "The vector to be normalized. Dashed line: its mean μ. Band: one standard deviation σ on each side."
    return figure, note + (" The circle marks the operand." if axis in at else "")


def _draw_terms(view: View, why: Explanation, found: Parts) -> Drawn:
    order = found.strongest(len(found))
    terms = found.amounts[order]
    names = [name_term(found[i].operands[0]) for i in order[:_ROWS]]
    figure = draw_products(
        names,
        terms[:_ROWS],
        np.cumsum(terms)[:_ROWS],
        view.colors,
        color=_choose_color(view, why),
        title="operand, largest term first",
        total=(float(terms.sum()), len(order)) if len(order) > _ROWS else None,
    )
    more = f" The {_ROWS} largest of {len(order)} are drawn." if len(order) > _ROWS else ""
    return figure, f"Bars: the terms of the sum, largest first. Line: the sum so far.{more}"


def _draw_summands(view: View, why: Explanation, found: Parts) -> Drawn:
    """A sum of a few parts, each in the colour of its kind."""
    names = [_name_factors(part.operands) for part in found]
    kinds = [_choose_kind(view, part.operands) for part in found]
    figure = draw_sum_of_parts(
        names, found.amounts.tolist(), [*kinds, _choose_color(view, why)], view.colors, name_leaf(why.cell)
    )
    return figure, "The parts of the sum, end to end; below them, the sum."


def _choose_kind(view: View, operands: Sequence[Address]) -> str:
    """The colour of the first operand that has one."""
    symbols = (view.trace.program.symbol(operand.path) for operand in operands)
    return next((view.colors.kinds[s.kind] for s in symbols if s and s.kind in view.colors.kinds), view.colors.faint)


def _name_factors(operands: Sequence[Address]) -> str:
    """What a part of a sum is called: its tensor, or the last names of those that are multiplied."""
    return name_leaf(operands[0]) if len(operands) == 1 else " × ".join(operand.name for operand in operands)


def _draw_values(view: View, why: Explanation, found: Parts) -> Drawn:
    """The operands' values, and below them the number that they made."""
    operands = [operand for i in sorted(found.strongest(_ROWS)) for operand in found[i].operands]
    names = (
        drop_common([shorten(view.trace, operand) for operand in operands])
        if len(operands) > 1
        else [name_leaf(operands[0])]
    )
    more = f" The {_ROWS} of {len(found)} that count most." if len(found) > _ROWS else ""
    values = np.array([*(view.trace[operand].item() for operand in operands), why.value])
    names = [*names, name_leaf(why.cell)]
    return draw_bars(values, names, view.colors, _choose_color(view, why), name="value"), f"Operands and result.{more}"


def _choose_color(view: View, why: Explanation) -> str:
    assert why.step is not None
    return view.colors.kinds.get(why.step.kind, view.colors.faint)
