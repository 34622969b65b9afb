"""What is not computed but read: a row of a table, a learned parameter, an input, a number that somebody set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.labels import name_masked
from bertviz_core.analysis.made_from import is_put, say_changed
from bertviz_core.analysis.naming import find_noun, name_number
from bertviz_core.analysis.parts import Parts, unwrap
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HIDDEN, TOKEN
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.nodes import Expr, MatMul, Symbol
from bertviz_core.formula.numbers import format_number, format_percent, write_recorded
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.steps import EMBEDDING, walk_nodes
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, Title
from bertviz_core.ui.walk.pictures import draw_strip, find_usual
from bertviz_core.ui.walk.spreads import draw_histogram

_SAMPLE = 60_000  # numbers of a table that its histogram is drawn from
Way = tuple[tuple[int, Address], ...]  # the steps of a walk: each with its number in it, and its cell
_WAY = 10  # steps of the walk that are listed, the last ones
_NEIGHBOURS = 2  # entries of the vocabulary before and after one
_AROUND = 5  # tokens before and after one
_SAME, _OF_ROW = 12, 6  # tokens whose number at a component is listed; numbers of a row


def explain_lookup(view: View, why: Explanation, lookup: Lookup) -> Card:
    """A number of a row that an id chooses."""
    trace = view.trace
    table = next(source.block[0] for source in why.sources if source.block.path == lookup.table.address)
    chosen = [source.block[0] for source in why.sources if source.block.path != lookup.table.address]
    axis = table.index[-1][0]
    row, place = trace[table.without(axis)], table.at[axis]
    image = draw_thumbnail(row[None], view.colors, EMBEDDING, end=find_usual([row]))
    id_ = table.index[0][1]
    rows = [Row((Cell(name_number(trace, cell), cell), Cell(""), card.number(trace, cell))) for cell in chosen]
    rows.append(Row((Cell(f"the table’s row {id_}, column {place}", table), Cell(""), card.number(trace, table))))
    return Card(
        tell_lookup(id_, np.abs(row), place),
        Table("Read from", ("what", "", "value"), rows),
        draw_strip(image, place, len(row), f"the {len(row):,} numbers of the row, this one ringed"),
        more=_list_same(trace, why.cell),
    )


def _list_same(trace: Trace, cell: Address) -> str:
    """The same component of the rows that the tokens around one choose, each a number to walk to."""
    if (token := cell.at.get(TOKEN.name)) is None or len(cell.index) < 2:
        return ""
    (axis, place), around = cell.index[-1], choose_around(len(trace.tokens), token, _SAME // 2)
    every = [cell.fix(token=i) for i in around]
    values = [float(trace[each]) for each in every]
    rows = [
        Row((Cell(card.name_place(trace, TOKEN.name, i), each), card.number(trace, each)), value, own=i == token)
        for i, each, value in zip(around, every, values, strict=True)
    ]
    whose = "every token" if len(around) == len(trace.tokens) else "the tokens around it"
    name = "component" if axis == HIDDEN.name else axis
    return card.render_table(Table(f"{name.capitalize()} {place} at {whose}", (TOKEN.name, "value"), rows))


def tell_lookup(id_: int, sizes: np.ndarray, place: int) -> Said:
    """That a row is read, and the number's place among that row's."""
    row = {"row": Part(id_)}
    larger = int((sizes > sizes[place]).sum())
    parts = {"larger": card.count(larger), "all": card.count(len(sizes)), "are": Part("is" if larger == 1 else "are")}
    size = {"size": Part(float(sizes[place]), format_number), **parts}
    largest = " No other of its {all} numbers is as large in size."
    return say(
        Claim("a row is read", "Nothing is computed: row **{row}** of a learned table is read.", row),
        choose(
            Claim("largest of its row", largest, size, Relation.LARGEST, sizes, (place,)),
            Claim("larger in its row", " {larger} of its {all} numbers {are} larger in size.", parts),
        ),
    )


def explain_largest(view: View, why: Explanation, found: Parts) -> Card:
    """The place of the largest number of a row."""
    trace = view.trace
    (block,) = found.groups[0].blocks
    values = np.array(why.sources[0].values)
    axis = next(axis for axis, places in block.sides if len(places) > 1)
    order = rank_top(values, card.ROWS - 2)
    rows = [
        Row(
            (Cell(card.name_place(trace, axis, i), block[i]), Cell(str(i)), card.write_cell(float(values[i]))),
            own=i == int(why.value),
        )
        for i in order
    ]
    said = say(
        Claim(
            "place of the largest",
            "The place of the largest of {all} numbers: {place}.",
            {"all": card.count(len(values)), "place": card.count(int(why.value))},
        )
    )
    return Card(said, Table(f"Chosen from {len(values):,} numbers, largest first", ("", "place", "value"), rows))


def explain_end(view: View, why: Explanation, way: Way) -> Card:
    """A number at which the walk ends. way: the steps that led to it."""
    trace, cell = view.trace, why.cell
    if cell.path in trace.model.parameters:
        return _explain_parameter(trace, cell)
    if is_put(trace, cell):
        return Card(say(f"{say_changed(trace, cell)} A walk back ends here."))
    return _explain_input(view, cell, way)


def _explain_parameter(trace: Trace, cell: Address) -> Card:
    values = trace[cell.whole].ravel()
    sample = values[:: max(1, len(values) // _SAMPLE)]
    picture = draw_histogram(sample.astype(np.float64), float(trace[cell]))
    return Card(tell_parameter(trace, cell, values), _list_uses(trace, cell) or _list_places(trace, cell), picture)


def _list_places(trace: Trace, cell: Address) -> Table:
    rows = [Row((Cell(axis.replace("_", " ")), Cell(card.name_place(trace, axis, i)))) for axis, i in cell.index]
    return Table("Where it stands", ("axis", "index"), rows)


def _list_uses(trace: Trace, cell: Address) -> Table | None:
    """What a weight of a matrix does at each token: the number that it is multiplied with, and their product."""
    read = [x for step in trace.program.readers.get(cell.path, ()) for x in _find_factors(trace, step.expr, cell)]
    if not read:
        return None
    factor, tokens = read[0]
    real = {*trace.encoding.real}
    kept = [i for i in tokens if i in real or len(tokens) == 1]
    weight, inside = float(trace[cell]), factor.axes[-1].name
    column = Address(factor.address).fix(**{inside: cell.at[inside]})
    numbers = trace[column].astype(np.float64)
    rows = [
        Row(
            (
                Cell(card.name_place(trace, TOKEN.name, i), column.fix(token=i).sort(trace.dims(column.whole))),
                card.write_cell(float(numbers[i])),
                card.write_cell(weight),
                card.write_cell(float(numbers[i]) * weight),
            ),
            float(numbers[i]) * weight,
        )
        for i in sorted(kept[k] for k in rank_top(np.abs(numbers[kept]), card.ROWS))
    ]
    largest = f", the {card.ROWS} largest" if len(kept) > card.ROWS else ""
    columns = ("token", Title(f"{find_noun(column.path).word} {cell.at[inside]}", factor.kind), "weight", "product")
    but = " but padding" if name_masked(trace) == "padding" else " with mask 1"
    where = (
        f"each token{but * (len(kept) < len(tokens))}"
        if len(tokens) == len(numbers)
        else f"{name_token(trace.tokens, tokens[0])} alone"
    )
    return Table(f"What it does at {where}{largest}", columns, rows)


def _find_factors(trace: Trace, expr: Expr, cell: Address) -> Iterator[tuple[Symbol, range]]:
    """What a formula multiplies a matrix with, where that has a row for each token; and which tokens' rows it takes."""
    for node in walk_nodes(expr):
        if isinstance(node, MatMul) and isinstance(node.right, Symbol) and node.right.address == cell.path:
            left, at = unwrap(node.left)
            if isinstance(left, Symbol) and left.axes[0] == TOKEN and left.axes[-1].name in cell.at:
                yield left, at.get(TOKEN, range(len(trace.tokens)))


