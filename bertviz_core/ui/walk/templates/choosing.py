"""Which template explains a number: that of its formula."""

from __future__ import annotations

from dataclasses import replace

from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.parts import ALONE, SUMMAND, TERM, WITHOUT, Parts, take_apart, unwrap
from bertviz_core.formula.document_nodes import Argmax
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Apply, Mean
from bertviz_core.formula.shapes import Lookup
from bertviz_core.ui.frame.view import Outcome, View
from bertviz_core.ui.walk.card import Card, Table
from bertviz_core.ui.walk.templates.curves import explain_curve
from bertviz_core.ui.walk.templates.norms import explain_mean, explain_scale, find_norm, is_spread
from bertviz_core.ui.walk.templates.others import explain_other
from bertviz_core.ui.walk.templates.reads import Way, explain_end, explain_largest, explain_lookup
from bertviz_core.ui.walk.templates.share import explain_share
from bertviz_core.ui.walk.templates.sums import explain_sum
from bertviz_core.ui.walk.templates.terms import explain_terms, explain_through, find_terms, is_long


def explain_number(view: View, why: Explanation, found: Parts, way: Way = ()) -> Card:
    """A cell, explained in the way of its formula. way: the steps that led to it."""
    if why.step is None:
        card = explain_end(view, why, way)
        return replace(card, table=_list_replaced(view, why)) if is_put(view.trace, why.cell) else card
    expr, _ = unwrap(why.step.expr)
    norm = find_norm(view.trace, expr)
    if norm:
        return explain_scale(view, why, norm)
    match expr:
        case Mean() if is_spread(expr):
            card = explain_mean(view, why, found, expr)
        case Apply() if why.count == 1:
            card = explain_curve(view, why, found, expr)
        case Lookup():
            card = explain_lookup(view, why, expr)
        case Argmax():
            card = explain_largest(view, why, found)
        case _:
            card = _explain_parts(view, why, found)
    return card


def _list_replaced(view: View, why: Explanation) -> Table | None:
    """What a number was made from before a change put another in its place; None of what no step computes."""
    before = view.trace.before
    if before is None or why.cell.path not in before.program.by_address:
        return None
    old = before.explain(why.cell)
    unchanged = replace(view, outcome=Outcome(before, before, {}))
    table = explain_number(unchanged, old, take_apart(before, old)).table
    return table and replace(table, heading=f"Without changes: {table.heading[:1].lower()}{table.heading[1:]}")


def _explain_parts(view: View, why: Explanation, found: Parts) -> Card:
    """A cell whose parts say how it is explained."""
    if found.measure is WITHOUT:
        return explain_share(view, why, found)
    if found.measure is TERM or (found.measure is SUMMAND and is_long(found)):
        return explain_terms(view, why, found)
    if found.measure in (SUMMAND, ALONE):
        below = find_terms(view.trace, why, found)
        return explain_through(view, why, found, below) if below else explain_sum(view, why, found)
    return explain_other(view, why, found)
