"""Numbers that no step computes, but that follow from recorded ones: a row's entropy, the cosine of two vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.add_norm import name_direction
from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.heads import are_shares, measure_entropy
from bertviz_core.analysis.layers import compute_angles, compute_norms
from bertviz_core.analysis.naming import find_noun
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import HIDDEN, KEY, QUERY, TOKEN
from bertviz_core.formula.numbers import format_degrees, format_latex, format_number, format_short, write_fixed
from bertviz_core.formula.short import write_letter
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS, KEYS, QUERIES, SELF_ATTENTION
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, Title
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.pictures import Piece, draw_angle, draw_waterfall
from bertviz_core.ui.walk.templates.sums import OUTPUTS
from bertviz_core.ui.walk.worked_components import COMPONENTS
from bertviz_core.ui.walk.worked_flow import FLOW
from bertviz_core.ui.walk.worked_lengths import LENGTHS
from bertviz_core.ui.walk.worked_methods import METHODS
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut
from bertviz_core.ui.walk.worked_parts import PARTS
from bertviz_core.ui.walk.worked_shares import SHARES

ENTROPY, COSINE, ANGLE = "entropy", "cosine", "angle"  # the last part of their addresses
ACROSS = "across"  # the same of those that compare with a second pass: see `worked_across`
OTHER = "other"  # the token that a cosine compares with
_PIECES = 4  # of a waterfall, beside the others
_ROWS = card.ROWS - 2  # of a table, beside the others
_OF_DEGREE = 2  # decimals
_RESIDUAL = "residual"
_DOT_PRODUCT = SELF_ATTENTION.enter("products")
_EMBEDDED, _AFTER = "embeddings.LayerNorm", "output.LayerNorm"  # what a layer receives


@dataclass(frozen=True, eq=False)
class Compared:
    """One of two vectors. title: of its column; symbol: LaTeX; step: the address of a component, if it has one; kind:
    of vector, where that is not the other's."""

    title: str
    values: np.ndarray
    symbol: str
    step: Callable[[int], Address] | None = None
    kind: str = ""

    @property
    def head(self) -> str | Title:
        """Of its column, in the colour of its kind."""
        return Title(self.title, self.kind) if self.kind else self.title


def find_entropy(row: Address) -> Address:
    """The address of the entropy of a row of attention weights, whose head and query are fixed."""
    return Address(f"{row.path}.{ENTROPY}", row.index)


def pick_cosines(vectors: Address) -> str:
    """One address for all cells of a map of cosines of tokens, as the browser completes it."""
    return f"{vectors}.{COSINE}[{TOKEN.name}={{y}},{OTHER}={{x}}]"


def find_angle(of: Address) -> Address:
    """The address of the angle between a query and a key, whose dot product is given; or between what a sub-layer
    receives and what it adds, of which a token's residual sum is given."""
    return Address(f"{of.path}.{ANGLE}", of.index)


def name_worked_out(place: Where) -> str:
    """What such a number is called in a crumb; "" of another address."""
    return place.name if isinstance(place, Address) and place.name in (*MAKERS, *_OF_PARTS, ACROSS) else ""


def find_worked_out(view: View, where: Where) -> WorkedOut | None:
    """The number at such an address; None for another. Raises AddressError where it names nothing."""
    if not isinstance(where, Address) or where.name not in (*MAKERS, *_OF_PARTS):
        return None
    of = Address(where.path.rpartition(".")[0], where.index)
    if of.path not in view.trace:
        return None
    make = MAKERS.get(where.name)
    return make(view.trace, of) if make else _OF_PARTS[where.name](view, of)


