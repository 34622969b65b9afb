"""What is read out of a training's records: the loss per hidden token, and the words that it taught."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

OVER = 12  # steps that a line of the loss per hidden token is taken over


def average_per_token(losses: Sequence[float], hidden: Sequence[int], over: int = OVER) -> np.ndarray:
    """The loss per hidden token over the last steps, one number a step: their losses by their hidden tokens."""
    sums = [np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))]) for values in (losses, hidden)]
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(ends - over, 0)
    loss, count = (total[ends] - total[starts] for total in sums)
    return loss / count


def average_each(shares: np.ndarray, over: int = OVER) -> np.ndarray:
    """Each column's mean over the last rows, shape (row, column)."""
    once = [1] * len(shares)
    return np.stack([average_per_token(column, once, over) for column in shares.T], axis=1)


def rank_risen(before: np.ndarray, after: np.ndarray, count: int) -> list[int]:
    """The places of the probabilities that rose most, the most risen first; each word once it has risen at all."""
    rise = after - before
    return [int(i) for i in np.argsort(-rise, kind="stable")[:count] if rise[i] > 0]
