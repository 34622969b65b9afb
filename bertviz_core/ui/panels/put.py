"""What a change put in place of what a formula gives, said wherever that formula stands."""

from __future__ import annotations

from bertviz_core.analysis.made_from import find_factor, is_put
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.steps import Step
from bertviz_core.tracing import meanings
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View


def tell_put(view: View, *places: Address) -> str:
    """To stand behind what is said of a formula's result: that other numbers stand there. Nothing where none do."""
    return " A change puts other numbers there." if any(is_put(view.trace, place) for place in places) else ""


def tell_way(view: View, place: Address, way: str) -> str:
    """How numbers come about, unless a change put them there, or some of them."""
    factor = find_factor(view.trace, place)
    if not factor:
        return "put there by a change"
    if factor != 1:
        return f"{way}, multiplied by a change"
    return f"{way}; a change puts some" if is_put(view.trace, place) else way


def tell_meaning(view: View, place: Address, step: Step) -> str:
    """What a step does, in its own words; these are not said of numbers that a change put there."""
    return meanings.tell_meaning(view.trace, step, is_put(view.trace, place))


def write_result(trace: Trace, cell: Address, symbol: str, worked: str) -> str:
    """LaTeX of a cell worked out. worked: the formula with its numbers and what it gives, from which a number that a
    change put there stands apart."""
    if is_put(trace, cell):
        return rf"{worked}, \ \text{{but a change puts }} {symbol} = {format_latex(float(trace[cell]))}"
    return f"{symbol} = {worked}"
