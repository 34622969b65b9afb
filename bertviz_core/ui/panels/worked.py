"""A formula with numbers that more than one page writes out."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis import layers
from bertviz_core.analysis.made_from import is_put
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.tracing.trace import Trace


def end_formula(trace: Trace, cell: Address, given: float) -> str:
    """How a worked formula ends: in the recorded number, or, where a change put that there, in what it gives and that.

    given: what the formula gives.
    """
    recorded = format_latex(float(trace[cell]))
    if not is_put(trace, cell):
        return recorded
    return rf"{format_latex(given)} \\ & \text{{a change puts }} {recorded} \text{{ there}}"


def write_cosine(x: np.ndarray, y: np.ndarray, names: str) -> str:
    """A cosine with its numbers. names: of the two vectors, as LaTeX."""
    product = float(x.astype(np.float64) @ y.astype(np.float64))
    below = rf"{format_latex(float(layers.compute_norms(x)))} \cdot {format_latex(float(layers.compute_norms(y)))}"
    value = format_latex(float(layers.compute_cosine(x, y)))
    return rf"\cos({names}) = \frac{{{format_latex(product)}}}{{{below}}} = {value}"
