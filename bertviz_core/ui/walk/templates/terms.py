"""A sum of many products, as a component of a query is. The table adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.labels import name_token_short
from bertviz_core.analysis.naming import find_noun, tell_where
from bertviz_core.analysis.parts import ALONE, SUMMAND, TERM, Group, Parts, take_apart
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address, Block
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.document_nodes import Dropout
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Sqrt
from bertviz_core.formula.nodes import Add, Div, Expr
from bertviz_core.formula.steps import PARAMETER, inline, walk_nodes
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, Title
from bertviz_core.ui.walk.line import write_whole_line
from bertviz_core.ui.walk.pictures import draw_terms
from bertviz_core.ui.walk.templates.ranks import tell_match, tell_rank

_HIDES_NOTHING = {"attention_mask": "mask: hides nothing here"}
_DEEP = 3  # steps down to a sum of many terms, at most
_ROWS = card.ROWS - 2  # of terms, beside the others and a bias
_SAYS = {"query": "asks", "key": "offers", "value": "hands on"}  # what a vector of a head is for
_FEW = 6  # parts of a sum that are drawn one below the other
_PLACES = {
    "hidden": "component",
    "concat": "component",
    "head_dim": "component",
    "transform": "component",
    "pooled": "component",
    "intermediate": "neuron",
    "key": "token",
    "vocab": "entry",
}


def explain_terms(view: View, why: Explanation, found: Parts, rows: int = _ROWS) -> Card:
    """A sum of many terms. rows: how many of them are listed, at most."""
    many, single = divide(found)
    terms = np.concatenate([group.amounts for group in many])
    bias = float(sum(group.amounts.sum() for group in single)) if single else None
    return Card(
        tell_terms(view.trace, why, terms),
        list_terms(view, many, single, rows),
        draw_terms(terms, bias),
    )


def divide(found: Parts) -> tuple[list[Group], list[Group]]:
    """The groups of many terms, or of one product, and the terms that stand alone, such as a bias."""
    many = [group for group in found.groups if len(group.amounts) > 1]
    products = [group for group in found.groups if len(group.blocks) > 1]
    first = many or products or list(found.groups)
    return first, [group for group in found.groups if group not in first]


@dataclass(frozen=True)
class Below:
    """The sum of many terms that all of a number comes from. way: the numbers from that sum to this one, both with;
    expr: this one's formula down to these terms, in which what adds 0 is left out; None where one of its steps must be
    read by itself, as dropout must."""

    way: Sequence[Explanation]
    found: Parts
    expr: Expr | None


def find_terms(trace: Trace, why: Explanation, found: Parts) -> Below | None:
    """That sum, as an attention score's is its dot product; None where several numbers that are not 0 make it."""
    made: dict[str, Expr] = {}
    way: list[Explanation] = []
    first = why.cell.path
    for _ in range(_DEEP):
        if why.step is None:
            return None
        way.insert(0, why)
        made[why.cell.path] = _leave_out_idle(trace, why)
        if found.measure is TERM:
            alone = any(isinstance(node, Dropout) for expr in made.values() for node in walk_nodes(expr))
            return Below(way, found, None if alone else inline(made.pop(first), made))
        own = np.flatnonzero(found.amounts)
        if found.measure not in (ALONE, SUMMAND) or len(own) != 1:
            return None
        operands = found[int(own[0])].operands
        if len(operands) != 1 or operands[0].path not in trace.program.by_address:
            return None
        why = trace.explain(operands[0])
        found = take_apart(trace, why)
    return None


def _leave_out_idle(trace: Trace, why: Explanation) -> Expr:
    """A step's formula without what adds 0 to this cell, such as a mask that hides nothing."""
    assert why.step is not None
    expr, axes = why.step.expr, why.step.output.axes
    if not isinstance(expr, Add):
        return expr
    at = {axis: range(why.cell.at[axis.name], why.cell.at[axis.name] + 1) for axis in axes}
    amounts = [trace.work(part, cut).item() for part, cut in zip(expr.parts, expr.pull({}, at), strict=True)]
    kept = [part for part, amount in zip(expr.parts, amounts, strict=True) if amount]
    return kept[0] if len(kept) == 1 else expr


