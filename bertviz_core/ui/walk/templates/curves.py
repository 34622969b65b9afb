"""A function of one number, such as GELU: its curve, and what its input was made from."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.naming import tell_where
from bertviz_core.analysis.parts import TERM, Parts, take_apart
from bertviz_core.analysis.walk import sample_function
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import GELU, GELU_TANH, MAX_ZERO, RELU, Apply
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from bertviz_core.formula.short import name_function
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Table
from bertviz_core.ui.walk.line import Line, write_line
from bertviz_core.ui.walk.pictures import draw_curve
from bertviz_core.ui.walk.templates.ranks import tell_rank
from bertviz_core.ui.walk.templates.terms import divide, list_terms

_GATES = (GELU, GELU_TANH, RELU, MAX_ZERO)  # what leaves a number above 0 nearly as it is, and one below nearly at 0
_OF_GELU = "GELU: the input times Φ, the share of a normal distribution below it"
_TERMS = 5
_WHOLE = 0.005  # of a number, that may be missing of the whole


def explain_curve(view: View, why: Explanation, found: Parts, applied: Apply) -> Card:
    """A cell that a function makes of one number."""
    trace, function = view.trace, applied.function
    operand = found[0].operands[0]
    x = float(why.sources[0].values[0])
    axis = operand.index[-1][0] if operand.index else ""
    others = trace[operand.without(axis)].astype(np.float64).ravel() if axis else np.array([x])
    many = f"all {len(others):,} of this vector" if len(others) > 1 else "its only number"
    note = f"{many} on {name_function(function)}, this one ringed"
    picture = draw_curve(partial(sample_function, function), x, others, note)
    lead = card.lead(trace, operand, 4)
    inside = take_apart(trace, trace.made(operand))
    if inside.measure is TERM:
        many, single = divide(inside)
        table = list_terms(view, many, single, _TERMS, [lead])
        table = Table(table.heading.replace("Made from", "Its input is", 1), table.columns, table.rows, table.ends)
    else:
        table = Table("Made from 1 number", ("what", "", "", "value"), [lead])
    line, below = (_write_gelu(why, applied, x), _OF_GELU) if applied.function is GELU else (None, "")
    return Card(tell_curve(trace, why, applied, x), table, picture, below, line=line)


def _write_gelu(why: Explanation, applied: Apply, x: float) -> Line:
    """GELU as what it is: the input times the share of a normal distribution that lies below it."""
    line = write_line(why, applied.inner)
    share = format_latex((1 + math.erf(x / math.sqrt(2))) / 2)
    return replace(line, right=rf"{line.right} \cdot \Phi({line.right})", worked=rf"{format_latex(x)} \times {share}")


def tell_curve(trace: Trace, why: Explanation, applied: Apply, x: float) -> Said:
    """What the function makes of its input."""
    where = tell_where(trace, why.cell)
    name = name_function(applied.function)
    parts = {"where": Part(where), "x": Part(x, format_short), "y": Part(why.value, format_short)}
    made = Claim("what a function makes", f"{{where}}{name} makes {{y}} of {{x}}.", parts)
    if applied.function not in _GATES or not np.isfinite(x) or not x:
        return say(made, tell_rank(trace, why.cell))
    let = why.value / x
    if abs(let - 1) < _WHOLE and format_number(x) == format_number(why.value):
        form = f"{{where}}{name} lets **{{x}}** through whole: this one fires."
        whole = Claim("what a gate lets through whole", form, {"x": parts["x"], "where": parts["where"]})
        return say(whole, tell_rank(trace, why.cell))
    share = {"share": Part(let, format_percent)}
    held = "the rest is held back" if let else "all of it is held back"
    then = "this one fires" if x > 0 else held
    return say(made, Claim("how much a gate lets through", f" That is **{{share}}** of it: {then}.", share))
