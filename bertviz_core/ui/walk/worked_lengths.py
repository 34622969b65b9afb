"""How long a vector is, and how much of a value a token takes: what the drawer tells of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.heads import are_shares
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.naming import find_noun
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import AXES, KEY
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from bertviz_core.formula.steps import ATTENTION, VALUE
from bertviz_core.formula.tex import bracket_negative
from bertviz_core.formula.texts import name_one, name_token, write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS, VALUES
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, Title
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.spreads import draw_components
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut

LENGTH, TAKEN = "norm", "taken"  # the last part of their addresses
_ROWS = card.ROWS - 2  # of a table, beside the others


def find_length(vector: Address) -> Address:
    """The address of the length of a row of a tensor, all of whose axes but the last are fixed."""
    return Address(f"{vector.path}.{LENGTH}", vector.index)


def find_taken(weight: Address) -> Address:
    """The address of how much is taken by an attention weight: of its length times that of the value."""
    return Address(f"{weight.path}.{TAKEN}", weight.index)


def _work_out_length(trace: Trace, row: Address) -> WorkedOut:
    if len(axes := trace.dims(row)) != 1 or AXES[axes[0]].of_tokens:
        raise AddressError(f"{row} is no vector: all its axes but the last say which one.")
    kind, values = trace.step(row.whole).kind, trace[row].astype(np.float64)
    squares, number = values**2, float(compute_norms(values))
    symbol = rf"{{\htmlClass{{bv-of-{kind}}}{{x}}}}"
    terms = [rf"{bracket_negative(format_latex(float(values[i])))}^2" for i in rank_top(squares, 2)]
    worked = " + ".join([*terms, *([r"\dots"] if len(squares) > len(terms) else [])])
    form = "How long the vector is whose {count} are listed: the root of the sum of their squares, {total}."
    said = {"count": card.count(len(values), "component"), "total": Part(float(squares.sum()), format_number)}
    order = rank_top(squares, _ROWS)
    rows = [
        Row(
            (Cell(str(i)), card.number(trace, row.fix(**{axes[0]: i})), card.write_cell(float(squares[i]))),
            float(squares[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(squares), 'square')}, largest first"
    return WorkedOut(
        f"Length of {name_one(find_noun(row.path).word)}",
        kind,
        parts=[(f"component {i}", format_number(float(x)), str(row.fix(**{axes[0]: i}))) for i, x in enumerate(values)],
        number=number,
        card=Card(
            say(Claim("length of a vector", form, said)),
            Table(heading, ("component", "value", "square"), rows, card.close_sum(squares, order, 3)),
            draw_components(values, "its {} numbers"),
            NOTE,
        ),
        line=Line(rf"|{symbol}|", rf"\sqrt{{\sum_j \; {symbol}_j^2}}", rf"\sqrt{{{worked}}}"),
    )


def _work_out_taken(trace: Trace, weight: Address) -> WorkedOut:
    if weight.leaf != ATTENTION_WEIGHTS.path or (layer := weight.layer) is None or trace.dims(weight):
        raise AddressError(f"{weight} is no attention weight: its layer, head, query and key say which one.")
    at = weight.at
    value = VALUES.in_layer(layer).fix(head=at["head"], key=at["key"])
    share, values = float(trace[weight]), trace[value].astype(np.float64)
    length = float(compute_norms(values))
    taken, number = share * values, abs(share) * length
    asks, gives = (name_token(trace.tokens, at[axis]) for axis in ("query", "key"))
    parts = {
        "share": Part(share, format_percent),
        "length": Part(length, format_short),
        "asks": Part(asks),
        "gives": Part(gives),
        "head": Part(at["head"]),
        "layer": Part(layer),
    }
    shares = bool(are_shares(trace[weight.without(KEY.name)]).all())
    given = "**{share}** of its attention" if shares else "the weight **{share}**"
    form = f"In head {{head}} of layer {{layer}}, {{asks}} gives {{gives}} {given}, and the value of {{gives}} is "
    form += "{length} long."
    a = rf"\htmlClass{{bv-of-{ATTENTION}}}{{A}}_{{{at['query']},{at['key']}}}"
    v = rf"\htmlClass{{bv-of-{VALUE}}}{{V}}_{{{at['key']}}}"
    return WorkedOut(
        f"What {asks} takes from {gives}",
        VALUE,
        parts=[(f"component {i}", format_number(float(x)), str(value.fix(head_dim=i))) for i, x in enumerate(taken)],
        number=number,
        unit=f"head {at['head']}",
        card=Card(
            say(Claim("what a token takes", form, parts)),
            _list_taken(trace, weight, value, taken),
            draw_components(taken, "the {} numbers taken"),
            f"the root of the sum of the squares below; {NOTE}",
        ),
        line=Line(
            rf"\lVert {a}\, {v} \rVert",
            rf"\lvert {a} \rvert \, \lVert {v} \rVert" if share < 0 else rf"{a}\, \lVert {v} \rVert",
            rf"{format_latex(abs(share))} \cdot {format_latex(length)}",
        ),
    )


def _list_taken(trace: Trace, weight: Address, value: Address, taken: np.ndarray) -> Table:
    """The weight, and below it component by component the value, what is taken of it, and the square of that."""
    squares = taken**2
    order = rank_top(squares, _ROWS - 1)
    rows = [
        Row(
            (
                Cell(str(i), value.fix(head_dim=i)),
                card.number(trace, value.fix(head_dim=i)),
                card.write_cell(float(taken[i])),
                card.write_cell(float(squares[i])),
            ),
            float(squares[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(taken), 'component')}, squares add up"
    columns = ("component", Title("value", VALUE), f"× {format_short(float(trace[weight]))}", "square")
    return Table(heading, columns, [card.lead(trace, weight, 4), *rows], card.close_sum(squares, order, 4))


LENGTHS: Mapping[str, Callable[[Trace, Address], WorkedOut]] = {LENGTH: _work_out_length, TAKEN: _work_out_taken}
