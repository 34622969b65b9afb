"""A formula with numbers that more than one page writes out."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis import layers
from bertviz_core.formula.numbers import format_latex

LENGTH = r"\lVert x \rVert = \sqrt{\sum_i x_i^2}"


def write_cosine(x: np.ndarray, y: np.ndarray, names: str) -> str:
    """A cosine with its numbers. names: of the two vectors, as LaTeX."""
    product = float(x.astype(np.float64) @ y.astype(np.float64))
    below = rf"{format_latex(float(layers.compute_norms(x)))} \cdot {format_latex(float(layers.compute_norms(y)))}"
    value = format_latex(float(layers.compute_cosine(x, y)))
    given = rf"= {value}" if x.any() and y.any() else r"\text{, undefined: a vector of length 0 has no direction}"
    return rf"\cos({names}) = \frac{{{format_latex(product)}}}{{{below}}} {given}"
