"""How far two lists of amounts agree about which is larger: Spearman's rank correlation.

Of two methods that give each token of a text an amount, it takes the tokens that both know: [CLS] and [SEP] with the
words, since they carry parts and can be hidden too; not a blank, which hides already, and not padding.
"""

from __future__ import annotations

import numpy as np

# What two passes in single precision differ by, and less, is no difference: of the largest amount, and of any.
ALIKE, LEAST = 1e-5, 5e-6

LEAST_PAIRS = 3  # of fewer, ranks say nothing


def rank_amounts(amounts: np.ndarray) -> np.ndarray:
    """(n,) the rank of each amount, 1 for the smallest; equal ones share the mean of the ranks that they take."""
    order = np.argsort(amounts, kind="stable")
    largest = np.abs(amounts[np.isfinite(amounts)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):  # from infinity to infinity there is no rise
        rises = np.diff(amounts[order]) > max(ALIKE * largest, LEAST)
    group = np.zeros(len(amounts), dtype=int)
    group[order[1:]] = np.cumsum(rises)
    counts = np.bincount(group)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group]


def has_near_ties(amounts: np.ndarray) -> bool:
    """Whether some amounts that are not equal have one rank, since they are as near as `ALIKE` or `LEAST`."""
    known = amounts[np.isfinite(amounts)]
    return len(np.unique(rank_amounts(known))) < len(np.unique(known))


def correlate_ranks(left: np.ndarray, right: np.ndarray) -> float | None:
    """Spearman's rank correlation, -1 to 1, of the pairs of which both are numbers.

    None where ranks say nothing: of fewer than three pairs, or where one side's amounts are all equal.
    """
    known = np.isfinite(left) & np.isfinite(right)
    if np.count_nonzero(known) < LEAST_PAIRS:
        return None
    a, b = (ranks - ranks.mean() for ranks in (rank_amounts(left[known]), rank_amounts(right[known])))
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else None
