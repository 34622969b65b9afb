"""What a change put in place of what a formula gives, said wherever that formula stands."""

from __future__ import annotations

from bertviz_core.analysis.add_norm import is_skipped
from bertviz_core.analysis.made_from import find_doing, find_factor, is_put
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.steps import Step
from bertviz_core.tracing import meanings
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View

_SAID = {
    meanings.PUTS: " A change puts other numbers there.",
    meanings.MULTIPLIES: " A change multiplies these numbers.",
    meanings.ADDS: " A change adds to these numbers.",
}


def tell_put(view: View, *places: Address) -> str:
    """To stand behind what is said of a formula's result: what a change does to it, if one does anything."""
    doing = next(filter(None, (find_doing(view.trace, place) for place in places)), "")
    return _SAID.get(doing, "")


def tell_skipped(trace: Trace, layer: int) -> str:
    """That a change leaves the layer out of the pass; nothing usually."""
    return "A change skips this layer: nothing of this goes on." if is_skipped(trace, layer) else ""


def tell_way(view: View, place: Address, way: str) -> str:
    """How numbers come about, unless a change put them there, or some of them."""
    factor = find_factor(view.trace, place)
    if not factor and find_doing(view.trace, place) != meanings.MULTIPLIES:
        return "put there by a change"
    if factor != 1:
        return f"{way}, multiplied by a change"
    return f"{way}; a change puts some" if is_put(view.trace, place) else way


def tell_meaning(view: View, place: Address, step: Step) -> str:
    """What a step does, in its own words; these are not said of numbers that a change put there."""
    return meanings.tell_meaning(view.trace, step, find_doing(view.trace, place))


def write_result(trace: Trace, cell: Address, symbol: str, worked: str) -> str:
    """LaTeX of a cell worked out. worked: the formula with its numbers and what it gives, from which a number that a
    change put there stands apart."""
    if is_put(trace, cell):
        return rf"{worked}, \ \text{{but a change puts }} {symbol} = {format_latex(float(trace[cell]))}"
    return f"{symbol} = {worked}"