def tell_parameter(trace: Trace, cell: Address, values: np.ndarray) -> Said:
    """What it is a parameter of, and how many of its table are smaller in size."""
    own = abs(float(trace[cell]))
    count = remember(trace, f"smaller in size than {cell}", lambda: np.count_nonzero((values < own) & (values > -own)))
    parts = {"share": Part(count / len(values), format_percent), "all": card.count(len(values))}
    layer = f" of layer {cell.layer}" if cell.layer is not None else ""
    owner = find_noun(cell.path.rpartition(".")[0]).owner
    above = Claim("parameters smaller in size", " In size it is above **{share}** of the {all} in its table.", parts)
    alone = Claim(
        "smallest parameter",
        " In size it is the **smallest** of the {all} in its table.",
        {"size": Part(own, format_number), **parts},
        Relation.SMALLEST,
        np.abs(values[:_SAMPLE].astype(np.float64)),
        (int(np.abs(values[:_SAMPLE]).argmin()),),
    )
    least = Claim("no parameter smaller in size", " None of the {all} in its table is smaller in size.", parts)
    return say(
        f"A parameter of the {owner}{layer}: training set it, and it is the same for every sentence.",
        above if count else choose(alone, least) if len(values) <= _SAMPLE else least,
        " A walk back ends here.",
    )


