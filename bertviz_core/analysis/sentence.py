"""One vector for a whole text, and what in it speaks for a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def average_segments(rows: np.ndarray, segments: Sequence[int], mask: Sequence[int]) -> dict[int, np.ndarray]:
    """The mean vector of each segment's tokens, padding left out: by segment, in order.

    rows: (token, hidden); segments, mask: one number a token, mask 0 for padding.
    """
    real = np.asarray(mask, dtype=bool)
    kinds = np.asarray(segments)
    return {int(kind): rows[real & (kinds == kind)].mean(axis=0) for kind in np.unique(kinds[real])}


def compute_lead(scores: np.ndarray, label: int) -> np.ndarray:
    """How far one class's score lies above the mean of the others'; above 0 where there are no others.

    scores: classes along the last axis, which disappears.
    """
    others = np.delete(scores, label, axis=-1)
    return scores[..., label] - (others.mean(axis=-1) if others.shape[-1] else 0.0)
