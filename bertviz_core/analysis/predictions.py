"""What the language model head's probabilities say: rankings, the softmax's running denominator, any word's place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

SCORES, PROBS = Address("cls.predictions.decoder"), Address("cls.predictions.probs")
RELATIONS = ("B follows A", "B is a random sentence")  # what the next sentence head tells apart


@dataclass(frozen=True)
class Entry:
    """A vocabulary entry's place at one position. rank: 1 for the most probable."""

    token: str
    id: int
    score: float
    probability: float
    rank: int


@dataclass(frozen=True)
class Running:
    """The softmax's denominator, summed up from its largest term to its smallest.

    ids: (rank,) vocabulary entries, best first; terms: (rank,) e^(score - best score); sums: (rank,) what the terms
    so far add up to. All terms in float64.
    """

    ids: np.ndarray
    terms: np.ndarray
    sums: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The part of the whole denominator that is reached at each rank; the last is 1."""
        return self.sums / self.sums[-1]

    def needed(self, share: float) -> int:
        """How many of the best entries hold at least this share of the probability."""
        return int(np.searchsorted(self.shares, share)) + 1


def run_softmax(scores: np.ndarray) -> Running:
    """The running denominator of a softmax over these scores."""
    ids = np.argsort(-scores, kind="stable")
    best_first = scores[ids].astype(np.float64)
    terms = np.exp(best_first - best_first[0])
    return Running(ids, terms, np.cumsum(terms))


def count_holding(shares: np.ndarray, part: float) -> int:
    """How many of the largest shares hold at least this part of what all of them hold together."""
    sums = np.cumsum(np.sort(shares.astype(np.float64))[::-1])
    return int(np.searchsorted(sums, part * sums[-1])) + 1


def find_masks(trace: Trace) -> list[int]:
    """The positions of the masked tokens; none where the checkpoint has no mask token."""
    return [i for i, token_id in enumerate(trace.encoding.ids) if token_id == trace.model.tokenizer.mask_id]


def find_answered(trace: Trace, token: int) -> int:
    """The position whose answers are told: a masked one where there is one, this token's if it is one of several."""
    masked = find_masks(trace) if PROBS in trace else []
    return token if token in masked or not masked else masked[0]


def rank_words(trace: Trace, token: int, k: int) -> tuple[tuple[str, float, int], ...]:
    """The k most probable vocabulary entries at a position: word, probability, id. Ranked once."""
    return remember(trace, f"words ranked at {token}, {k}", lambda: tuple(_rank_words(trace, token, k)))


def _rank_words(trace: Trace, token: int, k: int) -> Iterator[tuple[str, float, int]]:
    probs = trace[PROBS.fix(token=token)]
    for i in rank_top(probs, k):
        yield trace.model.tokenizer.name(i), float(probs[i]), i


def list_likeliest(trace: Trace, token: int, k: int) -> tuple[tuple[str, float, int], ...]:
    """The first words of the ranking, at most k: without those that are as probable as one that would be left out,
    unless the first word is one of them."""
    ranked = rank_words(trace, token, k + 1)
    left_out = ranked[k][1] if len(ranked) > k else -np.inf
    return tuple(word for word in ranked[:k] if word[1] > left_out) or ranked[:k]


def count_tied(trace: Trace, token: int) -> int:
    """How many vocabulary entries are as probable as the first one at a position; worked out once."""
    return remember(trace, f"words tied at {token}", lambda: _count_highest(trace[PROBS.fix(token=token)]))


def _count_highest(values: np.ndarray) -> int:
    return int((values == values.max()).sum())


def find_places(trace: Trace, token: int, text: str) -> tuple[Entry, ...]:
    """Where a word stands in the ranking at a position, piece by piece as the model's tokenizer cuts it.

    A text that is itself an entry of the vocabulary, such as ##ing, is not cut. Raises InputError for text that is
    not valid Unicode.
    """
    tokenizer = trace.model.tokenizer
    name = text.strip()
    known = tokenizer.id(name) if name else None
    ids = tokenizer.pieces(text) if known is None else (known,)
    scores, probs = (trace[address.fix(token=token)] for address in (SCORES, PROBS))
    return tuple(
        Entry(tokenizer.name(i), i, float(scores[i]), float(probs[i]), int((probs > probs[i]).sum()) + 1) for i in ids
    )


def choose_first(trace: Trace) -> tuple[int, ...]:
    """The id of the most probable entry at every position; remembered, since it needs the logits of all."""
    tokens = range(len(trace.tokens))
    return remember(trace, "first choices", lambda: tuple(int(trace[SCORES.fix(token=i)].argmax()) for i in tokens))


def count_kept(trace: Trace) -> tuple[int, int, int]:
    """At how many positions, padding left out, no entry is as probable as the input's own, at how many others tie with
    it for the first place, and at how many several tie for that, the input's own or not; remembered."""
    return remember(trace, "kept tokens", lambda: _count_kept(trace))


def _count_kept(trace: Trace) -> tuple[int, int, int]:
    own: list[int] = []
    several = 0
    for i in trace.encoding.real:
        row = trace[SCORES.fix(token=i)]
        tied = _count_highest(row)
        several += tied > 1
        if row[trace.encoding.ids[i]] == row.max():
            own.append(tied)
    return own.count(1), len(own) - own.count(1), several
