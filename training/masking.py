"""Which pieces of a batch are hidden, and what the model sees in their place: Devlin et al. (2018), section 3.1."""

from __future__ import annotations

import numpy as np

from training.vocabulary import Vocabulary

HIDDEN_SHARE = 0.15  # of the pieces of a text
MASKED_SHARE, REPLACED_SHARE = 0.8, 0.1  # of those hidden: [MASK], any other piece; the rest is left as it is


def choose_hidden(
    ids: np.ndarray, open_to: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator, whole_words: bool
) -> np.ndarray:
    """Which pieces to predict: of each row 15 % of those it is open to, at least one; with whole words, words of it.

    ids: (row, position); open_to: (row, position) True where a piece may be hidden. Gives (row, position).
    """
    hidden = np.zeros_like(open_to)
    for row, (row_ids, row_open) in enumerate(zip(ids, open_to, strict=True)):
        places = np.flatnonzero(row_open)
        if not len(places):
            continue
        starts = ~vocabulary.continues[row_ids[places]] if whole_words else np.ones(len(places), dtype=bool)
        starts[:1] = True  # a passage may begin within a word
        words = np.cumsum(starts) - 1
        ranks = rng.permutation(int(starts.sum()))[words]
        by_rank = np.argsort(ranks, kind="stable")
        wanted = max(1, round(HIDDEN_SHARE * len(places)))
        last = ranks[by_rank[wanted - 1]]  # the word that fills the share is hidden to its end
        hidden[row, places[ranks <= last]] = True
    return hidden


def hide(ids: np.ndarray, hidden: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator) -> np.ndarray:
    """What the model sees: of the hidden pieces 80 % as [MASK], 10 % as any other piece, 10 % as they are."""
    draw = rng.random(ids.shape)
    other = rng.choice(vocabulary.drawable, ids.shape)
    masked = hidden & (draw < MASKED_SHARE)
    replaced = hidden & (draw >= MASKED_SHARE) & (draw < MASKED_SHARE + REPLACED_SHARE)
    return np.where(masked, vocabulary.mask, np.where(replaced, other, ids))
