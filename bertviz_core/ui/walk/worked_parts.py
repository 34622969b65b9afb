"""The parts of a number by tokens, and the number with a token hidden: what the drawer tells of each.

Their addresses are that of the number with what they are behind its path: `cls.predictions.decoder.part[token=8,
vocab=7,source=3]`; against: another cell of the same row, whose number is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.attribution import Attribution, Question, find_shares, read_measure, read_measure_hidden
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.hiding import read_hidden, read_hidden_row
from bertviz_core.analysis.naming import find_noun
from bertviz_core.analysis.origins import Origins
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.analysis.targets import find_reader, name_target
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short, read_alike
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.tex import bracket_negative, write_largest
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import take_turn
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.origin import (
    ask_hidden,
    count_parts,
    find_origins_of,
    list_hidden,
    read_counted,
    sum_up,
    tell_rest,
)
from bertviz_core.ui.walk.pictures import Piece, draw_terms, draw_waterfall
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut

PART, BIASES, SUM, HIDDEN = "part", "biases", "parts", "hidden"  # the last part of their addresses
SOURCE, AGAINST = "source", "against"  # the token that it came from; the cell whose number is taken off
_HELD = "attention weights, deviations and slopes of activations are held as the pass has them"
_PIECES, _WORDS = 6, 6  # of a waterfall beside the others; words of both passes
_ROWS = card.ROWS - 2


@dataclass(frozen=True)
class Place:
    """Which part of which number: the question, and what else its address says."""

    question: Question
    rest: Mapping[str, int]

    @property
    def source(self) -> int:
        return self.rest[SOURCE]


def find_part(question: Question, leaf: str, **at: int) -> Address:
    """The address of such a number."""
    target, against = question.target, question.against
    other = {} if against is None else {AGAINST: against.index[-1][1]}
    return Address(f"{target.path}.{leaf}", target.index).fix(**other, **at)


def read_place(trace: Trace, of: Address, *axes: str) -> Place:
    """What an address asks for. axes: that it must say besides. Raises AddressError where it does not."""
    at = of.at
    if missing := [axis for axis in axes if axis not in at]:
        raise AddressError(f"{of} is no part: it does not say which {missing[0]}, as in [{missing[0]}=0].")
    target = of.without(AGAINST, *axes)
    trace.layout.one_cell(target)
    against = target.fix(**{target.index[-1][0]: at[AGAINST]}) if AGAINST in at else None
    if against is not None:
        trace.layout.one_cell(against)
    if SOURCE in axes and at[SOURCE] >= len(trace.tokens):
        raise AddressError(f"There is no token {at[SOURCE]} in this input, only 0 to {len(trace.tokens) - 1}.")
    return Place(Question(target, against), {axis: at[axis] for axis in axes})


def take_apart(trace: Trace, question: Question) -> Origins:
    """The number taken apart. Raises AddressError where that cannot be."""
    try:
        return find_origins_of(trace, question)
    except InputError as error:
        raise AddressError(str(error)) from error


def name_whole(trace: Trace, question: Question) -> str:
    """The number that is taken apart, inside a sentence: `the logit of “people”`, `the lead of “people” over “men”`."""
    name = name_target(trace, question.target)
    if question.against is not None:
        return f"the lead of {name} over {name_target(trace, question.against)}"
    return name if "hidden" in question.target.at else f"the logit of {name}"


def _work_out_part(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, SOURCE)
    found, j = take_apart(trace, place.question), place.source
    terms = found.starts[j] * found.slopes[j]
    number, start = float(terms.sum()), Address(trace.program.start).fix(token=j)
    name = name_token(trace.tokens, j)
    parts = found.parts.parts
    asked = ask_hidden(trace, place.question, parts) if j in list_hidden(trace, parts) else None
    known = asked.recall() if asked else None
    hidden = _tell_hidden(trace, place, known) if asked else say()
    return WorkedOut(
        f"Part of {name}",
        PREDICTION,
        parts=[(f"component {i}", format_number(float(x)), str(start.fix(hidden=i))) for i, x in enumerate(terms)],
        number=number,
        card=Card(
            say(_tell_part(trace, place.question, found.parts, j), hidden),
            card.list_products(
                start,
                lambda i: card.number(trace, start.fix(hidden=i)),
                found.slopes[j],
                terms,
                ("starts as", "counts"),
            ),
            draw_terms(terms, None),
            f"x: what {name} starts as; s: how much of it arrives: {_HELD}",
        ),
        line=Line(
            f"c_{{{find_reader(place.question.target)}\\leftarrow {j}}}",
            rf"\sum_h \; x_{{{j},h}} \; s_{{{j},h}}",
            write_largest(found.starts[j].tolist(), found.slopes[j].tolist()),
        ),
        awaits=None if known else asked,
    )


def write_terms(terms: np.ndarray) -> str:
    """The two largest terms, and dots."""
    first, *others = [format_latex(float(terms[i])) for i in rank_top(np.abs(terms), 2)]
    return " + ".join([first, *map(bracket_negative, others), *([r"\dots"] if len(terms) > 2 else [])])


def _tell_part(trace: Trace, question: Question, parts: Attribution, j: int) -> Said:
    """How much a token carried, and of what; that it is the most towards it, where it is."""
    whole, (tokens, counted) = sum_up(parts), read_counted(trace, parts)
    told = {
        "part": Part(float(parts.parts[j]), format_short),
        "whole": Part(whole, format_short),
        "count": card.count(len(tokens), "token"),
        "name": Part(name_token(trace.tokens, j)),
        "number": Part(name_whole(trace, question)),
    }
    form = "Of {number}, {whole}, what started as {name} carried **{part}**"
    some = Claim("part of a token", f"{form}.", told)
    if j not in tokens or parts.parts[j] * whole <= 0:
        return say(some)
    most = Relation.LARGEST if whole > 0 else Relation.SMALLEST
    at = (tokens.index(j),)
    return choose(Claim("largest part of a token", f"{form}, the most of {{count}}.", told, most, counted, at), some)


def _tell_hidden(trace: Trace, place: Place, known: Found[Mapping[int, float]] | None) -> Said:
    """What becomes of the number with the token hidden; "…" as long as that is not known."""
    subject = _name_subject(trace, place.question)
    if known is None:  # its line is kept free
        now = write_measure(trace, place.question, read_measure(trace, place.question))
        return say(f" Hidden instead, it takes {subject} from {now.text} to …")
    if place.source not in (known.value or {}):
        return say()
    to = (known.value or {})[place.source]
    now, then = (write_measure(trace, place.question, each) for each in (read_measure(trace, place.question), to))
    parts = {"now": now, "then": then, "subject": Part(subject)}
    if read_alike((now.text, then.text)):
        return say(Claim("part, and hidden alike", " Hidden instead, it leaves {subject} near {now}.", parts))
    return say(Claim("part, and hidden", " Hidden instead, it takes {subject} from {now} to {then}.", parts))


def _name_subject(trace: Trace, question: Question) -> str:
    return "the lead" if question.against else name_target(trace, question.target)


def write_measure(trace: Trace, question: Question, measure: float) -> Part:
    """What hiding is measured by, as it is written: a share of its softmax, where it has one; else the number."""
    if question.against is None and find_shares(trace, question.target) is not None:
        return Part(float(np.exp(measure)), format_percent)
    return Part(measure, format_short)


def _work_out_biases(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of)
    found = take_apart(trace, place.question)
    names = [*map(_name_step, found.own), *(f"{_name_step(address)}, changed" for address in found.put)]
    amounts = np.array([*found.own.values(), *found.put.values()])
    parts = {
        "part": Part(found.parts.biases, format_short),
        "number": Part(name_whole(trace, place.question)),
        "count": card.count(len(found.own), "step"),
    }
    form = "Of {number}, **{part}** came from no token: biases of {count} and what became of them on their way" + (
        ", and numbers that changes put there." if found.put else "."
    )
    return WorkedOut(
        "Part of the biases and changes" if found.put else "Part of the biases",
        PREDICTION,
        parts=[(name, format_number(float(x)), "") for name, x in zip(names, amounts, strict=True)],
        number=found.parts.biases,
        card=_explain_sum(
            say(Claim("part of biases", form, parts)),
            names,
            amounts,
            "amount" if found.put else "step",
            found.parts.biases,
        ),
        line=Line(r"c_{b}", r"\sum_k \; c_{b,k}", write_terms(amounts)),
    )


def _explain_sum(said: Said, names: list[str], amounts: np.ndarray, what: str, number: float) -> Card:
    """A sum of amounts that have names and no addresses."""
    order = rank_top(np.abs(amounts), _ROWS)
    rows = [Row((Cell(names[i]), card.write_cell(float(amounts[i]))), float(amounts[i])) for i in order]
    heading = f"Made from {write_count(len(names), what)}, largest first"
    pieces = [Piece(names[i], float(amounts[i])) for i in order[:_PIECES]]
    if len(names) > len(pieces):
        rest = float(amounts.sum()) - sum(piece.amount for piece in pieces)
        pieces.append(Piece(write_count(len(names) - len(pieces), "other"), rest))
    picture = draw_waterfall(pieces, Piece("sum", number))
    return Card(said, Table(heading, (what, "part"), rows, card.close_sum(amounts, order, 2)), picture, NOTE)


def _name_step(address: str) -> str:
    """A step in a word or two, with its layer."""
    where = Address(address)
    layer = "" if where.layer is None else f"layer {where.layer}, "
    return f"{layer}{find_noun(address).word}"


def _work_out_sum(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of)
    found = take_apart(trace, place.question).parts
    names = [card.name_place(trace, TOKEN.name, j) for j in range(len(found.parts))]
    number, recorded = sum_up(found), place.question.read(trace)
    cells = [find_part(place.question, PART, source=j) for j in range(len(names))]
    parts = {
        "count": card.count(count_parts(trace, found.parts), "part"),
        "sum": Part(number, format_number),
        "recorded": Part(recorded, format_number),
        "gap": Part(abs(number - recorded), format_short),
        "number": Part(name_whole(trace, place.question)),
    }
    form = f"{{count}} and {tell_rest(found)} are **{{sum}}**; {{number}} is {{recorded}}. "
    form += "The difference, {gap}, is rounding."
    order = rank_top(np.abs(found.parts), len(names) if len(names) <= card.ROWS else _ROWS)
    ends = [*card.close_sum(found.parts, order, 2), Row((Cell(found.rest, find_part(place.question, BIASES)),
            card.write_cell(found.biases)))]  # fmt: skip
    pieces = [Piece(names[i], float(found.parts[i])) for i in order[:_PIECES]]
    others = number - found.biases - sum(piece.amount for piece in pieces)
    pieces += [Piece(write_count(len(names) - len(pieces), "other"), others)] if len(names) > len(pieces) else []
    return WorkedOut(
        "All parts together",
        PREDICTION,
        parts=[(n, format_number(float(x)), str(c)) for n, x, c in zip(names, found.parts, cells, strict=True)],
        number=number,
        card=Card(
            say(Claim("sum of parts", form, parts)),
            Table(
                f"Made from {write_count(len(names), 'token')} and {tell_rest(found)}",
                ("token", "part"),
                [Row((Cell(names[i], cells[i]), card.write_cell(float(found.parts[i]))), float(found.parts[i]))
                 for i in order],
                ends,
            ),
            draw_waterfall([*pieces, Piece(found.rest, found.biases)], Piece("sum", number)),
            _HELD,
        ),
        line=Line("L", r"\sum_j \; c_j + c_b", write_terms(np.array([*found.parts, found.biases]))),
    )  # fmt: skip


def _work_out_hidden(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, SOURCE)
    question, name = place.question, name_token(view.trace.tokens, place.source)
    try:
        with take_turn():
            measures = read_measure(trace, question), read_measure_hidden(trace, question, place.source)
            now, then = (write_measure(trace, question, measure) for measure in measures)
            table, line = _list_both(trace, place), _write_hidden(trace, place)
    except InputError as error:
        raise AddressError(str(error)) from error
    parts = {"then": then, "now": now, "name": Part(name), "subject": Part(_name_subject(trace, question))}
    form = "With [MASK] in place of {name}, {subject} is left with **{then}**; as it stands it has {now}."
    return WorkedOut(
        f"With {name} hidden",
        PREDICTION,
        parts=[("as it is", now.text, ""), (f"with {name} hidden", then.text, "")],
        number=then.value,
        value=then.text,
        card=Card(
            say(Claim("number with a token hidden", form, parts)),
            table,
            note="from a second pass, in which one id is that of [MASK]; such numbers do not add up",
        ),
        line=line,
    )


def _write_hidden(trace: Trace, place: Place) -> Line:
    question, j = place.question, place.source
    symbol = "D" if question.against else "P" if find_shares(trace, question.target) else "x"
    left = rf"{symbol}_{{\setminus {j}}}"
    logits = [format_latex(float(number)) for number in read_hidden(trace, [*question.weights], j)]
    if question.against is not None:
        return Line(left, r"L'_a - L'_b", f"{logits[0]} - {bracket_negative(logits[1])}")
    if symbol == "P":
        return Line(left, r"e^{L'} / \sum_v e^{L'_v}", rf"e^{{{logits[0]}}} / \dots")
    return Line(left, "x'", logits[0])


def _list_both(trace: Trace, place: Place) -> Table | None:
    """The same row of both passes: its first entries before and after; of a lead, both numbers."""
    question, shares = place.question, find_shares(trace, place.question.target)
    if question.against is not None or shares is None:
        cells = [*question.weights]
        hidden, write = read_hidden(trace, cells, place.source), format_number
    else:
        axis = shares.index[-1][0]
        row = shares.without(axis)
        there = read_hidden_row(trace, row, place.source)
        entries = [*dict.fromkeys([*rank_top(trace[row], _WORDS), *rank_top(there, _WORDS), shares.at[axis]])]
        cells = [row.fix(**{axis: i}) for i in entries]
        hidden, write = there[entries], format_percent
    numbers = [(float(trace.recomputed(cell)), float(then)) for cell, then in zip(cells, hidden, strict=True)]
    rows = [
        Row((Cell(name_target(trace, cell).strip("“”"), cell), Cell(write(now), cell), Cell(write(then))), own=cell in
            (question.target, shares))
        for cell, (now, then) in zip(cells, numbers, strict=True)
    ]  # fmt: skip
    return Table("Both passes", ("", "as it is", "hidden"), rows)


PARTS: Mapping[str, Callable[[View, Address], WorkedOut]] = {
    PART: _work_out_part,
    BIASES: _work_out_biases,
    SUM: _work_out_sum,
    HIDDEN: _work_out_hidden,
}
