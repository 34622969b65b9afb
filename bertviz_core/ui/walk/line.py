"""A number's formula in the drawer: symbols with number indices, coloured by kind, and the same with numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bertviz_core.formula.dims import HEAD
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.nodes import Expr, Symbol
from bertviz_core.formula.short import write_short_cell
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class Line:
    """One equation as LaTeX. worked: the right side with numbers, "" where that is the result alone."""

    left: str
    right: str
    worked: str


def write_line(why: Explanation, expr: Expr | None = None, worked: str | None = None) -> Line:
    """The equation of a cell that a step computes. expr, worked: what stands on its right instead."""
    assert why.step is not None
    step = why.step if expr is None else replace(why.step, expr=expr)
    left, right = write_short_cell(step, list_indices(why), _paint)
    return Line(left, right, why.short if worked is None else worked)


def list_indices(why: Explanation) -> list[int]:
    """What stands below a cell's symbol; its head stands in the sentence."""
    return [i for axis, i in why.cell.index if axis != HEAD.name]


def write_whole_line(trace: Trace, why: Explanation, expr: Expr) -> Line:
    """The same of a formula that takes several steps in one go."""
    assert why.step is not None
    at = {axis: range(why.cell.at[axis.name], why.cell.at[axis.name] + 1) for axis in why.step.output.axes}
    return write_line(why, expr, trace.write_short(expr, at))


def _paint(symbol: Symbol) -> str:
    return rf"\htmlClass{{bv-of-{symbol.kind}}}{{{symbol.tex}}}"
