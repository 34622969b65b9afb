"""A sum of a few parts, each with a name of its own, as an embedding or a residual sum is. The table adds up."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Said, say, say_largest
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.naming import find_noun, tell_where
from bertviz_core.analysis.parts import Group, Parts
from bertviz_core.analysis.parts import Part as PartOf
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.pictures import Piece, draw_waterfall, find_usual, ring_strip

_EMBEDDED = "embeddings.sum"
_BROUGHT, _ADDED = "brought along", "added"  # the parts of a residual sum
OUTPUTS = ("dense", "dropout", "context")  # what a sub-layer gives, by the end of its path


def explain_sum(view: View, why: Explanation, found: Parts) -> Card:
    """A sum of a few parts, each with a name of its own; or a number taken as it is."""
    trace = view.trace
    parts = [(group, i) for group in found.groups for i in range(len(group.amounts))]
    rows = [_list_part(trace, why, part) for part in found]
    names = [row.cells[0].text for row in rows]
    pieces = [Piece(name, float(found.amounts[k]), _find_kind(trace, parts[k][0])) for k, name in enumerate(names)]
    result = Piece(find_noun(why.cell.path).word, why.value)
    alone = "It is this number" if _is_as_it_is(trace, why, found) else "Made from this alone"
    heading = f"Made from {write_count(len(parts), 'part')}" if len(parts) > 1 else alone
    return Card(
        tell_sum(trace, why, found, names),
        Table(heading, ("what", "from", "part"), rows),
        draw_waterfall(pieces, result) + _draw_strips(view, why, names, parts) if len(parts) > 1 else "",
    )


def _name_part(why: Explanation, operands: Sequence[Address]) -> str:
    """What a part is called: by its part in a residual sum, by what it stands for among embeddings."""
    if why.cell.name == "residual" and len(operands) == 1 and why.count == 2:
        return _ADDED if operands[0].name in OUTPUTS else _BROUGHT
    words = [find_noun(operand.path).word for operand in operands[:2]]
    return " × ".join(word.removesuffix(" embedding") if why.cell.name == "sum" else word for word in words)


def _list_part(trace: Trace, why: Explanation, part: PartOf) -> Row:
    """One part: its name, where it comes from, and what it adds."""
    first, amount = part.operands[0], part.amount or 0.0
    name = Cell(_name_part(why, part.operands), first)
    return Row((name, Cell(_find_origin(trace, first), look=card.WORD), card.write_cell(amount)), amount)


def _find_origin(trace: Trace, operand: Address) -> str:
    """Where a part comes from: a change, the row of a table that was read, or a step of a layer."""
    if is_put(trace, operand):
        return "a change"
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
    end = find_usual(rows)
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
        return say(f"{where}{'taken as it is' if _is_as_it_is(trace, why, found) else 'made from this alone'}.")
    if sorted(names) == [_ADDED, _BROUGHT]:
        brought, added = (float(amounts[names.index(name)]) for name in (_BROUGHT, _ADDED))
        parts = {"brought": Part(brought, format_short), "added": Part(added, format_short), "where": Part(where)}
        by = "attention" if "attention" in why.cell.path else "the feed-forward network"
        form = f"{{where}}what it brings along, {{brought}}, plus what {by} adds, {{added}}."
        return say(Claim("a residual sum", form, parts), _tell_direction(brought, added))
    embedded = why.cell.path == _EMBEDDED
    learned = embedded and all(_is_learned(trace, part.operands) for part in found)
    form = "What stands for {token} at the start: {count} added up." if embedded else "{where}{count} added up."
    token = name_token(trace.tokens, why.cell.at["token"]) if embedded else ""
    begin = Claim(
        "learned numbers added" if learned else "a sum",
        form,
        {
            "count": card.count(len(amounts), "learned number" if learned else "number"),
            "where": Part(where),
            "token": Part(token),
        },
    )
    best = int(np.abs(amounts).argmax())
    largest = say_largest(
        ("largest part in size", " Largest in size: **{name}**, {amount}."),
        ("no part larger in size", " None is larger in size than **{name}**, {amount}."),
        {
            "size": Part(float(np.abs(amounts)[best]), format_number),
            "name": Part(names[best]),
            "amount": Part(float(amounts[best]), format_short),
        },
        np.abs(amounts),
        (best,),
    )
    return say(begin, largest)


def _is_as_it_is(trace: Trace, why: Explanation, found: Parts) -> bool:
    """Whether a number is its only operand: neither a multiple of it nor a product."""
    operands = found[0].operands
    return len(operands) == 1 and trace[operands[0]].item() == why.value


def _is_learned(trace: Trace, operands: Sequence[Address]) -> bool:
    """Whether a part was read from a learned table, and no change put another one there."""
    step = trace.program.by_address.get(operands[0].path)
    return step is not None and isinstance(step.expr, Lookup) and not is_put(trace, operands[0])


def _tell_direction(brought: float, added: float) -> Said:
    """Whether what is added goes the same way, and if not, how much it takes away."""
    if not brought * added:
        return say()
    if brought * added > 0:
        return say(" Both go the same way.")
    if abs(added) >= abs(brought):
        return say(" What is added outweighs it." if abs(added) > abs(brought) else " Together they are 0.")
    return say(
        Claim(
            "how much is taken away",
            " The addition takes **{share}** of it away.",
            {"share": Part(abs(added / brought), format_percent)},
        )
    )