def _work_out_entropy(trace: Trace, row: Address) -> WorkedOut:
    if row.leaf != ATTENTION_WEIGHTS.path or trace.dims(row) != (KEY.name,):
        raise AddressError(f"{row} is no row of attention weights: its layer, head and query say which one.")
    weights = trace[row].astype(np.float64)
    if not are_shares(weights):
        raise AddressError(f"{row} has no entropy: a change put other numbers there than shares of a whole.")
    bits = -np.log2(weights, where=weights > 0, out=np.zeros_like(weights))
    parts = weights * bits
    number = measure_entropy(weights)
    return WorkedOut(
        "Entropy of a row of attention",
        ATTENTION,
        parts=[(name, format_number(float(x)), str(cell)) for name, x, cell in _list_weights(trace, row, weights)],
        number=number,
        unit="bits",
        card=Card(
            _tell_entropy(trace, row, number, len({*trace.encoding.real, *np.flatnonzero(weights).tolist()})),
            _list_entropy(trace, row, weights, bits),
            _draw_entropy(trace, parts, number),
            NOTE,
        ),
        line=_write_entropy(row.at["query"], parts),
    )


def _list_weights(trace: Trace, row: Address, weights: np.ndarray) -> list[tuple[str, float, Address]]:
    """Every weight of a row: its key, itself, its address."""
    axes = trace.dims(row.whole)
    return [(card.name_place(trace, KEY.name, i), float(x), row.fix(key=i).sort(axes)) for i, x in enumerate(weights)]