def explain_through(view: View, why: Explanation, found: Parts, below: Below) -> Card:
    """A number that comes from one sum alone, over a step or two: the terms of that sum, and then its own operands."""
    trace, (source, *between, _), inside = view.trace, below.way, below.found
    made = [card.lead(trace, each.cell, 4, _tell_how(trace, each)) for each in (source, *between)]
    how = _tell_how(trace, why)
    own = [Row((Cell(how), *card.blank(2), card.write_cell(why.value)), lead=True)] if how else []
    shown = explain_terms(view, source, inside, _ROWS - 1 - len(made) - len(own))
    assert shown.table is not None
    heading = shown.table.heading.replace("Made from", f"The {find_noun(source.cell.path).word} is", 1)
    idle = [operand for part in found if not part.amount for operand in part.operands]
    said = tell_terms(trace, why, np.concatenate([group.amounts for group in divide(inside)[0]]))
    table = replace(shown.table, heading=heading, ends=[*shown.table.ends, *made, *map(_list_idle, idle), *own])
    line = below.expr and write_whole_line(trace, why, below.expr)
    return replace(shown, sentence=said, table=table, line=line)


def _tell_how(trace: Trace, why: Explanation) -> str:
    """By what a step divides: as a root where it is one. "" where it does something else."""
    expr = why.step and _leave_out_idle(trace, why)
    if not isinstance(expr, Div) or expr.right.dims():
        return ""
    root, inside = ("√", expr.right.inner) if isinstance(expr.right, Sqrt) else ("", expr.right)
    return f"÷ {root}{trace.work(inside, {}).item():g}"


def _list_idle(operand: Address) -> Row:
    """An operand that makes no difference to the number, such as a mask that hides nothing."""
    name = _HIDES_NOTHING.get(operand.path, find_noun(operand.path).word)
    return Row((Cell(name, operand), *card.blank(2), Cell("adds 0")), quiet=True)


def is_long(found: Parts) -> bool:
    """Whether a sum has more parts than are drawn one below the other."""
    return len(found) > _FEW


def list_terms(
    view: View, many: Sequence[Group], single: Sequence[Group], rows: int, lead: Sequence[Row] = ()
) -> Table:
    """The largest terms, the others together, and what is added to all of them."""
    trace = view.trace
    places = [(group, i) for group in many for i in range(len(group.amounts))]
    amounts = np.concatenate([group.amounts for group in many])
    order = rank_top(np.abs(amounts), rows)
    factors = [block for block in many[0].blocks if len(block) == len(many[0].amounts)] or list(many[0].blocks)
    factors = factors[:2]
    listed = [_list_row(trace, factors, *places[k], float(amounts[k])) for k in order]
    what = "product" if len(factors) > 1 else "part"
    columns = (_name_places(factors[0]), *(_title_factor(trace, factors, block) for block in factors), what)
    ends = [*card.close_sum(amounts, order, len(columns)), *(_list_single(group, len(columns)) for group in single)]
    biased = " and a bias" if single else ""
    return Table(f"Made from {write_count(len(amounts), what)}{biased}, largest first", columns, [*lead, *listed], ends)


def _list_row(trace: Trace, factors: Sequence[Block], group: Group, i: int, amount: float) -> Row:
    axis, index = _find_varying(factors[0], i)
    name = card.name_place(trace, axis, index)
    cells = [card.number(trace, block[i]) for block in group.blocks if len(block) == len(group.amounts)][: len(factors)]
    return Row((Cell(name, cells[0].step), *cells, card.write_cell(amount)), amount)


