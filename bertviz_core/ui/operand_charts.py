"""What a number was made from as a picture."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.walk import Operands, Terms
from bertviz_core.figures.attention import products
from bertviz_core.figures.bars import bars
from bertviz_core.figures.base import Figure
from bertviz_core.trace import Explanation
from bertviz_core.ui.cell_names import differing, short, term
from bertviz_core.ui.shell import View

_ROWS = 40  # bars of a chart


def operand_chart(view: View, why: Explanation, found: Operands, parts: Terms | None) -> tuple[Figure, str]:
    """The chart of a number's operands, with one line of how to read it."""
    assert why.step is not None
    color = view.colors.kinds.get(why.step.kind, view.colors.faint)
    if parts is not None and len(parts.places) > 2:
        return _terms(view, found, parts, color)
    shown = sorted(found.strongest(_ROWS))
    names = differing([short(view.trace, found.addresses[i]) for i in shown])
    more = f" The {_ROWS} that matter most of {len(found.addresses)}." if len(found.addresses) > _ROWS else ""
    return bars(found.values[shown], names, view.colors, color, name="value"), f"The operands' values.{more}"


def _terms(view: View, found: Operands, parts: Terms, color: str) -> tuple[Figure, str]:
    order = np.argsort(-np.abs(parts.values), kind="stable")
    running = np.cumsum(parts.values[order])
    shown = order[:_ROWS]
    names = [term(found.addresses[parts.places[i]]) for i in shown]
    figure = products(names, parts.values[shown], running[:_ROWS], view.colors, color=color,
                      title="operand, largest term first", whole=len(shown) == len(order))  # fmt: skip
    more = f" The {_ROWS} largest of {len(order)} are drawn." if len(order) > _ROWS else ""
    return figure, f"Bars: the terms of the sum, largest first. Line: the sum so far.{more}"
