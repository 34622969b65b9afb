"""Whatever fits no other template: the operands, and how fast the number changes with each."""

from __future__ import annotations

from bertviz_core.analysis.claims import say
from bertviz_core.analysis.naming import find_noun, tell_where
from bertviz_core.analysis.parts import Parts
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import write_count
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table


def explain_other(view: View, why: Explanation, found: Parts) -> Card:
    """Any step."""
    trace = view.trace
    rows = [
        Row(
            (
                Cell(find_noun(part.operands[0].path).word, part.operands[0]),
                card.number(trace, part.operands[0]),
                Cell("" if part.amount is None else format_number(part.amount)),
            )
        )
        for part in (found[i] for i in found.strongest(card.ROWS))
    ]
    more = f", the {card.ROWS} that count most" if len(found) > card.ROWS else ""
    columns = ("what", "value", found.measure.heading)
    where = tell_where(trace, why.cell)
    return Card(
        say(f"{where}{found.measure.note}"), Table(f"Made from {write_count(why.count, 'number')}{more}", columns, rows)
    )
