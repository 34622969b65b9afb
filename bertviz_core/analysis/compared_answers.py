"""What two passes answer, beside each other: to the blank, to a question, or to whatever else both have a head for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bertviz_core.analysis.answers import LOGITS, Span, compute_share, rank_spans
from bertviz_core.analysis.heads import are_shares
from bertviz_core.analysis.predictions import PROBS, RELATIONS, find_masks
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import LABEL, RELATION, TOKEN, VOCAB
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace

BLANK, CLASS, SPAN, FOLLOWS, READING = "blank", "class", "span", "next sentence", "reading"  # what is answered
_CLASSES, _RELATIONS = Address("classifier.probs"), Address("cls.seq_relationship.probs")
_SPANS = 5  # of each pass

Cell = Address | None


@dataclass(frozen=True, eq=False)
class Answers:
    """The probabilities that two passes give to the same answers.

    kind: BLANK, CLASS, SPAN, FOLLOWS or READING; names: (answer,) what each is called; one, other: (answer,)
    probabilities in float64, NaN where that pass cannot give this answer; rows: the address of the whole answer in each
    pass; places: (answer,) each one's index in the two rows, or its span, None where it has none; without, all stand at
    the same index in both; at: the token that is asked about in each pass, if one is.
    """

    kind: str
    names: Sequence[str] = field(repr=False)
    one: np.ndarray
    other: np.ndarray
    rows: tuple[Address, Address]
    axis: str
    places: Sequence[tuple[int | Span | None, int | Span | None]] | None = field(default=None, repr=False)
    at: tuple[int, int] | None = None

    @property
    def divergence(self) -> float:
        """The Jensen-Shannon divergence in bits (Lin 1991); NaN where not both are distributions over these answers."""
        return measure_divergence(self.one, self.other)

    def name(self, answer: int) -> str:
        """What an answer is called; by its place, where the vocabulary has no entry for it."""
        return self.names[answer] or f"id {answer}"

    def list_likeliest(self, count: int) -> list[int]:
        """The answers that are likeliest in either pass, at most so many, in the order of the first pass."""
        best = rank_top(np.fmax(self.one, self.other), count)
        return sorted(best, key=lambda i: (-np.nan_to_num(self.one[i]), i))

    def find_cells(self, answer: int) -> tuple[Cell, Cell]:
        """The addresses of an answer's numbers in the two passes."""
        here, there = self.places[answer] if self.places else (answer, answer)
        return self._find_cell(self.rows[0], here), self._find_cell(self.rows[1], there)

    def _find_cell(self, row: Address, place: int | Span | None) -> Cell:
        return place.cell if isinstance(place, Span) else None if place is None else row.fix(**{self.axis: place})


def measure_divergence(one: np.ndarray, other: np.ndarray) -> float:
    """JS = ½ KL(P‖M) + ½ KL(P'‖M) in bits, where M is the mean of both: 0 for the same, 1 for nothing in common."""
    if not (are_shares(one) and are_shares(other)):  # no NaN is a share either
        return float("nan")
    mean = (one + other) / 2
    return sum(float((p[p > 0] * np.log2(p[p > 0] / mean[p > 0])).sum()) for p in (one, other)) / 2


def find_answers(one: Trace, other: Trace, pairs: Pairs, chosen: tuple[int, int] | None = None) -> Answers | None:
    """What both passes answer; None where the two models have no head in common, or where nothing is asked.

    At the chosen tokens, if both are blanks, else at the first blank that is matched with one, else at the first of
    each; without blanks, the answer of a head of another kind, or of the LM head at the chosen two tokens, which are
    otherwise the first matched words.
    """
    masks = [find_masks(trace) for trace in (one, other)]
    if _have(PROBS, one, other) and all(masks):
        first = masks[0][0], masks[1][0]
        blanks = [pair for pair in (chosen, *pairs, first) if pair and pair[0] in masks[0] and pair[1] in masks[1]]
        return _read_words(BLANK, one, other, blanks[0])
    at = chosen or _choose_words(one, pairs)
    if _have(_CLASSES, one, other) and one.model.labels == other.model.labels:
        return _read_classes(one, other, at)
    if _have(LOGITS, one, other):
        return _read_spans(one, other, pairs)
    if _have(_RELATIONS, one, other) and all(any(trace.encoding.segments) for trace in (one, other)):
        return _read_row(FOLLOWS, one, other, (_RELATIONS, _RELATIONS), RELATION.name, RELATIONS)
    return _read_words(READING, one, other, at) if at and _have(PROBS, one, other) else None


