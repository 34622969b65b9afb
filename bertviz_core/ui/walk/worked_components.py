"""What single components wrote into a number, and lengths of parts: what the drawer tells of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bertviz_core.analysis.attribution import name_rest
from bertviz_core.analysis.carried import carry_forward, puts_numbers, read_carried
from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.components import ACTIVATION, Components
from bertviz_core.analysis.heads import are_shares
from bertviz_core.analysis.methods import MOST_TOKENS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.steps import ATTENTION, FFN, NORM
from bertviz_core.formula.tex import write_largest
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import work_out_once
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.pictures import Share, draw_shares, draw_terms
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut
from bertviz_core.ui.walk.worked_parts import Place, name_whole, read_place, take_apart

HEAD, BLOCK, LENGTH = "head", "block", "length"  # the last part of their addresses
_ROWS = card.ROWS - 2
_DIRECTLY = "directly: through residual sums and LayerNorms alone, whose deviations are held"


def _find_components(trace: Trace, place: Place, *axes: str) -> Components:
    """All components of the number. Raises AddressError where there are none, or not so many."""
    found = take_apart(trace, place.question).components
    if found is None:
        raise AddressError("This program’s layers have no heads and feed-forward block to tell apart.")
    for axis, size in zip(axes, found.heads.shape, strict=False):
        if place.rest[axis] >= size:
            raise AddressError(f"There is no {axis} {place.rest[axis]} in this model, only 0 to {size - 1}.")
    return found


def _work_out_head(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, "layer", "head")
    layer, head, token = place.rest["layer"], place.rest["head"], place.question.token
    found = _find_components(trace, place, "layer", "head")
    amounts, every = found.heads[layer, head], found.heads.sum(axis=-1)
    row = ATTENTION_WEIGHTS.in_layer(layer).fix(head=head, query=token)
    weights, number = trace[row].astype(np.float64), float(amounts.sum())
    rank = int((np.abs(every) > abs(number)).sum()) + 1
    best = int(np.abs(amounts).argmax())
    parts = {
        "part": Part(number, format_short),
        "number": Part(name_whole(trace, place.question)),
        "head": Part(head),
        "layer": Part(layer),
        "token": Part(name_token(trace.tokens, token)),
        "from": Part(name_token(trace.tokens, best)),
        "weight": Part(float(weights[best]), format_percent),
        "way": Part(", the other way" if float(amounts[best]) * number < 0 else ""),
        "rank": card.count(rank),
        "count": card.count(every.size, "head"),
    }
    share = "{weight} of its attention" if are_shares(weights).all() else "the weight {weight}"
    form = "What head {head} of layer {layer} writes at {token}, but for its bias, adds **{part}** to {number}: "
    form += (
        f"in size number {{rank}} of {{count}}. {{from}}, with {share}, pulls as hard as any{{way}}."
        if weights.any()
        else "all its attention weights there are 0."
    )
    return WorkedOut(
        f"Part of head {head}, layer {layer}",
        ATTENTION,
        parts=[
            (name_token(trace.tokens, j), format_number(float(x)), str(row.fix(key=j))) for j, x in enumerate(amounts)
        ],
        number=number,
        card=Card(
            say(Claim("part of a head", form, parts)),
            _list_fetched(trace, row, weights, amounts),
            draw_terms(amounts, None),
            f"A: attention weight; u: what the token’s value, but for its bias, would add at full weight, {_DIRECTLY}",
        ),
        line=Line(f"a_{{{layer},{head}}}", rf"\sum_j \; A_{{{token},j}} \; u_j", _write_parts(amounts, weights)),
    )


def _write_parts(amounts: np.ndarray, factors: np.ndarray) -> str:
    """The largest amounts as products of these factors and of what each would be at 1."""
    return write_largest(factors.tolist(), _divide(amounts, factors).tolist())


def _divide(amounts: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """What each amount would be at a factor of 1; 0 where it has none."""
    return np.divide(amounts, factors, where=factors != 0, out=np.zeros(len(factors)))


def _list_fetched(trace: Trace, row: Address, weights: np.ndarray, amounts: np.ndarray) -> Table:
    """The tokens that a head fetches from: weight, effect at full weight, product."""
    order = rank_top(np.abs(amounts), len(amounts) if len(amounts) <= card.ROWS else _ROWS)
    axes = trace.dims(row.whole)
    rows = [
        Row(
            (
                Cell(card.name_place(trace, TOKEN.name, j), row.fix(key=j).sort(axes)),
                card.write_share(float(weights[j]), row.fix(key=j).sort(axes)),
                card.write_cell(float(amounts[j] / weights[j])) if weights[j] else Cell(""),
                card.write_cell(float(amounts[j])),
            ),
            float(amounts[j]),
        )
        for j in order
    ]
    heading = f"Made from {write_count(len(amounts), 'token')}, largest first"
    return Table(heading, ("token", "weight", "at weight 1", "product"), rows, card.close_sum(amounts, order, 4))


def _work_out_block(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, "layer")
    layer, token = place.rest["layer"], place.question.token
    amounts = _find_components(trace, place, "layer").neurons[layer]
    row = ACTIVATION.in_layer(layer).fix(token=token)
    active, number = trace[row].astype(np.float64), float(amounts.sum())
    order = rank_top(np.abs(amounts), _ROWS)
    rows = [
        Row(
            (
                Cell(str(i), row.fix(intermediate=i)),
                card.number(trace, row.fix(intermediate=i)),
                card.write_cell(float(amounts[i] / active[i])) if active[i] else Cell(""),
                card.write_cell(float(amounts[i])),
            ),
            float(amounts[i]),
        )
        for i in order
    ]
    parts = {
        "part": Part(number, format_short),
        "number": Part(name_whole(trace, place.question)),
        "layer": Part(layer),
        "token": Part(name_token(trace.tokens, token)),
        "count": card.count(len(amounts), "neuron"),
    }
    form = "What the {count} of layer {layer} write at {token} adds **{part}** to {number}."
    heading = f"Made from {write_count(len(amounts), 'neuron')}, largest first"
    return WorkedOut(
        f"Part of the feed-forward block, layer {layer}",
        FFN,
        parts=[(f"neuron {i}", format_number(float(x)), str(row.fix(intermediate=i))) for i, x in enumerate(amounts)],
        number=number,
        card=Card(
            say(Claim("part of a feed-forward block", form, parts)),
            Table(heading, ("neuron", "activation", "at 1", "product"), rows, card.close_sum(amounts, order, 4)),
            draw_terms(amounts, None),
            f"a: activation; u: what a neuron at 1 would add, {_DIRECTLY}",
        ),
        line=Line(f"f_{{{layer}}}", r"\sum_n \; a_n \; u_n", _write_parts(amounts, active)),
    )


def _work_out_length(view: View, of: Address) -> WorkedOut:
    """How long the part of a token in another's vector is; and its share of all such lengths, which is drawn."""
    trace, at = view.trace, of.at
    if set(at) != {TOKEN.name, "source"} or max(at["token"], at["source"] - 1) >= len(trace.tokens):
        raise AddressError(f"{of} names no part of a token’s vector: [token=0,source=1] says whose and where from.")
    lengths = _read_lengths(trace, of.path)[at["token"]]
    j, total = at["source"], float(lengths.sum())
    rest = name_rest(puts_numbers(trace, of.path))
    names = [*(card.name_place(trace, TOKEN.name, i) for i in range(len(trace.tokens))), rest]
    number = float(lengths[j]) / (total or 1.0)
    cells = [Address(f"{of.path}.{LENGTH}").fix(token=at["token"], source=i) for i in range(len(names))]
    order = rank_top(lengths, len(names) if len(names) <= card.ROWS else _ROWS)
    parts = {
        "share": Part(number, format_percent),
        "length": Part(float(lengths[j]), format_short),
        "total": Part(total, format_short),
        "from": Part(f"the {rest.replace(', ', ' and ')}" if j == len(trace.tokens) else name_token(trace.tokens, j)),
        "token": Part(name_token(trace.tokens, at["token"])),
    }
    form = (
        "In the vector of {token}, the part that came from {from} is {length} long: **{share}** of {total}, all "
        "lengths together. Lengths do not add up to the vector’s: the parts point different ways."
    )
    return WorkedOut(
        f"Share of {parts['from'].text}",
        NORM,
        parts=[(n, format_number(float(x)), str(c)) for n, x, c in zip(names, lengths, cells, strict=True)],
        number=number,
        value=format_percent(number),
        card=Card(
            say(Claim("share of a length", form, parts)),
            Table(
                f"{write_count(len(names), 'length')}, longest first",
                ("came from", "length"),
                [Row((Cell(names[i], cells[i]), card.write_cell(float(lengths[i]))), float(lengths[i]), own=i == j)
                 for i in order],
                card.close_sum(lengths, order, 2),
            ),
            draw_shares([Share(names[i], float(lengths[i]), own=i == j) for i in range(len(names))]),
            NOTE,
        ),
        line=Line(
            "s", r"\lVert x_{i \leftarrow j} \rVert / \sum_k \lVert x_{i \leftarrow k} \rVert",
            f"{format_short(float(lengths[j]))} / {format_short(total)}",
        ),
    )  # fmt: skip


def _read_lengths(trace: Trace, path: str) -> np.ndarray:
    """(token, source) of a layer's output, remembered."""
    if len(trace.tokens) > MOST_TOKENS:
        raise AddressError(f"Lengths of parts are worked out of texts up to {MOST_TOKENS} tokens.")

    def carry() -> np.ndarray:
        ((_, parts),) = carry_forward(read_carried(trace), {path})
        return np.linalg.norm(parts.numpy(), axis=-1).T

    try:
        return work_out_once(trace, f"lengths of parts in {path}", carry)
    except InputError as error:
        raise AddressError(str(error)) from error


COMPONENTS: Mapping[str, Callable[[View, Address], WorkedOut]] = {
    HEAD: _work_out_head,
    BLOCK: _work_out_block,
    LENGTH: _work_out_length,
}
