"""An explanation in a notebook: the formula with its numbers, and the operands, each under its address."""

from __future__ import annotations

from html import escape
from itertools import islice

from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import write_count
from bertviz_core.showing.cards import typeset, write_card, write_formula

_SHOWN, _MOST = 12, 400  # operands that stand there at once; in all


def write_explanation(why: Explanation) -> str:
    """The number, its formula in letters and with numbers, what it is made from."""
    value = f"<p><code>{escape(why.address)}</code> = <b>{format_number(why.value)}</b></p>"
    if why.step is None:
        return write_card(value, '<p class="bv-faint">No formula makes it: it is an input, learned, or put there.</p>')
    said = f"<p>{escape(why.step.meaning)} <span class='bv-faint'>{escape(why.step.source)}</span></p>"
    worked = typeset(f"{why.short} = {_write_tex(why.recomputed)}") if why.short else ""
    again = f'<p class="bv-faint">Recomputed in double precision: {format_number(why.recomputed)}</p>'
    return write_card(value, said, write_formula(why.step), worked, again, *_list_operands(why))


def _write_tex(value: float) -> str:
    return rf"\text{{{format_number(value)}}}"


def _list_operands(why: Explanation) -> list[str]:
    first = _write_table(list(islice(why.operands, _SHOWN)))
    head = f"<p>From {write_count(why.count, 'operand')}:</p>"
    if why.count <= _SHOWN:
        return [head, first]
    rest = _write_table(list(islice(why.operands, _SHOWN, _MOST)))
    more = f"{why.count - _SHOWN:,} more"
    if why.count > _MOST:
        more += f", of which {_MOST - _SHOWN:,} are listed; .operands has all"
    return [head, first, f"<details><summary>{more}</summary>{rest}</details>"]


def _write_table(operands: list[tuple[str, float]]) -> str:
    rows = "".join(
        f'<tr><td><code>{escape(address)}</code></td><td class="bv-number">{format_number(value)}</td></tr>'
        for address, value in operands
    )
    return f'<table class="bv-numbers">{rows}</table>'
