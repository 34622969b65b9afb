"""Numbers of two passes that are compared: the cosine of a token's two vectors, and how far a head's maps differ."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say, say_largest
from bertviz_core.analysis.comparing import list_sides, measure_angles, read_folded
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import HEAD, HIDDEN, TOKEN
from bertviz_core.formula.numbers import format_degrees, format_latex, format_number, format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.second import get_hidden, get_second
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import WORD, Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.worked_number import WorkedOut
from bertviz_core.ui.walk.worked_out import ACROSS, Compared, compare, tell_place

FIRST, SECOND, _REST = "first", "second", "unmatched tokens"
_HEAD_NOTE = "0: the same map; 1: nothing in common; keys that are not matched count as one"
_NOTE = "worked out from both passes; ′ marks the second"


def explain_across(view: View, where: Where) -> WorkedOut | None:
    """The number at such an address, of the pass on screen and the second one; None for another address.

    Raises AddressError where there is no such number, or no second pass.
    """
    if not isinstance(where, Address) or where.name != ACROSS:
        return None
    second = get_second(view) or get_hidden(view)
    if second is None:
        raise AddressError(f"{where} compares with a second pass, and there is none. Choose one on the page Compare.")
    return find_across(view.outcome.after, second.trace, second.pairs, where)


def find_across(one: Trace, other: Trace, pairs: Pairs, where: Address) -> WorkedOut | None:
    """The number at such an address: of a matched token's vectors, or of a head. None for another address.

    Raises AddressError where it names nothing that both passes have.
    """
    if where.name != ACROSS:
        return None
    of = Address(where.path.rpartition(".")[0], where.index)
    for trace in (one, other):
        if of.path not in trace:
            raise AddressError(f"Not both passes have {of.path}, so it cannot be compared.")
    if one.dims(of.whole) == (TOKEN.name, HIDDEN.name) and set(of.at) == {TOKEN.name}:
        return _work_out_cosine(one, other, pairs, of)
    if of.leaf == ATTENTION_WEIGHTS.path and set(of.at) == {HEAD.name}:
        return _work_out_head(one, other, pairs, of)
    raise AddressError(f"{where} names no matched token, as [{TOKEN.name}=0] does, and no head, as [{HEAD.name}=0].")


def _work_out_cosine(one: Trace, other: Trace, pairs: Pairs, of: Address) -> WorkedOut:
    token = of.at[TOKEN.name]
    there = dict(pairs).get(token)
    if there is None or of not in one:
        raise AddressError(f"Token {token} is matched with none of the second pass.")
    kind = one.step(of).kind
    x = rf"{{\htmlClass{{bv-of-{kind}}}{{x}}}}"
    first = Compared(FIRST, one[of], f"{x}_{{{token}}}", lambda i: of.fix(hidden=i))
    second = Compared(SECOND, other[of.fix(token=there)], rf"{x}'_{{{there}}}")
    said = _tell_angle(one, other, pairs, of)
    named = "both passes" if one.tokens[token] != other.tokens[there] else f"“{one.tokens[token]}” in both passes"
    return compare(f"Cosine of {named}", kind, said, first, second, _NOTE)


def _tell_angle(one: Trace, other: Trace, pairs: Pairs, of: Address) -> Said:
    """How far apart a token's two vectors are, and how many matched tokens are farther apart."""
    place = list_sides(pairs)[0].index(of.at[TOKEN.name])
    angles = measure_angles(one, other, pairs, [of.whole])[1][0]
    names = name_token(one.tokens, pairs[place][0]), name_token(other.tokens, pairs[place][1])
    both = f"The two {names[0]}" if names[0] == names[1] else f"{names[0]}, and in the second pass {names[1]},"
    farther = int((angles > angles[place]).sum())
    parts = {
        "angle": Part(float(angles[place]), format_degrees),
        "both": Part(both),
        "place": Part(tell_place(of.whole)),
        "count": Part(farther, lambda n: str(n) if n else "none"),
        "all": card.count(len(pairs), "matched token"),
        "are": Part("is" if farther <= 1 else "are"),
    }
    form = "{both} stand **{angle}** apart {place}; {count} of {all} {are} farther apart."
    return say(Claim("apart across", form, parts))


