"""Examples in an order that the seed alone decides, and batches of them as the model reads them.

Every draw is made from the seed and the number of the step, so the place in the data is one number, and a run that goes
on after a kill draws what it would have drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from training.examples import Examples
from training.masking import choose_hidden, hide
from training.relations import Question
from training.vocabulary import Vocabulary

SINGLES, PAIRS = "singles", "pairs"
NEXT, RANDOM = 0, 1  # the labels of BERT's next-sentence head
NO_DOCUMENT = -1  # where a question is from
_TRIES = 20  # to find a passage of another document


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts with pieces hidden.

    ids, segments, mask: (row, position); hidden: (row, position) True where a piece is to be predicted; answers:
    (hidden,) the pieces there; follows: (row,) NEXT or RANDOM, None for single sentences; documents: (row,), for
    questions NO_DOCUMENT.
    """

    ids: Tensor
    segments: Tensor
    mask: Tensor
    hidden: Tensor
    answers: Tensor
    follows: Tensor | None
    documents: np.ndarray

    def to(self, device: str) -> Batch:
        """The same batch with its tensors on a device."""
        moved = {name: one.to(device) for name, one in vars(self).items() if isinstance(one, Tensor)}
        return replace(self, **moved)


class Deck:
    """An endless row of batches of one kind: every example once, in a new order each time.

    bucket: among how many batches examples are sorted by length, so that little is padded; 1 leaves them as drawn.
    """

    def __init__(self, lengths: np.ndarray, size: int, bucket: int, seed: Sequence[int]) -> None:
        self._lengths, self._bucket, self._seed = lengths, bucket, tuple(seed)
        self._size = min(size, len(lengths))
        self._round, self._order = -1, np.empty((0, 0), dtype=np.int64)

    def draw(self, number: int) -> np.ndarray:
        """The examples of the batch with this number."""
        rounds, place = divmod(number, len(self._lengths) // self._size)
        if rounds != self._round:
            self._round, self._order = rounds, self._shuffle(rounds)
        return self._order[place]

    def _shuffle(self, rounds: int) -> np.ndarray:
        rng = np.random.default_rng([*self._seed, rounds])
        count = len(self._lengths) // self._size
        order = rng.permutation(len(self._lengths))[: count * self._size]
        if self._bucket <= 1:
            return order.reshape(count, self._size)
        reach = self._bucket * self._size
        parts = [order[i : i + reach] for i in range(0, len(order), reach)]
        by_length = np.concatenate([part[np.argsort(self._lengths[part], kind="stable")] for part in parts])
        return rng.permutation(by_length.reshape(count, self._size))


def make_singles(
    examples: Examples,
    chosen: np.ndarray,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    whole_words: bool,
    questions: Sequence[Question] = (),
) -> Batch:
    """A batch of single sentences, and behind them questions, of which the answer alone is hidden."""
    rows = [(examples.pieces[a:b],) for a, b in examples.singles[chosen]]
    asked = [(question.pieces,) for question in questions]
    documents = np.concatenate([examples.single_documents[chosen], np.full(len(asked), NO_DOCUMENT)])
    places = [question.place for question in questions]
    return _make_batch([*rows, *asked], None, documents, vocabulary, rng, whole_words, places)


def make_pairs(
    examples: Examples, chosen: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator, whole_words: bool
) -> Batch:
    """A batch of two passages each: half of them as they follow one another, half with one of another document."""
    follows = np.where(rng.random(len(chosen)) < 0.5, NEXT, RANDOM)
    rows = []
    for i, (index, label) in enumerate(zip(chosen, follows, strict=True)):
        a, b, c, d = examples.pairs[index]
        if label == RANDOM:
            other = _draw_other(examples.pair_documents, int(index), rng)
            if other is None:
                follows[i] = NEXT
            else:
                c, d = examples.pairs[other][2:]
        rows.append((examples.pieces[a:b], examples.pieces[c:d]))
    return _make_batch(rows, follows, examples.pair_documents[chosen], vocabulary, rng, whole_words)


def _draw_other(documents: np.ndarray, index: int, rng: np.random.Generator) -> int | None:
    for other in rng.integers(0, len(documents), _TRIES):
        if documents[other] != documents[index]:
            return int(other)
    return None


def _make_batch(
    rows: Sequence[tuple[np.ndarray, ...]],
    follows: np.ndarray | None,
    documents: np.ndarray,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    whole_words: bool,
    places: Sequence[int] = (),
) -> Batch:
    """places: of the last rows, the one place that is hidden, always behind [MASK]."""
    length = max(sum(len(part) + 1 for part in parts) + 1 for parts in rows)
    ids = np.full((len(rows), length), vocabulary.pad, dtype=np.int64)
    segments = np.zeros_like(ids)
    mask = np.zeros_like(ids)
    for row, parts in enumerate(rows):
        ids[row, 0], end = vocabulary.cls, 1
        for segment, part in enumerate(parts):
            start, end = end, end + len(part) + 1
            ids[row, start:end] = (*part, vocabulary.sep)
            segments[row, start:end] = segment
        mask[row, :end] = 1
    special = [vocabulary.cls, vocabulary.sep, vocabulary.pad, vocabulary.mask]
    hidden = choose_hidden(ids, ~np.isin(ids, special), vocabulary, rng, whole_words)
    seen = hide(ids, hidden, vocabulary, rng)
    for row, place in enumerate(places, len(rows) - len(places)):
        hidden[row], seen[row] = False, ids[row]
        hidden[row, place + 1], seen[row, place + 1] = True, vocabulary.mask
    return Batch(
        ids=torch.from_numpy(seen),
        segments=torch.from_numpy(segments),
        mask=torch.from_numpy(mask),
        hidden=torch.from_numpy(hidden),
        answers=torch.from_numpy(ids[hidden]),
        follows=None if follows is None else torch.from_numpy(follows),
        documents=documents,
    )