def _find_varying(block: Block, i: int) -> tuple[str, int]:
    """The axis along which a block's cells lie, and the index of one of them there."""
    axis = next((axis for axis, places in block.sides if len(places) > 1), block.sides[-1][0] if block.sides else "")
    return axis, block[i].at.get(axis, 0)


def _name_places(block: Block) -> str:
    axis, _ = _find_varying(block, 0)
    return _PLACES.get(axis, axis)


def _title_factor(trace: Trace, factors: Sequence[Block], block: Block) -> Title | str:
    """The head of a factor's column, in the colour of its vector; a weight has none."""
    name, symbol = _name_factor(trace, factors, block), trace.program.symbol(block.path)
    return name if symbol is None or symbol.kind == PARAMETER else Title(name, symbol.kind)


def _name_factor(trace: Trace, factors: Sequence[Block], block: Block) -> str:
    """What stands at the head of a factor's column: whose numbers, or what they are."""
    if block.path in trace.model.parameters:
        return "weight"
    tokens = [places[0] for axis, places in block.sides if axis in TOKEN_AXES and len(places) == 1]
    beside = [other for other in factors if other is not block]
    word = find_noun(block.path).word
    if tokens and all(other.path in trace.model.parameters for other in beside):
        return f"“{name_token_short(trace, tokens[0])}”"
    return f"{word} {name_token_short(trace, tokens[0])}" if tokens and word in ("query", "key") else word


def _list_single(group: Group, columns: int) -> Row:
    """What is added to all terms: a bias, or whatever stands alone."""
    cell = group.blocks[0][0]
    return Row(
        (Cell(find_noun(cell.path).word, cell), *card.blank(columns - 2), card.write_cell(float(group.amounts[0]))),
        quiet=True,
    )


def tell_terms(trace: Trace, why: Explanation, terms: np.ndarray) -> Said:
    """How many terms raise the number, how many lower it, and how many are 0; its place among those beside it."""
    cell, at = why.cell, why.cell.at
    up, down = int((terms > 0).sum()), int((terms < 0).sum())
    still = len(terms) - up - down
    verbs = {"raise": Part("raises" if up == 1 else "raise"), "lower": Part("lowers" if down == 1 else "lower")}
    counts = {"up": card.count(up), "down": card.count(down), "all": card.count(len(terms), "product"), **verbs}
    counts["still"] = Part(f", {still:,} {'is' if still == 1 else 'are'} 0" if still else "")
    if {"query", "key"} <= at.keys():
        form = "What {asks} asks, compared with what {offers} offers: {all}, {up} for and {down} against{still}."
        who = {"asks": at["query"], "offers": at["key"]}
        named = {name: Part(name_token(trace.tokens, i)) for name, i in who.items()}
        return say(Claim("products for and against", form, {**counts, **named}), tell_match(trace, cell))
    if cell.name in _SAYS and "head" in at:
        place = {
            "width": card.count(trace.model.config.head_dim),
            "head": Part(at["head"]),
            "layer": Part(cell.layer),
            "token": Part(_name_own(trace, cell)),
            "raising": card.count(up, "product"),
        }
        many = trace.model.config.head_dim > 1
        form = (
            f"{'One of {width} numbers that say' if many else 'The only number that says'} what {{token}} "
            f"{_SAYS[cell.name]} in head {{head}} of layer {{layer}}: {{raising}} {{raise}} it, "
            "{down} {lower} it{still}."
        )
        return say(Claim("a number of a head's vector", form, {**counts, **place}), tell_rank(trace, cell))
    form = "{where}{up} of {all} {raise} it, {down} {lower} it{still}."
    where = {"where": Part(tell_where(trace, cell))}
    return say(Claim("terms for and against", form, {**counts, **where}), tell_rank(trace, cell))


def _name_own(trace: Trace, cell: Address) -> str:
    """The token whose number a cell is."""
    return next(name_token(trace.tokens, i) for axis, i in cell.index if axis in TOKEN_AXES)
