"""The vocabulary and its matrix: entries by what they are made of, and each entry's nearest neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import InputError

WORDS = "embeddings.word_embeddings.weight"
PREFIX, CONTAINS, IDS = "prefix", "contains", "id"
WHOLE, PIECE, SPECIAL, UNUSED, EMPTY = "whole word or sign", "piece", "special token", "placeholder", "no entry"
KINDS = (WHOLE, PIECE, SPECIAL, UNUSED, EMPTY)

_ID_RANGE = re.compile(r"([0-9]{1,9})(?:\s*[-–−]\s*([0-9]{1,9}))?")
_PLACEHOLDER = re.compile(r"\[unused[0-9]+\]")
_lengths: WeakKeyDictionary[Model, np.ndarray] = WeakKeyDictionary()  # under 1 % of its model, and goes with it


def classify(entry: str, special: Collection[str]) -> str:
    """What an entry is, one of KINDS."""
    if not entry:
        return EMPTY
    if entry in special:
        return SPECIAL
    if _PLACEHOLDER.fullmatch(entry):
        return UNUSED
    return PIECE if entry.startswith("##") else WHOLE


def count_kinds(vocabulary: Sequence[str], special: Collection[str]) -> dict[str, int]:
    """How many entries there are of each of KINDS."""
    counts = Counter(classify(entry, special) for entry in vocabulary)
    return {name: counts[name] for name in KINDS}


def search_vocabulary(vocabulary: Sequence[str], text: str, how: str) -> list[int]:
    """The ids of the entries that begin with a text or contain it, capitals or not; or of an id or range of ids.

    The entry that is the text itself comes first, the others in order of id. Raises InputError where IDS are asked for
    by something else than a number or a range such as 2000-2010.
    """
    if how == IDS:
        return _read_range(text, len(vocabulary))
    wanted = text.strip().lower()
    if not wanted:
        return []
    letters = [entry.lower() for entry in vocabulary]
    found = [i for i, entry in enumerate(letters) if (entry.startswith(wanted) if how == PREFIX else wanted in entry)]
    return sorted(found, key=lambda i: letters[i] != wanted)


def _read_range(text: str, size: int) -> list[int]:
    match = _ID_RANGE.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"“{text.strip()[:20]}” is no id and no range of ids. Type a whole number such as 2003, or two, such as "
            "2000-2010."
        )
    first, last = int(match[1]), int(match[2] or match[1])
    return list(range(first, min(last + 1, size)))


@dataclass(frozen=True)
class Neighbour:
    """An entry near another one. cosine, product, length: of their vectors; length is this entry's."""

    id: int
    token: str
    cosine: float
    product: float
    length: float


def find_nearest(model: Model, token_id: int, k: int) -> list[Neighbour]:
    """The k other entries whose vectors point most nearly the same way as this one's, nearest first."""
    matrix, lengths = model.parameters[WORDS].numpy(), _measure_lengths(model)
    own, own_length = matrix[token_id], float(lengths[token_id])
    if not own_length:
        return []  # a row of zeros points nowhere
    cosines = np.divide(matrix @ own, lengths * own_length, where=lengths > 0, out=np.zeros(len(matrix)))
    best = [i for i in rank_top(cosines, k + 1) if i != token_id][:k]
    return [_measure_neighbour(model, own, i, float(lengths[i]), own_length) for i in best]


def _measure_neighbour(model: Model, own: np.ndarray, i: int, length: float, own_length: float) -> Neighbour:
    """One entry beside another, in double precision."""
    product = float(own.astype(np.float64) @ model.parameters[WORDS][i].numpy().astype(np.float64))
    return Neighbour(i, model.tokenizer.name(i), product / (length * own_length or 1.0), product, length)


def measure_length(model: Model, token_id: int) -> float:
    """The Euclidean length of an entry's vector."""
    return float(_measure_lengths(model)[token_id])


def _measure_lengths(model: Model) -> np.ndarray:
    """The length of every row of the vocabulary matrix, worked out once a model."""
    if model not in _lengths:
        _lengths[model] = compute_norms(model.parameters[WORDS].numpy())
    return _lengths[model]