def _have(address: Address, *traces: Trace) -> bool:
    return all(address in trace for trace in traces)


def _choose_words(one: Trace, pairs: Pairs) -> tuple[int, int] | None:
    special = one.model.tokenizer.special_tokens
    words = [pair for pair in pairs if one.tokens[pair[0]] not in special]
    return (words or pairs or [None])[0]


def _read_row(
    kind: str, one: Trace, other: Trace, rows: tuple[Address, Address], axis: str, names: Sequence[str],
    at: tuple[int, int] | None = None,
) -> Answers:  # fmt: skip
    """The same answers at the same places of both rows."""
    first, second = (lock(trace.recomputed(row)) for trace, row in zip((one, other), rows, strict=True))
    return Answers(kind, names, first, second, rows, axis, at=at)


def _read_classes(one: Trace, other: Trace, at: tuple[int, int] | None) -> Answers | None:
    """The classes of the text, or of the two tokens."""
    names = one.model.labels
    if TOKEN.name not in one.dims(_CLASSES):
        return _read_row(CLASS, one, other, (_CLASSES, _CLASSES), LABEL.name, names)
    if at is None:
        return None
    rows = _CLASSES.fix(token=at[0]), _CLASSES.fix(token=at[1])
    return _read_row(CLASS, one, other, rows, LABEL.name, names, at)


def _read_words(kind: str, one: Trace, other: Trace, at: tuple[int, int]) -> Answers:
    """The words of the vocabulary at two tokens; of two vocabularies those that are written alike are the same word."""
    rows = PROBS.fix(token=at[0]), PROBS.fix(token=at[1])
    words, others = (trace.model.tokenizer.vocabulary for trace in (one, other))
    if words == others:
        return _read_row(kind, one, other, rows, VOCAB.name, words, at)
    known = [{word: i for i, word in enumerate(each) if word} for each in (words, others)]
    names = [*dict.fromkeys([*known[0], *known[1]])]
    places = [(known[0].get(name), known[1].get(name)) for name in names]
    first = _take(one.recomputed(rows[0]), [here for here, _ in places])
    second = _take(other.recomputed(rows[1]), [there for _, there in places])
    return Answers(kind, names, first, second, rows, VOCAB.name, places, at)


def _take(row: np.ndarray, places: Iterable[int | None]) -> np.ndarray:
    """The row's numbers at these places, NaN at none."""
    return lock(np.array([np.nan if place is None else row[place] for place in places]))


def _read_spans(one: Trace, other: Trace, pairs: Pairs) -> Answers | None:
    """The best spans of either pass, each beside that between the matched tokens of the other."""
    there = dict(pairs)
    here = {second: first for first, second in pairs}
    found: dict[tuple[Span | None, Span | None], str] = {}
    for span in rank_spans(one, _SPANS):
        found.setdefault((span, _carry(span, there)), _join(one, span))
    for span in rank_spans(other, _SPANS):
        found.setdefault((_carry(span, here), span), _join(other, span))
    if not found:
        return None
    first = _list_shares(one, [here for here, _ in found])
    second = _list_shares(other, [span for _, span in found])
    return Answers(SPAN, [*found.values()], first, second, (LOGITS, LOGITS), "", [*found])


def _list_shares(trace: Trace, spans: Iterable[Span | None]) -> np.ndarray:
    """The probabilities of spans, NaN of none."""
    return lock(np.array([np.nan if span is None else compute_share(trace, span) for span in spans]))


def _carry(span: Span, matched: dict[int, int]) -> Span | None:
    """The span between the tokens that its ends are matched with."""
    start, end = matched.get(span.start), matched.get(span.end)
    return None if start is None or end is None or end < start else Span(start, end)


def _join(trace: Trace, span: Span) -> str:
    return trace.model.tokenizer.decode(trace.encoding.ids[span.start : span.end + 1])
