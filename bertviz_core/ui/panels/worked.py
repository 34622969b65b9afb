"""Formulas with numbers that more than one page writes out."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis import layers
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.tex import bracket_negative, take_ends, write_sum


def write_cosine(x: np.ndarray, y: np.ndarray, names: str) -> str:
    """A cosine with its numbers. names: of the two vectors, as LaTeX."""
    product = float(x.astype(np.float64) @ y.astype(np.float64))
    below = rf"{format_latex(float(layers.compute_norms(x)))} \cdot {format_latex(float(layers.compute_norms(y)))}"
    (value,) = layers.compute_cosines(np.stack([x, y]))[:1, 1].tolist()
    return rf"\cos({names}) = \frac{{{format_latex(product)}}}{{{below}}} = {format_latex(value)}"


def write_dot(left: np.ndarray, right: np.ndarray) -> str:
    """A dot product with its first and last terms."""
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    terms = [
        rf"{bracket_negative(format_latex(a))}\cdot {bracket_negative(format_latex(b))}" for a, b in take_ends(pairs)
    ]
    return write_sum(terms, len(pairs), brace=False)