def _work_out_head(one: Trace, other: Trace, pairs: Pairs, of: Address) -> WorkedOut:
    head = of.at[HEAD.name]
    if of not in one or of not in other:
        raise AddressError(f"Not both passes have a head {head} in layer {of.layer}.")
    if not pairs:
        raise AddressError("No token of the two passes is matched, so no maps are compared. Match tokens by hand.")
    maps = read_folded(one, other, pairs, of)
    moved = np.abs(maps[0] - maps[1]).sum(axis=-1) / 2
    number = float(moved.mean())
    names = [card.name_place(one, TOKEN.name, here) for here, _ in pairs]
    return WorkedOut(
        f"Difference of head {head}, layer {of.layer}",
        ATTENTION,
        parts=[(name, format_number(float(x)), "") for name, x in zip(names, moved, strict=True)],
        number=number,
        unit=format_percent(number),
        card=Card(_tell_head(one, pairs, of, moved), _list_moved(one, other, pairs, maps, moved), "", _HEAD_NOTE),
        line=_write_difference(moved),
    )


def _tell_head(one: Trace, pairs: Pairs, of: Address, moved: np.ndarray) -> Said:
    most = int(moved.argmax())
    parts = {
        "share": Part(float(moved[most]), format_percent),
        "mean": Part(float(moved.mean()), format_percent),
        "head": Part(of.at[HEAD.name]),
        "layer": Part(of.layer),
        "all": card.count(len(pairs), "matched token"),
        "token": Part(name_token(one.tokens, pairs[most][0])),
    }
    form = (
        "From the first pass to the second, head {head} of layer {layer} moves **{mean}** of its attention, on average "
        "over {all}; "
    )
    if not moved.any():
        return say(Claim("no head moves", f"{form}that is none at all.", parts, Relation.NONE, moved))
    return say_largest(
        ("head moves most", f"{form}most at {{token}}, {{share}}."),
        ("head moves no more", f"{form}at no token more than at {{token}}, {{share}}."),
        parts,
        moved,
        (most,),
    )


def _list_moved(one: Trace, other: Trace, pairs: Pairs, maps: list[np.ndarray], moved: np.ndarray) -> Table:
    """What each matched token looked at most in either pass, and how much of its attention went elsewhere."""
    order = rank_top(moved, card.ROWS)
    here, there = list_sides(pairs)
    rows = [
        Row(
            (
                Cell(card.name_place(one, TOKEN.name, here[i]), look=WORD),
                Cell(_name_most(one, here, maps[0][i]), look=WORD),
                Cell(_name_most(other, there, maps[1][i]), look=WORD),
                card.write_share(float(moved[i])),
            ),
            float(moved[i]),
        )
        for i in order
    ]
    left = len(pairs) - len(order)
    ends = [Row((Cell(write_count(left, "other")), Cell(""), Cell(""), Cell("")), quiet=True)] if left else []
    return Table(
        f"Mean of {write_count(len(pairs), 'token')}, largest first", ("token", "most on", "then", "moved"), rows, ends
    )


def _name_most(trace: Trace, matched: list[int], row: np.ndarray) -> str:
    """The key with the largest weight of a row, the unmatched ones as one, and that weight."""
    most = int(row.argmax())
    name = card.name_place(trace, TOKEN.name, matched[most]) if most < len(matched) else _REST
    return f"{name} {format_percent(float(row[most]))}"


def _write_difference(moved: np.ndarray) -> Line:
    weight = rf"\htmlClass{{bv-of-{ATTENTION}}}{{A}}"
    mean = rf"\dfrac{{1}}{{{len(moved)}}} \sum_i"
    terms = [format_latex(float(moved[i])) for i in rank_top(moved, 2)]
    more = [r"\dots"] if len(moved) > len(terms) else []
    return Line(
        rf"\htmlClass{{bv-of-{ATTENTION}}}{{D}}",
        rf"{mean} \; \tfrac{{1}}{{2}} \sum_j \; |{{{weight}}}_{{i,j}} - {{{weight}}}'_{{i,j}}|",
        rf"\dfrac{{1}}{{{len(moved)}}} \; ({' + '.join([*terms, *more])})",
    )
