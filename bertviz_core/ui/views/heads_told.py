"""The page's own number: what the chosen head is worth to an answer, worked out for the drawer from two passes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bertviz_core.analysis.ablation import cut_place, find_outcomes, list_worked, read_cells, run_without_head
from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import PROBS, SCORES
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short, write_fixed
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.told import Told, offer_number, offer_teller
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.worth import find_base
from bertviz_core.ui.walk.card import Card, Cell, Row, Table, write_cell
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.pictures import Piece, draw_waterfall
from bertviz_core.ui.walk.worked_number import WorkedOut

_PATH = "heads.worth"
_NOTE = "worked out from two passes, not one of their steps"


def offer(view: View, which: int) -> None:
    """Let the drawer tell of these numbers, and open with that of the head that is looked at. which: of the answers."""
    offer_teller(partial(tell, view))
    at = view.chosen
    offer_number(Address(_PATH).fix(layer=at.layer, head=at.head, token=at.token, answer=which))


def tell(view: View, where: Address) -> Told | None:
    """What is told of such an address; None for another. Raises AddressError where it names nothing."""
    if where.path != _PATH:
        return None
    base, at = find_base(view), where.at
    config, tokens = base.model.config, range(len(base.tokens))
    outcomes = find_outcomes(base, at["token"]) if at.get("token", -1) in tokens else {}
    within = {"layer": config.num_hidden_layers, "head": config.num_attention_heads, "answer": len(outcomes)}
    if not all(at.get(axis, -1) in range(size) for axis, size in within.items()):
        raise AddressError(f"{where} names no layer, head, token and answer: a token has {len(outcomes)} answers.")
    name, cell = list(outcomes.items())[at["answer"]]
    place, cells = (at["layer"], at["head"]), list_worked(base, at["token"])
    both = read_cells(base, cells), run_without_head(base, cells, *place)
    own = () if is_put(base, cell) else _list_made(base, cells)
    measured = [_measure(cell, dict(zip(cells, map(float, values), strict=True)), own) for values in both]
    return _work_out(base, name, cell, place, measured)


@dataclass(frozen=True)
class _Measured:
    """Of one pass: the probability; the entries that are listed, their scores, and what its softmax divides by, as a
    power of e: nothing of these where the answer is no word."""

    share: float
    entries: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    power: float = 0.0


def _list_made(base: Trace, cells: Sequence[Address]) -> list[int]:
    """The entries whose scores are among the cells, and whose probabilities the softmax gives, and no change."""
    scores = (where for where in cells if where.path == SCORES.path)
    return [where.at["vocab"] for where in scores if not is_put(base, PROBS.fix(**where.at))]


def _measure(cell: Address, known: Mapping[Address, float], own: Collection[int]) -> _Measured:
    """known: the cells in one pass; own: the entries of which the likeliest tells what the softmax divides by; none
    where the probability is not made from scores."""
    share = known[cell]
    words = {at["vocab"]: each for at, each in _list_at(known, PROBS) if at["vocab"] in own}
    if cell.path != PROBS.path or not (most := max(words.values(), default=0.0)):
        return _Measured(share)
    scores = {at["vocab"]: score for at, score in _list_at(known, SCORES)}
    likeliest = max(words, key=words.__getitem__)
    return _Measured(share, tuple(scores), tuple(scores.values()), scores[likeliest] - math.log(most))


def _list_at(known: Mapping[Address, float], tensor: Address) -> Iterator[tuple[Mapping[str, int], float]]:
    """Where the cells of a tensor stand, and their numbers."""
    return ((where.at, value) for where, value in known.items() if where.path == tensor.path)


def _work_out(
    base: Trace, name: str, cell: Address, place: tuple[int, int], measured: Sequence[_Measured]
) -> WorkedOut:
    """What a probability loses without a head. measured: with it, and with all its weights at 0."""
    layer, head = place
    shares = [one.share for one in measured]
    number = shares[0] - shares[1]
    form = "With the head {answer} has **{with}**; without it, all its attention weights at 0, {without}. "
    form += _tell_sign(number)
    parts = {
        "answer": Part(cut_place(name)),
        "with": Part(shares[0], format_percent),
        "without": Part(shares[1], format_percent),
    }
    pieces = [Piece("with the head", shares[0]), Piece("less without it", -shares[1])]
    return WorkedOut(
        f"Worth of layer {layer}, head {head}",
        ATTENTION,
        parts=[("with the head", format_number(shares[0]), str(cell)), ("without it", format_number(shares[1]), "")],
        number=number,
        unit=f"{_write_points(100 * number)} points",
        card=Card(
            say(Claim("worth of a head", form, parts)),
            _list_scores(base, cell, measured),
            draw_waterfall(pieces, Piece("worth", number)),
            _NOTE,
        ),
        line=Line(
            f"w_{{{layer},{head}}}",
            r"P - P_{A = 0}",
            f"{format_latex(shares[0])} - {format_latex(shares[1])}",
        ),
    )


def _write_points(worth: float) -> str:
    """With one decimal, unless nothing but zeros were left of it."""
    text = write_fixed(worth, 1)
    return text if float(text.replace("\N{MINUS SIGN}", "-")) or not worth else format_short(worth)


def _tell_sign(worth: float) -> str:
    if not worth:
        return "At 0: the answer stays."
    return "Above 0: the answer needs it." if worth > 0 else "Below 0: it is in its way."


def _list_scores(base: Trace, cell: Address, measured: Sequence[_Measured]) -> Table | None:
    """The scores of the likeliest entries in both passes, and what both softmaxes divide by; None of another answer."""
    one, other = measured
    if not one.entries or not other.entries:
        return None
    row = SCORES.fix(token=cell.at["token"])
    entries = zip(one.entries, one.scores, other.scores, strict=True)
    rows = [_make_row(base, row.fix(vocab=i), (x, y), own=i == cell.at["vocab"]) for i, x, y in entries]
    size = base.model.config.vocab_size
    numbers = map(format_number, (one.power, other.power, one.power - other.power))
    ends = [Row(tuple(map(Cell, (f"log Σ eˡ, all {size:,}", *numbers))), quiet=True)]
    return Table(
        "Made from logits, with and without the head", ("logit of", "with", "without", "with − without"), rows, ends
    )


def _make_row(base: Trace, where: Address, scores: tuple[float, float], own: bool) -> Row:
    """An entry's score with the head, which one can walk on to, and without it."""
    one, other = scores
    return Row(
        (
            Cell(base.model.tokenizer.name(where.at["vocab"]), where),
            write_cell(one, where),
            write_cell(other),
            write_cell(one - other),
        ),
        one - other,
        own=own,
    )
