"""Formulas with numbers that more than one page writes out."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis import layers
from bertviz_core.formula.numbers import latex_number
from bertviz_core.formula.tex import ends, long_sum, signed


def worked_cosine(x: np.ndarray, y: np.ndarray, names: str) -> str:
    """A cosine with its numbers. names: of the two vectors, as LaTeX."""
    product = float(x.astype(np.float64) @ y.astype(np.float64))
    below = rf"{latex_number(float(layers.norms(x)))} \cdot {latex_number(float(layers.norms(y)))}"
    (value,) = layers.cosines(np.stack([x, y]))[:1, 1].tolist()
    return rf"\cos({names}) = \frac{{{latex_number(product)}}}{{{below}}} = {latex_number(value)}"


def worked_dot(left: np.ndarray, right: np.ndarray) -> str:
    """A dot product with its first and last terms."""
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    terms = [rf"{signed(latex_number(a))}\cdot {signed(latex_number(b))}" for a, b in ends(pairs)]
    return long_sum(terms, len(pairs), brace=False)
