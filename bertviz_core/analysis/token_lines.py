"""Attention as links between tokens: which are shown, and how much of each query's attention is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import center_range, rank_top

HEAD, MEAN, MAX = "head", "mean", "max"
ALL = "all"
BETWEEN = (ALL, "AA", "AB", "BA", "BB")  # the query's sentence, then the key's


@dataclass(frozen=True, eq=False)
class Links:
    """queries, keys: which tokens are shown; weights: (query, key) of these, NaN where one is left out.

    hidden: (query,) the rest of each row.
    """

    queries: list[int]
    keys: list[int]
    weights: np.ndarray
    hidden: np.ndarray


def combine_heads(probs: np.ndarray, over: str, head: int) -> np.ndarray:
    """(head, query, key) shares to (query, key): one head's, or the mean or the maximum over all heads."""
    if over == MEAN:
        return probs.mean(axis=0)
    return probs.max(axis=0) if over == MAX else probs[head]


def choose_links(
    weights: np.ndarray, segments: Sequence[int], hide: Sequence[bool], between: str, center: int, size: int
) -> Links:
    """The part of (query, key) weights to draw: without hidden tokens, between two sentences, around one token.

    hide: which tokens are left out on both sides; size: at most so many tokens on each side.
    """
    sides = []
    for letter in between if between != ALL else "**":
        fits = [i for i, segment in enumerate(segments) if not hide[i] and letter in ("*", "AB"[min(segment, 1)])]
        place = int(np.searchsorted(fits, center))
        sides.append([fits[i] for i in center_range(min(place, len(fits) - 1), size, len(fits))] if fits else [])
    queries, keys = sides
    shown = weights[np.ix_(queries, keys)]
    return Links(queries, keys, shown, np.delete(weights[queries], keys, axis=1).sum(axis=-1))


def choose_strongest(weights: np.ndarray, hide: Sequence[bool], center: int, size: int, each: int) -> Links:
    """The strongest of (query, key) weights around one token: at most `size` queries, `each` keys of each of these.

    hide: which tokens are left out on both sides. Of keys there are at most `size` too: those of the query in the
    centre, then those with the largest weights; where all weights are 0, the same tokens as of queries.
    """
    near = choose_links(weights, [0] * len(weights), hide, ALL, center, size)
    rows = weights[near.queries]
    best = np.zeros(rows.shape, dtype=bool)
    for row, mine in zip(rows, best, strict=True):
        mine[rank_top(np.where(hide, -np.inf, row), each)] = True
    best &= ~np.asarray(hide)
    kept = np.where(best, rows, 0.0)
    worth = kept.max(axis=0, initial=0.0)
    if center in near.queries:
        worth = worth + kept[near.queries.index(center)]
    keys = sorted(key for key in rank_top(worth, size) if worth[key] > 0) or near.keys
    shown = np.where(best, rows, np.nan)[:, keys]
    rest = np.where(best & np.isin(np.arange(rows.shape[1]), keys), 0.0, rows)
    return Links(near.queries, keys, shown, rest.sum(axis=-1))