def _explain_input(view: View, cell: Address, way: Way) -> Card:
    trace, token = view.trace, cell.at["token"]
    value = int(trace[cell].item())
    tokens = _draw_tokens(trace.tokens, trace[cell.whole], token)
    said = f"{name_token(trace.tokens, token)}: {_tell_input(view, cell, value)} A walk back ends here."
    table = _list_neighbours(trace, value) if cell.path == "input_ids" else None
    more = f"{_draw_row(view, cell)}{_list_way(trace, way)}"
    return Card(say(said), table, f'<div class="bv-idchips">{tokens}</div>', more=more)


def _draw_row(view: View, cell: Address) -> str:
    """The row of a learned table that an id, a position or a segment chooses: its numbers, and the largest of them."""
    trace = view.trace
    steps = [step for step in trace.program.readers.get(cell.path, ()) if isinstance(unwrap(step.expr)[0], Lookup)]
    if not steps:
        return ""
    row = Address(steps[0].address).fix(token=cell.at[TOKEN.name])
    values, axis = trace[row], trace.dims(row)[-1]
    image = draw_thumbnail(values[None], view.colors, EMBEDDING, end=find_usual([values]))
    rows = [
        Row((Cell(str(i), row.fix(**{axis: i})), card.number(trace, row.fix(**{axis: i}))), float(values[i]))
        for i in rank_top(np.abs(values), _OF_ROW)
    ]
    table = Table("It chooses a row of a learned table, largest first", ("component", "value"), rows)
    strip = draw_strip(image, None, len(values), f"the {len(values):,} numbers of that row")
    return f'<div class="bv-high">{strip}{card.render_table(table)}</div>'


def _draw_tokens(tokens: Sequence[str], values: np.ndarray, token: int) -> str:
    """The tokens around one, each with its value; how many stand before and behind these."""
    shown = choose_around(len(tokens), token, _AROUND)
    chips = "".join(
        f'<span class="bv-idchip{" bv-hot" * (i == token)}">{card.escape(tokens[i])}<sub>{int(values[i])}</sub></span>'
        for i in shown
    )
    hidden = (shown.start, len(tokens) - shown.stop)
    before, behind = (f"<small>{count} more</small> " if count else "" for count in hidden)
    return f"{before}{chips}{behind}"


def choose_around(count: int, one: int, reach: int) -> range:
    """Those of so many that lie around one: as far as the reach on either side, at the ends farther on the other."""
    first = max(0, min(one - reach, count - 2 * reach - 1))
    return range(first, min(count, first + 2 * reach + 1))


def _tell_input(view: View, cell: Address, value: int) -> str:
    """What an input says of its token; of one that is hidden, what the tokenizer made of the word as well."""
    token, typed = cell.at["token"], view.typed
    if cell.path == "input_ids" and token in view.masked:
        return f"it hides “{typed.tokens[token]}”, id {typed.ids[token]}; the model is given id **{value}** instead."
    return _TELLS.get(cell.path, "an input.").format(value=value)


_TELLS = {
    "input_ids": "the tokenizer made it id **{value}**. This is what the model is given.",
    "position_ids": "position {value}, counted from 0.",
    "token_type_ids": "segment {value}: 0 is the first sentence, 1 the second.",
    "attention_mask": "mask {value}: 1 is read, 0 is padding.",
}


def _list_neighbours(trace: Trace, value: int) -> Table:
    tokenizer = trace.model.tokenizer
    near = range(max(0, value - _NEIGHBOURS), min(len(tokenizer.vocabulary), value + _NEIGHBOURS + 1))
    rows = [Row((Cell(str(i)), Cell(tokenizer.name(i), look=card.WORD)), own=i == value) for i in near]
    return Table("Its neighbours in the vocabulary", ("id", "entry"), rows)


def _list_way(trace: Trace, way: Way) -> str:
    """The walk that led here, the last steps of it, each a way back."""
    rows = "".join(
        f'<tr data-keep="{i}"><td><button data-keep="{i}">{card.escape(name_number(trace, cell))}</button></td>'
        f"<td>{write_recorded(trace[cell].item())}</td></tr>"
        for i, cell in way[-_WAY:]
    )
    title = f"The way you came, {write_count(len(way), 'step')}"
    return f'<h3 class="bv-made">{title}</h3><table class="bv-operands"><tbody>{rows}</tbody></table>' if rows else ""
