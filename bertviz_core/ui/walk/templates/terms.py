"""A sum: of many products, as a component of a query; or of a few parts, as a residual sum. The table adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say, say_largest
from bertviz_core.analysis.naming import find_noun, tell_where
from bertviz_core.analysis.parts import ALONE, SUMMAND, TERM, Group, Parts, take_apart
from bertviz_core.analysis.parts import Part as PartOf
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address, Block
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.pictures import Piece, draw_terms, draw_waterfall, ring_strip

_DEEP = 3  # steps down to a sum of many terms, at most
_ROWS = card.ROWS - 2  # of terms, beside the others and a bias
_COMPARED = 3  # numbers of a row in which a place says something
_BROUGHT, _ADDED = "brought along", "added"  # the parts of a residual sum
_OUTPUTS = ("dense", "dropout")  # what a sub-layer gives, by the end of its path
_FEW = 6  # parts of a sum that are drawn one below the other
_PLACES = {"hidden": "component", "concat": "component", "head_dim": "component", "transform": "component",
           "pooled": "component", "intermediate": "neuron", "key": "token", "vocab": "entry"}  # fmt: skip


def explain_terms(view: View, why: Explanation, found: Parts, lead: Sequence[Row] = ()) -> Card:
    """A sum of many terms. lead: what stands above them."""
    many, single = divide(found)
    terms = np.concatenate([group.amounts for group in many])
    bias = float(sum(group.amounts.sum() for group in single)) if single else None
    return Card(
        tell_terms(view.trace, why, terms),
        list_terms(view, many, single, _ROWS - 2 * len(lead), lead),
        draw_terms(terms, bias),
    )


def divide(found: Parts) -> tuple[list[Group], list[Group]]:
    """The groups of many terms, and the terms that stand alone, such as a bias."""
    many = [group for group in found.groups if len(group.amounts) > 1]
    return many or list(found.groups), [group for group in found.groups if len(group.amounts) == 1] if many else []


def find_terms(trace: Trace, why: Explanation, found: Parts) -> tuple[Explanation, Parts] | None:
    """The sum of many terms that all of a number comes from, as an attention score's from its dot product; None where
    several numbers that are not 0 make it."""
    for _ in range(_DEEP):
        if found.measure is TERM:
            return why, found
        own = np.flatnonzero(found.amounts)
        if found.measure not in (ALONE, SUMMAND) or len(own) != 1:
            return None
        operands = found[int(own[0])].operands
        if len(operands) != 1 or operands[0].path not in trace.program.by_address:
            return None
        why = trace.explain(operands[0])
        found = take_apart(trace, why)
    return None


def explain_through(view: View, why: Explanation, found: Parts, below: tuple[Explanation, Parts]) -> Card:
    """A number that comes from one sum alone, over a step or two: its own operands, and the terms of that sum."""
    trace, (source, inside) = view.trace, below
    made = [part for part in found if part.amount]
    lead = [card.lead(trace, operand, 4) for part in made for operand in part.operands]
    shown = explain_terms(view, source, inside, lead=lead)
    assert shown.table is not None
    heading = shown.table.heading.replace("Made from", f"The {find_noun(source.cell.path).word} is", 1)
    idle = [_list_idle(operand) for part in found if not part.amount for operand in part.operands]
    said = tell_terms(trace, why, np.concatenate([group.amounts for group in divide(inside)[0]]))
    table = replace(shown.table, heading=heading, ends=[*shown.table.ends, *idle])
    return replace(shown, sentence=said, table=table, steps=_list_steps(trace, made))


def _list_idle(operand: Address) -> Row:
    """An operand that makes no difference to the number, such as a mask that hides nothing."""
    return Row((Cell(find_noun(operand.path).word, operand), Cell(""), Cell(""), Cell("adds 0")), quiet=True)


def _list_steps(trace: Trace, made: Sequence[PartOf]) -> tuple[Explanation, ...]:
    """How the operands came about that stand between a number and the sum that it comes from."""
    found = (trace.explain(operand) for part in made for operand in part.operands)
    return tuple(why for why in found if why.short)


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
    columns = (_name_places(factors[0]), *(_name_factor(trace, factors, block) for block in factors), what)
    rest, left = len(amounts) - len(order), float(amounts.sum() - amounts[order].sum())
    ends = [card.close_sum(f"{rest:,} others", len(columns), left)] if rest else []
    ends += [_list_single(group, len(columns)) for group in single]
    biased = " and a bias" if single else ""
    return Table(f"Made from {len(amounts):,} {what}s{biased}, largest first", columns, [*lead, *listed], ends)


def _list_row(trace: Trace, factors: Sequence[Block], group: Group, i: int, amount: float) -> Row:
    axis, index = _find_varying(factors[0], i)
    name = card.name_place(trace, axis, index)
    cells = [card.number(trace, block[i]) for block in group.blocks if len(block) == len(group.amounts)][: len(factors)]
    return Row((Cell(name, cells[0].step), *cells, Cell(format_number(amount))), amount)


def _find_varying(block: Block, i: int) -> tuple[str, int]:
    """The axis along which a block's cells lie, and the index of one of them there."""
    axis = next((axis for axis, places in block.sides if len(places) > 1), block.sides[-1][0] if block.sides else "")
    return axis, block[i].at.get(axis, 0)


