"""Attention taken apart: products term by term, cosines and norms, the softmax step by step, who brought how much.

Everything is computed in float64 from what a trace recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace


def is_attended(trace: Trace, keys: Sequence[int]) -> bool:
    """Whether a change made any attention weight on keys that a mask hides other than 0."""
    layers = range(trace.model.config.num_hidden_layers) if trace.before and keys else ()
    return any(bool(trace[ATTENTION_WEIGHTS.in_layer(layer)][..., list(keys)].any()) for layer in layers)


def list_counted(trace: Trace) -> list[int]:
    """The tokens of which one may be called the largest: those that no mask hides. All, where a change lets tokens
    attend to hidden ones, or where every one is hidden."""
    hidden = sorted({*range(len(trace.tokens))} - {*trace.encoding.real})
    return list(trace.encoding.real or hidden) if not is_attended(trace, hidden) else [*range(len(trace.tokens))]


@dataclass(frozen=True, eq=False)
class DotProduct:
    """A dot product taken apart, the largest terms (by absolute value) first.

    order: the components in that order; terms: their products; running: the sums so far, the last one the whole.
    """

    order: np.ndarray
    terms: np.ndarray
    running: np.ndarray


def multiply_terms(q: np.ndarray, k: np.ndarray) -> DotProduct:
    """q · k, term by term; terms of one size in order of component."""
    terms = _widen(q) * _widen(k)
    order = np.argsort(-np.abs(terms), kind="stable")
    return DotProduct(order, terms[order], terms[order].cumsum())


@dataclass(frozen=True, eq=False)
class Angles:
    """One query's products with all keys as cosine times lengths: cosines (key,), query_norm, key_norms (key,)."""

    cosines: np.ndarray
    query_norm: float
    key_norms: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """(key,) the cosines, nan where a vector of length 0 has no direction."""
        return np.where(self.query_norm * self.key_norms > 0, self.cosines, np.nan)

    @property
    def products(self) -> np.ndarray:
        """cos(q, k) |q| |k| for every key."""
        return self.cosines * self.query_norm * self.key_norms


def measure_angles(q: np.ndarray, keys: np.ndarray) -> Angles:
    """A query (head_dim,) and keys (key, head_dim). With a vector of length 0 there is no cosine; 0 stands for it."""
    q, keys = _widen(q), _widen(keys)
    query_norm, key_norms = float(np.linalg.norm(q)), np.linalg.norm(keys, axis=1)
    lengths = query_norm * key_norms
    cosines = np.divide(keys @ q, lengths, out=np.zeros(len(keys)), where=lengths > 0)
    return Angles(cosines, query_norm, key_norms)


@dataclass(frozen=True, eq=False)
class SoftmaxRow:
    """A softmax over one row of scores, as it is computed.

    largest: the row's maximum; below: every score minus that; powers: e to that; running: the powers summed so far, in
    the order of the row, the last one the denominator; shares: powers over the denominator; plain: e to the scores as
    they are, infinite where that is too large.
    """

    largest: float
    below: np.ndarray
    powers: np.ndarray
    running: np.ndarray
    shares: np.ndarray
    plain: np.ndarray

    @property
    def denominator(self) -> float:
        return float(self.running[-1])


def work_softmax(scores: np.ndarray) -> SoftmaxRow:
    """The softmax of a row, with everything on the way."""
    scores = _widen(scores)
    largest = float(scores.max())
    below = scores - largest
    powers = np.exp(below)
    running = powers.cumsum()
    with np.errstate(over="ignore"):
        plain = np.exp(scores)
    return SoftmaxRow(largest, below, powers, running, powers / running[-1], plain)


def find_block_maxima(weights: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """The largest weight in every block of neighbouring tokens of a square matrix, at most size x size blocks.

    Also how many tokens a block has on each side; the last ones may have fewer.
    """
    side = -(-len(weights) // size)
    starts = np.arange(0, len(weights), side)
    return np.maximum.reduceat(np.maximum.reduceat(weights, starts, axis=0), starts, axis=1), side


def locate_block_maxima(weights: np.ndarray, side: int) -> np.ndarray:
    """Where the largest weight of every block of side x side tokens stands: (row, column, 2), its query and its key."""
    count = -(-len(weights) // side)
    whole = np.full((count * side, count * side), -np.inf)
    whole[: len(weights), : len(weights)] = weights
    inside = whole.reshape(count, side, count, side).swapaxes(1, 2).reshape(count, count, side * side).argmax(axis=-1)
    first = np.arange(count) * side
    return np.stack([first[:, None] + inside // side, first[None, :] + inside % side], axis=-1)


def weigh_values(shares: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What every token brings to one query: (key, head_dim), share times value. Summed over the keys: the context."""
    return _widen(shares)[:, None] * _widen(values)


def split_by_head(context: np.ndarray, weight: np.ndarray, heads: int) -> np.ndarray:
    """What every head brings to one token's output: (head, hidden). With the bias, the rows sum to the output.

    context: (concat,) the token's heads side by side; weight: (concat, hidden), of which every head uses its own rows.
    """
    rows = _widen(weight).reshape(heads, -1, weight.shape[1])
    return (_widen(context).reshape(heads, 1, -1) @ rows)[:, 0]


def share_sum(parts: np.ndarray) -> np.ndarray:
    """How much of a sum of vectors (part, hidden) each part makes up, along the sum's own direction: together 1.

    A part that points against the sum has a negative share. Where the sum is 0, so is every share.
    """
    parts = _widen(parts)
    total = parts.sum(axis=0)
    size = total @ total
    return parts @ total / size if size else np.zeros(len(parts))


def choose_shown(sizes: np.ndarray, k: int, also: Iterable[int] = ()) -> list[int]:
    """The k largest of a row, and those asked for, in the row's own order; all where only one would be left out."""
    if len(sizes) <= k + 1:
        return list(range(len(sizes)))
    return sorted({*rank_top(sizes, k), *also})


def _widen(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)
