"""How much of a token's attention output a head makes up, or the bias: what the drawer tells of it.

Its address is that of the output with a word behind: `….share[token=8,head=3]`, without a head that of the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.analysis.token_attention import split_output
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from bertviz_core.formula.short import write_letter
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import Leaf
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, Title
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.pictures import draw_terms
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut

SHARE = "share"  # the last part of their addresses
OUTPUT = Leaf("attention.output.dense")
_HEAD = "head"
_ROWS = card.ROWS - 2  # of a table, beside the others


def find_share(row: Address, head: int | None = None) -> Address:
    """The address of a head's share of a token's attention output, or of the bias's. row: of that token."""
    return Address(f"{row.path}.{SHARE}", (*row.index, *(() if head is None else ((_HEAD, head),))))


def _work_out_share(trace: Trace, of: Address) -> WorkedOut:
    layer, token, head = _read_place(trace, of)
    found, row = split_output(trace, layer, token), Address(of.path).fix(token=token)
    part, total = found.bias if head is None else found.heads[head], found.total
    if not (square := float(total @ total)):
        raise AddressError("What the heads and the bias add is 0: there is nothing of which they could have a share.")
    terms = part * total / square
    number, name = float(terms.sum()), "the bias" if head is None else f"head {head}"
    parts = {
        "share": Part(number, format_percent),
        "length": Part(float(np.sqrt(part @ part)), format_short),
        "whole": Part(float(np.sqrt(square)), format_short),
        "name": Part(name),
        "layer": Part(layer),
        "token": Part(name_token(trace.tokens, token)),
    }
    form = (
        "Of what attention of layer {layer} adds to {token}, {name} makes up **{share}** along the direction of the "
        "whole. Its vector is {length} long, the whole {whole}; shares add up to 1, lengths do not."
    )
    symbol = rf"\htmlClass{{bv-of-{ATTENTION}}}{{{write_letter(trace.step(row.whole).output)}}}_{{{token}}}"
    own = "b" if head is None else rf"(z_{{{head}}} W_{{{head}}})"
    return WorkedOut(
        f"Share of {name}",
        ATTENTION,
        parts=[(f"component {i}", format_number(float(x)), str(row.fix(hidden=i))) for i, x in enumerate(terms)],
        number=number,
        unit=format_percent(number),
        card=Card(
            say(Claim("share of a head", form, parts)),
            _list_products(trace, row, name, part, total, terms),
            draw_terms(terms, None),
            NOTE,
        ),
        line=Line(
            "s_{b}" if head is None else rf"s_{{{head}}}",
            rf"\dfrac{{{own} \cdot {symbol}}}{{{symbol} \cdot {symbol}}}",
            rf"\dfrac{{{format_latex(float(part @ total))}}}{{{format_latex(square)}}}",
        ),
    )


def _read_place(trace: Trace, of: Address) -> tuple[int, int, int | None]:
    """The layer, token and head that an address names. Raises AddressError where it names none."""
    layer, at = of.layer, of.at
    if layer is None or of.leaf != OUTPUT.path or {*at} - {_HEAD} != {TOKEN.name}:
        raise AddressError(f"{of} names no share of an attention output: [token=0,head=1] says of whose, and which.")
    for axis, size in ((TOKEN.name, len(trace.tokens)), (_HEAD, trace.model.config.num_attention_heads)):
        if at.get(axis, 0) >= size:
            raise AddressError(f"There is no {axis} {at[axis]} here, only 0 to {size - 1}.")
    return layer, at[TOKEN.name], at.get(_HEAD)


def _list_products(
    trace: Trace, row: Address, name: str, part: np.ndarray, total: np.ndarray, terms: np.ndarray
) -> Table:
    """Component by component: of the head, of the whole, and their product as a part of the whole's square."""
    order, put = rank_top(np.abs(terms), _ROWS), is_put(trace, row)
    rows = [
        Row(
            (
                Cell(str(i), None if put else row.fix(hidden=i)),
                card.write_cell(float(part[i])),
                card.write_cell(float(total[i]), None if put else row.fix(hidden=i)),
                card.write_cell(float(terms[i])),
            ),
            float(terms[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(terms), 'product')}, largest first"
    return Table(heading, ("component", name, Title("whole", ATTENTION), "part"), rows, card.close_sum(terms, order, 4))


SHARES: Mapping[str, Callable[[Trace, Address], WorkedOut]] = {SHARE: _work_out_share}