def _list_entropy(trace: Trace, row: Address, weights: np.ndarray, bits: np.ndarray) -> Table:
    parts, listed = weights * bits, _list_weights(trace, row, weights)
    order = rank_top(parts, len(parts) if len(parts) <= card.ROWS else _ROWS)
    rows = [
        Row(
            (
                Cell(listed[i][0]),
                card.number(trace, listed[i][2]),
                card.write_short(float(bits[i])) if weights[i] else Cell(""),
                card.write_cell(float(parts[i])),
            ),
            float(parts[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(parts), 'weight')}, largest part first"
    return Table(heading, (KEY.name, "weight", "\N{MINUS SIGN}log₂", "part"), rows, card.close_sum(parts, order, 4))


def _tell_entropy(trace: Trace, row: Address, number: float, count: int) -> Said:
    """count: of the tokens that can be looked at; padding is none."""
    form = (
        "How widely {token} spreads its attention in head {head} of layer {layer}: as if over **{even} of {all}** "
        "evenly. 0 bits is one token, {most} all alike."
    )
    parts = {
        "even": Part(float(2**number), format_short),
        "all": card.count(count, "token"),
        "most": Part(float(np.log2(count)), format_short),
        "head": Part(row.at["head"]),
        "layer": Part(row.layer),
        "token": Part(name_token(trace.tokens, row.at["query"])),
    }
    return say(Claim("entropy of a row", form, parts))


def _draw_entropy(trace: Trace, parts: np.ndarray, number: float) -> str:
    best = rank_top(parts, _PIECES if len(parts) > _PIECES + 1 else len(parts))
    pieces = [Piece(card.name_place(trace, KEY.name, i), float(parts[i])) for i in best]
    if len(others := np.delete(parts, best)):
        pieces.append(Piece(write_count(len(others), "other"), float(others.sum())))
    return draw_waterfall(pieces, Piece(ENTROPY, number))


def _write_entropy(query: int, parts: np.ndarray) -> Line:
    weight = rf"{{\htmlClass{{bv-of-{ATTENTION}}}{{A}}}}_{{{query},j}}"
    terms = [format_latex(float(parts[i])) for i in rank_top(parts, 2)]
    more = [r"\dots"] if len(parts) > len(terms) else []
    return Line(f"H_{{{query}}}", rf"-\sum_j \; {weight} \; \log_2 \; {weight}", " + ".join([*terms, *more]))


def _work_out_cosine(trace: Trace, pair: Address) -> WorkedOut:
    at, vectors = pair.at, pair.whole
    if trace.dims(vectors) != (TOKEN.name, HIDDEN.name) or set(at) != {TOKEN.name, OTHER}:
        raise AddressError(f"{pair} names no two tokens: [{TOKEN.name}=0,{OTHER}=1] of a tensor with a vector a token.")
    kind, tokens = trace.step(vectors).kind, (at[TOKEN.name], at[OTHER])
    one, two = (_take(trace, vectors.fix(token=token), kind) for token in tokens)
    parts = {
        "angle": Part(_measure(one.values, two.values), format_degrees),
        "one": Part(name_token(trace.tokens, tokens[0])),
        "two": Part("itself" if tokens[0] == tokens[1] else name_token(trace.tokens, tokens[1])),
        "place": Part(tell_place(vectors)),
    }
    form = (
        "How alike {one} and {two} are {place}: their vectors enclose **{angle}**. A cosine is 1 in the same "
        "direction, 0 at a right angle."
    )
    return compare("Cosine of two tokens", kind, say(Claim("cosine of two tokens", form, parts)), one, two)


def _take(trace: Trace, row: Address, kind: str) -> Compared:
    token, values = row.at[TOKEN.name], trace[row]
    return Compared(
        card.name_place(trace, TOKEN.name, token),
        values,
        rf"{{\htmlClass{{bv-of-{kind}}}{{x}}}}_{{{token}}}",
        lambda i: row.fix(hidden=i),
    )


def tell_place(vectors: Address) -> str:
    """Where in the pass two vectors are compared."""
    if vectors.path == _EMBEDDED:
        return "as layer 0 receives them"
    if vectors.leaf == _AFTER:
        return f"after layer {vectors.layer}"
    layer = f" of layer {vectors.layer}" if vectors.layer is not None else ""
    return f"by their {find_noun(vectors.path).word}{layer}"


def _measure(one: np.ndarray, two: np.ndarray) -> float:
    return float(compute_angles(one.astype(np.float64), two.astype(np.float64)))


def compare(
    name: str, kind: str, said: Said, one: Compared, two: Compared, note: str = NOTE, *, turned: bool = False
) -> WorkedOut:
    """The cosine of two vectors with its card; turned: the angle that it is the cosine of.

    Raises AddressError where one has no direction.
    """
    x, y = one.values.astype(np.float64), two.values.astype(np.float64)
    if not (x.any() and y.any()):
        raise AddressError("A vector of length 0 has no direction, so there is no cosine with it.")
    lengths, angle = (float(compute_norms(x)), float(compute_norms(y))), _measure(x, y)
    parts = x * y / (lengths[0] * lengths[1])
    number = float(parts.sum().clip(-1, 1))
    below, drawn = r" \times ".join(map(format_latex, lengths)), [(each.title, each.kind) for each in (one, two)]
    return WorkedOut(
        name,
        kind,
        parts=[(f"component {i}", format_number(float(part)), "") for i, part in enumerate(parts)],
        number=number,
        value=f"{write_fixed(angle, _OF_DEGREE)}°" if turned else format_number(number),
        unit=f"cosine {format_short(number)}" if turned else format_degrees(angle),
        card=Card(
            said,
            _list_products(parts, one, two),
            draw_angle(angle, *drawn),
            note,
        ),
        line=Line(
            r"\cos",
            rf"\dfrac{{{one.symbol} \cdot {two.symbol}}}{{|{one.symbol}|\,|{two.symbol}|}}",
            rf"\dfrac{{{format_latex(float(x @ y))}}}{{{below}}}",
        ),
    )


def _list_products(parts: np.ndarray, one: Compared, two: Compared) -> Table:
    order = rank_top(np.abs(parts), _ROWS)
    rows = [
        Row(
            (
                Cell(str(i), one.step(i) if one.step else None),
                *(card.write_cell(float(each.values[i]), each.step and each.step(i)) for each in (one, two)),
                card.write_cell(float(parts[i])),
            ),
            float(parts[i]),
        )
        for i in order
    ]
    heading = f"Made from {write_count(len(parts), 'product')}, largest first"
    return Table(heading, ("component", one.head, two.head, "÷ lengths"), rows, card.close_sum(parts, order, 4))


def _work_out_angle(trace: Trace, of: Address) -> WorkedOut:
    return _work_out_added(trace, of) if of.name == _RESIDUAL else _work_out_fit(trace, of)


def _work_out_added(trace: Trace, row: Address) -> WorkedOut:
    """The angle between what a sub-layer receives and what it adds to that."""
    if trace.dims(row.whole) != (TOKEN.name, HIDDEN.name) or set(row.at) != {TOKEN.name}:
        raise AddressError(f"{row} is no token's residual sum: [{TOKEN.name}=0] says whose.")
    step, token = trace.step(row.whole), row.at[TOKEN.name]
    others = [leaf.address for leaf in step.leaves if Address(leaf.address).name not in OUTPUTS]
    if len(others) != 1 or len(step.leaves) != 2:
        raise AddressError(f"{row} is no sum of two vectors here, so that there is no angle between them.")
    added = next(leaf.address for leaf in step.leaves if leaf.address not in others)
    one, two = (
        _take_summand(trace, Address(path).fix(token=token), title)
        for path, title in ((others[0], "was"), (added, "added"))
    )
    angle = _measure(one.values, two.values)
    parts = {
        "angle": Part(angle, format_degrees),
        "way": Part(name_direction(angle) if math.isfinite(angle) else ""),
        "token": Part(name_token(trace.tokens, token)),
        "by": Part("attention" if "attention" in row.path else "the feed-forward network"),
        "layer": Part(row.layer),
    }
    form = "What {by} of layer {layer} adds to {token} stands at **{angle}** to what was there: {way}."
    said = say(Claim("angle of what is added", form, parts))
    return compare("Angle of what is added", step.kind, said, one, two, turned=True)


def _take_summand(trace: Trace, row: Address, title: str) -> Compared:
    output = trace.step(row.whole).output
    symbol = rf"{{\htmlClass{{bv-of-{output.kind}}}{{{write_letter(output)}}}}}_{{{row.at[TOKEN.name]}}}"
    return Compared(title, trace[row], symbol, lambda i: row.fix(hidden=i), output.kind)


def _work_out_fit(trace: Trace, dot: Address) -> WorkedOut:
    if (layer := dot.layer) is None or dot.leaf != _DOT_PRODUCT.path or trace.dims(dot):
        raise AddressError(
            f"{dot} is no dot product of a query and a key: its layer, head, query and key say which one."
        )
    at, head = dot.at, dot.at["head"]
    one, two = (
        _take_projected(trace, leaf.in_layer(layer).fix(head=head, **{axis.name: at[axis.name]}), axis.name)
        for leaf, axis in ((QUERIES, QUERY), (KEYS, KEY))
    )
    parts = {
        "angle": Part(_measure(one.values, two.values), format_degrees),
        "asks": Part(name_token(trace.tokens, at[QUERY.name])),
        "offers": Part(name_token(trace.tokens, at[KEY.name])),
        "head": Part(head),
        "layer": Part(layer),
    }
    form = (
        "In head {head} of layer {layer} the query of {asks} and the key of {offers} enclose **{angle}**. A cosine "
        "is 1 in the same direction, 0 at a right angle."
    )
    said = say(Claim("angle of query and key", form, parts))
    return compare("Angle of query and key", ATTENTION, said, one, two, turned=True)


def _take_projected(trace: Trace, row: Address, name: str) -> Compared:
    token, values = row.at[name], trace[row]
    return Compared(
        f"{name} of {card.name_place(trace, name, token)}",
        values,
        rf"{{\htmlClass{{bv-of-{trace.step(row.whole).kind}}}{{{name[0]}}}}}_{{{token}}}",
        lambda i: row.fix(head_dim=i),
        trace.step(row.whole).kind,
    )


MAKERS = {ENTROPY: _work_out_entropy, COSINE: _work_out_cosine, ANGLE: _work_out_angle, **LENGTHS, **FLOW, **SHARES}
_OF_PARTS = {**PARTS, **COMPONENTS, **METHODS}
