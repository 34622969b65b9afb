"""Rankings, windows of long inputs, the cell worth looking at first."""

from __future__ import annotations

import numpy as np

MASKED = -1e30  # scores below this belong to padding
MIN_ROWS = 8  # a window never shows fewer rows than this, however wide they are


def rank_top(values: np.ndarray, k: int) -> list[int]:
    """Indices of the k largest of a vector, largest first; equal ones in order of index, what is no number last."""
    k = min(k, len(values))
    if k < 1:
        return []
    known = np.where(np.isnan(values), -np.inf, values)
    least = np.partition(known, -k)[-k]
    candidates = np.flatnonzero(known >= least)  # more than k where several are as large as the last of them
    return candidates[np.argsort(-known[candidates], kind="stable")][:k].tolist()


def find_strongest(values: np.ndarray) -> int:
    """The index of a vector's largest absolute value."""
    return int(np.abs(values).argmax())


def find_limit(values: np.ndarray) -> float:
    """The largest absolute value that is not a masked score: the end of a signed scale."""
    return float(np.abs(values[values > MASKED]).max(initial=0.0))


def find_robust_limit(values: np.ndarray) -> float:
    """`find_limit`, unless a few outliers would bleach everything else: then the size that 99 % stay below."""
    largest, known = find_limit(values), values[values > MASKED]
    usual = float(np.quantile(np.abs(known), 0.99)) if known.size else 0.0
    return usual if 0 < usual < largest / 2 else largest


def center_range(center: int, size: int, total: int) -> range:
    """`size` neighbouring indices of `total`, with `center` as near to the middle as the ends allow."""
    size = min(size, total)
    start = min(max(0, center - size // 2), total - size)
    return range(start, start + size)


def choose_window(rows: int, columns: int, row: int, cells: int) -> tuple[range, range]:
    """Which rows and columns of a matrix to draw so that at most about `cells` cells are sent, around one row."""
    shown = center_range(row, max(MIN_ROWS, cells // columns), rows)
    return shown, range(min(columns, max(1, cells // len(shown))))
