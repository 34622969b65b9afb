"""What hiding and gradients say of a token of a number: what the drawer tells of each.

Their addresses are like those of `worked_parts`: `cls.predictions.decoder.fall[token=8,vocab=7,source=3]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bertviz_core.analysis.attribution import Question, find_shares, list_unhidden, read_measure, read_measure_hidden
from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.gradients import Gradients, find_words
from bertviz_core.analysis.methods import MOST_TOKENS, Methods
from bertviz_core.analysis.targets import name_target
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from bertviz_core.formula.steps import EMBEDDING, PREDICTION
from bertviz_core.formula.tex import bracket_negative, write_largest
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import take_turn
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.origin import ask_hidden, ask_methods, find_origins_of
from bertviz_core.ui.walk.pictures import Piece, draw_terms, draw_waterfall
from bertviz_core.ui.walk.worked_number import UnfinishedError, WorkedOut
from bertviz_core.ui.walk.worked_parts import (
    HIDDEN,
    SOURCE,
    Place,
    find_part,
    name_whole,
    read_place,
    write_measure,
)

FALL, INTEGRATED = "fall", "integrated"  # the last part of their addresses


def _tell_state(trace: Trace, token: int) -> str:
    """Why a token cannot be hidden."""
    tokenizer, own = trace.model.tokenizer, trace.encoding.ids[token]
    names = {tokenizer.mask_id: tokenizer.name(own), tokenizer.pad_id: "padding"}
    return names.get(own, "masked out")


def _work_out_fall(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, SOURCE)
    question, name = place.question, name_token(trace.tokens, place.source)
    if place.source not in list_unhidden(trace):
        raise AddressError(f"{name} cannot be hidden: it is {_tell_state(trace, place.source)} already.")
    now, then = read_measure(trace, question), _measure_hidden(trace, place)
    number = now - then
    shares = None if question.against else find_shares(trace, question.target)
    measure = name_whole(trace, question)
    if shares is not None:
        measure = f"the logarithm of the probability of {name_target(trace, question.target)}"
    parts = {
        "fall": Part(abs(number), format_short),
        "way": Part("rise" if number < 0 else "fall"),
        "now": Part(now, format_short),
        "then": Part(then, format_short),
        "name": Part(name),
        "measure": Part(measure[0].upper() + measure[1:]),
    }
    form = "{measure} is {now} as the text stands, {then} with [MASK] in place of {name}: a {way} of **{fall}**."
    symbol = "D" if question.against else r"\log P" if shares is not None else "x"
    return WorkedOut(
        f"Fall with {name} hidden",
        PREDICTION,
        parts=[("as it is", format_number(now), ""), (f"with {name} hidden", format_number(then), "")],
        number=number,
        card=Card(
            say(Claim("fall with a token hidden", form, parts)),
            _list_measures(trace, place, shares, (now, then)),
            draw_waterfall([Piece("as it is", now), Piece("less hidden", -then)], Piece("fall", number)),
            "from a second pass, in which one id is that of [MASK]; such numbers do not add up",
        ),
        line=Line(
            rf"\Delta_{{{place.source}}}",
            rf"{symbol} - {symbol}_{{\setminus {place.source}}}",
            f"{format_latex(now)} - {bracket_negative(format_latex(then))}",
        ),
    )


def _measure_hidden(trace: Trace, place: Place) -> float:
    """What hiding is measured by, with the token hidden: as the page found it, or by a pass of its own."""
    asked = ask_hidden(trace, place.question, find_origins_of(trace, place.question).parts.parts)
    known = asked.recall() if asked else None
    if known is not None and place.source in (known.value or {}):
        return (known.value or {})[place.source]
    try:
        with take_turn():
            return read_measure_hidden(trace, place.question, place.source)
    except InputError as error:
        raise AddressError(str(error)) from error


def _list_measures(trace: Trace, place: Place, shares: Address | None, both: tuple[float, float]) -> Table:
    """Both passes' numbers; of a probability, itself and its logarithm."""
    question = place.question
    names = ("as it is", f"with {name_token(trace.tokens, place.source)} hidden")
    cells = (shares or question.target, find_part(question, HIDDEN, source=place.source))
    rows = [
        Row(
            (
                Cell(name, cell),
                *([Cell(write_measure(trace, question, value).text)] if shares is not None else []),
                card.write_cell(value),
            ),
            value,
        )
        for name, cell, value in zip(names, cells, both, strict=True)
    ]
    columns = ("", "probability", "logarithm") if shares is not None else ("", "number")
    return Table("Both passes, one less the other", columns, rows)


def _work_out_integrated(view: View, of: Address) -> WorkedOut:
    trace, place = view.trace, read_place(view.trace, of, SOURCE)
    found, j = _find_gradients(trace, place.question), place.source
    terms = found.moved[j] * found.slopes[j]
    number, start = float(terms.sum()), Address(find_words(trace).address).fix(token=j)
    name = name_token(trace.tokens, j)
    parts = {
        "part": Part(number, format_short),
        "all": Part(found.difference, format_short),
        "name": Part(name),
        "number": Part(name_whole(trace, place.question)),
    }
    form = (
        "From a text of nothing but [MASK] to this one, {number} changes by {all}. On the straight way there, what "
        "changes at {name} adds **{part}**."
    )
    return WorkedOut(
        f"Integrated gradient of {name}",
        EMBEDDING,
        parts=[(f"component {i}", format_number(float(x)), str(start.fix(hidden=i))) for i, x in enumerate(terms)],
        number=number,
        card=Card(
            say(Claim("integrated gradient of a token", form, parts)),
            card.list_products(
                start,
                lambda i: card.write_cell(float(found.moved[j][i])),
                found.slopes[j],
                terms,
                ("moved", "gradient"),
            ),
            draw_terms(terms, None),
            f"m: the word embedding of [MASK]; s: mean of the gradient at {found.steps} points of the way",
        ),
        line=Line(
            f"g_{{{j}}}",
            rf"\sum_h \; (x_{{{j},h}} - m_h) \; \bar{{s}}_{{{j},h}}",
            write_largest(found.moved[j].tolist(), found.slopes[j].tolist()),
        ),
    )


def _find_gradients(trace: Trace, question: Question) -> Gradients:
    """The integrated gradients that the page works out. Raises AddressError where it does not, or not yet."""
    asked = ask_methods(trace, question)
    if asked is None:
        raise AddressError(f"Integrated gradients are worked out of texts up to {MOST_TOKENS} tokens.")
    found = asked.look()
    known = found.value or Methods()
    if known.gradients is None:
        if found.over:
            raise AddressError(known.refused or found.error or "The rest would take this server too long.")
        raise UnfinishedError(f"Integrated gradients are being worked out: {found.done:.0%} …")
    if not known.complete:
        gap = format_percent(known.gap)
        raise AddressError(f"The sum of these gradients is off by {gap} of what it explains, so none is shown.")
    return known.gradients


METHODS: Mapping[str, Callable[[View, Address], WorkedOut]] = {FALL: _work_out_fall, INTEGRATED: _work_out_integrated}
