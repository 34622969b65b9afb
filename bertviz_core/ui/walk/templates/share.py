"""A share of a whole: attention weights, probabilities. All shares end to end; the scores that they are made from."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.heads import are_shares
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.naming import name_number, tell_where
from bertviz_core.analysis.parts import Parts
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import KEY, RELATION, TOKEN_AXES, VOCAB
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_percent, format_short, write_factor
from bertviz_core.formula.short import write_letter
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.pictures import Share, draw_shares

_WHAT = {KEY.name: "key", VOCAB.name: "word"}


def explain_share(view: View, why: Explanation, found: Parts) -> Card:
    """A cell of a softmax."""
    (block,) = found.groups[0].blocks
    powers, shares = found.columns
    axis = next(axis for axis, places in block.sides if len(places) > 1 or axis == block.sides[-1][0])
    own = why.cell.at[axis]
    shown = choose_shown(shares, own)
    rest = len(shares) - len(shown)
    top = format_short(float(np.max(why.sources[0].values)))
    less = f"+ {top[1:]}" if top.startswith("\N{MINUS SIGN}") else f"− {top}"
    rows = [
        Row(
            (
                Cell(card.name_place(view.trace, axis, i)),
                card.number(view.trace, block[i]),
                card.write_cell(float(powers[i])),
                card.write_share(float(shares[i])),
            ),
            float(shares[i]),
            own=i == own,
        )
        for i in shown
    ]
    ends = [_sum_up(powers, shares, shown, rest)] if rest else []
    columns = (_WHAT.get(axis, ""), "score", f"e^({_write_score(why)} {less})", "share")
    table = Table(f"Made from {len(shares):,} scores, largest first", columns, rows, ends)
    note = f"the largest score, {top}, is taken off all; no share differs"
    if is_put(view.trace, why.cell.without(axis)):
        note += "; a change puts other numbers beside this one than these shares"
    return Card(tell_share(view.trace, why, shares, axis), table, _draw(view.trace, axis, shares, shown, own), note)


def _write_score(why: Explanation) -> str:
    """The letter that a score has in the formula; the word where it is several symbols' there."""
    leaves = why.step.leaves if why.step else ()
    return write_letter(leaves[0]) if len(leaves) == 1 else "score"


def choose_shown(shares: np.ndarray, own: int) -> list[int]:
    """The places of the shares that are listed: all of a few; else the largest, and the own one in any case."""
    best = rank_top(shares, card.ROWS if len(shares) <= card.ROWS else card.ROWS - 2)
    return best if own in best else [*best[:-1], own]


def _sum_up(powers: np.ndarray, shares: np.ndarray, shown: list[int], rest: int) -> Row:
    left = [float(np.delete(each, shown).sum()) for each in (powers, shares)]
    numbers = (card.write_cell(left[0]), card.write_share(left[1]))
    return Row((Cell(write_count(rest, "other")), Cell(""), *numbers), quiet=True)


def _draw(trace: Trace, axis: str, shares: np.ndarray, shown: list[int], own: int) -> str:
    parts = [Share(card.name_place(trace, axis, i), float(shares[i]), i == own) for i in shown]
    left = np.delete(shares, shown)
    others = [Share(write_count(len(left), "other"), float(left.sum()), rest=True)] if len(left) else []
    return draw_shares([*parts, *others])


def tell_share(trace: Trace, why: Explanation, shares: np.ndarray, axis: str) -> Said:
    """Who gives how much to whom, and how that compares with the others."""
    own, row = why.cell.at[axis], why.cell.without(axis)
    put = is_put(trace, row)
    shares = trace[row].astype(np.float64) if put else shares.copy()
    if not why.value:
        shares[own] = 0.0  # what is nearer to 0 than the pass can write
    share = Part(float(shares[own]), format_percent)
    begin = Claim("share", _begin(trace, why.cell, axis, bool(are_shares(shares))), {"share": share})
    if len(shares) < 2:
        return say(begin, ": there is no other.")
    best, second = rank_top(shares, 2)
    next_ = second if best == own else best
    other = Part(float(shares[next_]), format_percent)
    times = Part(float(shares[own] / shares[next_]) if shares[next_] else np.inf, lambda x: f"{write_factor(x)} times")
    parts = {"own": share, "other": other, "name": Part(_name_other(trace, axis, next_)), "times": times}
    below = {"other": other, "own": share, "name": parts["name"]}
    alone = Claim("share alone", ": all of it.", {"own": share}, Relation.ONLY, shares, (own,))
    return say(
        begin,
        choose(
            *(() if put else (alone,)),
            Claim("share leads", ", {times} as much as {name}.", parts, Relation.LARGEST, shares, (own,)),
            Claim(
                "share is not the largest",
                ". The largest is {name}, {other}.",
                below,
                Relation.LARGEST,
                shares,
                (next_,),
            ),
            Claim("share is below another", ". None is larger than {name}, {other}.", below, Relation.ABOVE),
            Claim("share beside another", ". Beside it: {name}, {other}.", parts),
        ),
    )


def _begin(trace: Trace, cell: Address, axis: str, of_all: bool) -> str:
    """The beginning of the sentence, up to the share itself. of_all: whether it is one, of what makes 1 together."""
    tokens, at = trace.tokens, cell.at
    if axis == KEY.name:
        weight = "**{share}** of its attention" if of_all else "the weight **{share}**"
        asks, offers = (_escape(name_token(tokens, at[each])) for each in ("query", "key"))
        return f"In head {at['head']} of layer {cell.layer}, {asks} gives {weight} to {offers}"
    if axis == VOCAB.name:
        word = trace.model.tokenizer.name(at["vocab"])
        return _escape(f"At {name_token(tokens, at['token'])}, “{word}” gets ") + "**{share}** of the probability"
    if axis == RELATION.name:
        return _escape(f"“{RELATIONS[at[axis]]}” gets ") + "**{share}** of the probability"
    return _escape(f"{tell_where(trace, cell)}{name_number(trace, cell)}") + ", **{share}**"


def _name_other(trace: Trace, axis: str, i: int) -> str:
    if axis == KEY.name:
        return f"to {name_token(trace.tokens, i)}"
    if axis in TOKEN_AXES:
        return name_token(trace.tokens, i)
    if axis == RELATION.name:
        return f"“{RELATIONS[i]}”"
    return f"“{card.name_place(trace, axis, i)}”"


def _escape(text: str) -> str:
    """Text that stands in a form, where braces name parts."""
    return text.replace("{", "{{").replace("}", "}}")