def _name_places(block: Block) -> str:
    axis, _ = _find_varying(block, 0)
    return _PLACES.get(axis, axis)


def _name_factor(trace: Trace, factors: Sequence[Block], block: Block) -> str:
    """What stands at the head of a factor's column: whose numbers, or what they are."""
    if block.path in trace.model.parameters:
        return "weight"
    tokens = [places[0] for axis, places in block.sides if axis in TOKEN_AXES and len(places) == 1]
    beside = [other for other in factors if other is not block]
    word = find_noun(block.path).word
    if tokens and all(other.path in trace.model.parameters for other in beside):
        return f"“{trace.tokens[tokens[0]]}”"
    return f"{word} {trace.tokens[tokens[0]]}" if tokens and word in ("query", "key") else word


def _list_single(group: Group, columns: int) -> Row:
    """What is added to all terms: a bias, or whatever stands alone."""
    cell = group.blocks[0][0]
    blanks, amount = (Cell("") for _ in range(columns - 2)), format_number(float(group.amounts[0]))
    return Row((Cell(find_noun(cell.path).word, cell), *blanks, Cell(amount)), quiet=True)


def tell_terms(trace: Trace, why: Explanation, terms: np.ndarray) -> Said:
    """How many terms raise the number and how many lower it; its place in its vector."""
    up, down = int((terms > 0).sum()), int((terms < 0).sum())
    counts = {"up": card.count(up), "down": card.count(down), "all": card.count(len(terms), "term"),
              "where": Part(tell_where(trace, why.cell))}  # fmt: skip
    return say(
        Claim("terms for and against", "{where}{up} of {all} raise it, {down} lower it.", counts),
        _tell_rank(trace, why.cell),
    )


def _tell_rank(trace: Trace, cell: Address) -> Said:
    """Whether it is the largest in size of its vector, or how many are larger."""
    if len(cell.index) < 1:
        return say()
    axis, i = cell.index[-1]
    row = np.abs(trace[cell.without(axis)].astype(np.float64))
    if row.ndim != 1 or len(row) < _COMPARED:
        return say()
    larger = int((row > row[i]).sum())
    parts = {"larger": card.count(larger), "all": card.count(len(row))}
    largest = " It is the largest in size of the {all} in its row."
    return choose(
        Claim("largest in size of its vector", largest, {"size": Part(float(row[i]), format_number), **parts},
              Relation.LARGEST, row, (i,)),
        Claim("how many are larger in size", " {larger} of the {all} in its row are larger in size.", parts),
    )  # fmt: skip


def explain_sum(view: View, why: Explanation, found: Parts) -> Card:
    """A sum of a few parts, each with a name of its own; or a number taken as it is."""
    trace = view.trace
    parts = [(group, i) for group in found.groups for i in range(len(group.amounts))]
    rows = [_list_part(trace, why, part) for part in found]
    names = [row.cells[0].text for row in rows]
    pieces = [Piece(name, float(found.amounts[k]), _find_kind(trace, parts[k][0])) for k, name in enumerate(names)]
    result = Piece(find_noun(why.cell.path).word, why.value)
    heading = f"Made from {write_count(len(parts), 'part')}" if len(parts) > 1 else "It is this number"
    return Card(
        tell_sum(trace, why, found, names),
        Table(heading, ("what", "from", "part"), rows),
        draw_waterfall(pieces, result) + _draw_strips(view, why, names, parts) if len(parts) > 1 else "",
    )


