"""Documents cut into what a model is trained on: single sentences, and pairs of passages that follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bertviz_core.errors import InputError
from training.corpus import Document
from training.glosses import find_gloss, mend_gloss
from training.vocabulary import Vocabulary

SHORTEST, LONGEST = 3, 30  # pieces of a single sentence
_AT_ONCE = 10_000  # sentences handed to the tokenizer


@dataclass(frozen=True, eq=False)
class Examples:
    """All pieces in one row, and the spans of it that are examples: (from, before).

    pieces: (piece,) ids; singles: (single, 2); pairs: (pair, 4), two spans that follow one another;
    single_documents, pair_documents: which document an example is from; glosses: (document,) whether a dictionary's;
    sources: (document,) where from.
    """

    pieces: np.ndarray
    singles: np.ndarray
    single_documents: np.ndarray
    pairs: np.ndarray
    pair_documents: np.ndarray
    glosses: np.ndarray
    sources: tuple[str, ...]


def make_examples(documents: Sequence[Document], vocabulary: Vocabulary, pair_length: int) -> Examples:
    """Every example that the documents hold; a pair has at most `pair_length` pieces with [CLS] and two [SEP].

    Raises InputError where there is no single sentence or no pair at all.
    """
    lines = [sentence for document in documents for sentence in document.sentences]
    cut = [ids for i in range(0, len(lines), _AT_ONCE) for ids in vocabulary.cut(lines[i : i + _AT_ONCE])]
    ends = np.concatenate([[0], np.cumsum([len(ids) for ids in cut])]).astype(np.int64)
    firsts = np.concatenate([[0], np.cumsum([len(document.sentences) for document in documents])])
    owners = np.repeat(np.arange(len(documents)), np.diff(firsts))
    lengths = np.diff(ends)
    single = np.flatnonzero((lengths >= SHORTEST) & (lengths <= LONGEST))
    half = (pair_length - 3) // 2
    passages = [_pack(ends[first : last + 1], half) for first, last in pairwise(firsts)]
    pairs = [(*a, *b) for spans in passages for a, b in pairwise(spans)]
    if not len(single) or not pairs:
        raise InputError(
            f"The corpus gives {len(single)} single sentences of {SHORTEST} to {LONGEST} pieces and {len(pairs)} "
            "pairs. It needs both: more documents, of two or more sentences each."
        )
    return Examples(
        pieces=np.array([piece for ids in cut for piece in ids], dtype=np.int32),
        singles=np.stack([ends[single], ends[single + 1]], axis=1),
        single_documents=owners[single],
        pairs=np.array(pairs),
        pair_documents=np.repeat(np.arange(len(documents)), [max(0, len(spans) - 1) for spans in passages]),
        glosses=np.array([find_gloss(document.sentences) is not None for document in documents]),
        sources=tuple(document.source for document in documents),
    )


def _pack(ends: np.ndarray, half: int) -> list[tuple[int, int]]:
    """Whole sentences of one document as spans of up to `half` pieces, or half of a short document."""
    room = min(half, -(-int(ends[-1] - ends[0]) // 2))
    spans: list[tuple[int, int]] = []
    start = int(ends[0])
    for before, end in pairwise(ends):
        if before > start and end - start > room:
            spans.append((start, min(int(before), start + half)))
            start = int(before)
    if ends[-1] > start:
        spans.append((start, min(int(ends[-1]), start + half)))
    return spans


def mend_documents(documents: Sequence[Document]) -> list[Document]:
    """The same documents with the articles of a dictionary's definitions put right."""
    return [
        replace(document, sentences=(mend_gloss(document.sentences[0]), *document.sentences[1:]))
        if find_gloss(document.sentences)
        else document
        for document in documents
    ]


def cap_glosses(examples: Examples, share: float, seed: int, pairs_too: bool) -> Examples:
    """The examples with at most this share of the singles from a dictionary, and with none of the pairs.

    pairs_too: with at most the same share of the pairs. Which are left out is drawn by the seed. Where everything is
    from a dictionary, nothing is left out.
    """
    singles = _choose(examples.glosses[examples.single_documents], share, seed)
    pairs = _choose(examples.glosses[examples.pair_documents], share if pairs_too else 0.0, seed)
    return replace(
        examples,
        singles=examples.singles[singles],
        single_documents=examples.single_documents[singles],
        pairs=examples.pairs[pairs],
        pair_documents=examples.pair_documents[pairs],
    )


def _choose(glosses: np.ndarray, share: float, seed: int) -> np.ndarray:
    others = int((~glosses).sum())
    if share >= 1 or not others:
        return np.arange(len(glosses))
    found = np.flatnonzero(glosses)
    room = min(len(found), int(others * share / (1 - share)))
    kept = np.random.default_rng(seed).choice(found, room, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(~glosses), kept]))