def _name_part(why: Explanation, operands: Sequence[Address]) -> str:
    """What a part is called: by its part in a residual sum, by what it stands for among embeddings."""
    if why.cell.name == "residual" and len(operands) == 1 and why.count > 1:
        return _ADDED if operands[0].name in _OUTPUTS else _BROUGHT
    words = [find_noun(operand.path).word for operand in operands[:2]]
    return " × ".join(word.removesuffix(" embedding") if why.cell.name == "sum" else word for word in words)


def _list_part(trace: Trace, why: Explanation, part: PartOf) -> Row:
    """One part: its name, where it comes from, and what it adds."""
    first, amount = part.operands[0], part.amount or 0.0
    name = Cell(_name_part(why, part.operands), first)
    return Row((name, Cell(_find_origin(trace, first), look=card.WORD), Cell(format_number(amount))), amount)


def _find_origin(trace: Trace, operand: Address) -> str:
    """Where a part comes from: the row of a table that was read, or a step of a layer."""
    step = trace.program.by_address.get(operand.path)
    if step and isinstance(step.expr, Lookup):
        ids = trace.explain(operand).sources[-1]
        return f"{find_noun(ids.block.path).word} {int(ids.values[0])}"
    layer = f", layer {operand.layer}" if operand.layer is not None else ""
    return f"{find_noun(operand.path).word}{layer}"


def _draw_strips(view: View, why: Explanation, names: Sequence[str], parts: Sequence[tuple[Group, int]]) -> str:
    """The vectors of which the number is a component, and their sum's, this component ringed in each."""
    if not why.cell.index or why.cell.index[-1][0] != "hidden":
        return ""
    cells = [(name, group.blocks[0][0]) for name, (group, _) in zip(names, parts, strict=True)]
    vectors = [(name, cell) for name, cell in cells if {"token", "hidden"} <= cell.at.keys()]
    place, drawn = why.cell.index[-1][1], [*vectors, (find_noun(why.cell.path).word, why.cell)]
    rows = [view.trace[cell.without("hidden")] for _, cell in drawn]
    end = float(max(np.abs(row).max() for row in rows))
    strips = ""
    for (name, cell), row in zip(drawn, rows, strict=True):
        image = draw_thumbnail(row[None], view.colors, view.trace.step(cell).kind, end=end)
        strips += f"<span>{escape(name)}</span>{ring_strip(image, place, len(row))}"
    return f'<div class="bv-strips">{strips}</div>'


def _find_kind(trace: Trace, group: Group) -> str:
    symbol = trace.program.symbol(group.blocks[0].path)
    return symbol.kind if symbol else ""


def tell_sum(trace: Trace, why: Explanation, found: Parts, names: Sequence[str]) -> Said:
    """Which part of a sum is the largest in size, and whether two go the same way."""
    where, amounts = tell_where(trace, why.cell), found.amounts
    if len(amounts) < 2:
        return say(f"{where}taken as it is.")
    if sorted(names) == [_ADDED, _BROUGHT]:
        brought, added = (float(amounts[names.index(name)]) for name in (_BROUGHT, _ADDED))
        parts = {"brought": Part(brought, format_short), "added": Part(added, format_short), "where": Part(where)}
        form = "{where}what it brings along, {brought}, plus what the sub-layer adds, {added}."
        return say(Claim("a residual sum", form, parts), _tell_direction(brought, added))
    begin = Claim("a sum", "{where}{count} added up.",
                  {"where": Part(where), "count": card.count(len(amounts), "number")})  # fmt: skip
    best = int(np.abs(amounts).argmax())
    largest = say_largest(("largest part in size", " Largest in size: {name}, {amount}."),
                          ("no part larger in size", " None is larger in size than {name}, {amount}."),
                          {"size": Part(float(np.abs(amounts)[best]), format_number), "name": Part(names[best]),
                           "amount": Part(float(amounts[best]), format_short)}, np.abs(amounts), (best,))  # fmt: skip
    return say(begin, largest)


def _tell_direction(brought: float, added: float) -> Said:
    """Whether what is added goes the same way, and if not, how much it takes away."""
    if not brought * added:
        return say()
    if brought * added > 0:
        return say(" Both go the same way.")
    if abs(added) >= abs(brought):
        return say(" What is added outweighs it.")
    return say(Claim("how much is taken away", " The addition takes {share} of it away.",
                     {"share": Part(abs(added / brought), format_percent)}))  # fmt: skip
