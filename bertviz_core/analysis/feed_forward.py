"""The feed-forward network, neuron by neuron."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import Apply, Function
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.programs.config import ACTIVATIONS as FUNCTIONS
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

# The functions worth comparing, and what to call them.
ACTIVATIONS = {FUNCTIONS["gelu"]: "GELU (erf)", FUNCTIONS["gelu_new"]: "GELU (tanh)", FUNCTIONS["relu"]: "ReLU"}


def find_activation(trace: Trace, layer: int) -> Function:
    """The activation function that the program applies in a layer, which a change may have replaced."""
    step = trace.step(Address.in_layer(layer, "intermediate.activation"))
    return next(node.function for node in walk_nodes(step.expr) if isinstance(node, Apply))


def sum_contributions(strength: np.ndarray, directions: np.ndarray, groups: Collection[list[int]]) -> np.ndarray:
    """What groups of neurons add to the output: (group, hidden). Where each neuron is in one, rows and bias sum to it.

    strength: (intermediate,) activations of one token; directions: (intermediate, hidden), the second matrix.
    """
    chosen = np.zeros((len(groups), len(strength)), directions.dtype)
    for row, neurons in zip(chosen, groups, strict=True):
        row[neurons] = strength[neurons]
    return chosen @ directions  # of one type, whose product needs no copy of the matrix


@dataclass(frozen=True, eq=False)
class Neurons:
    """One token's neurons in one layer, each with the vector that it writes: activation times its row of W₂.

    before, after: (neuron,) pre-activations and activations; rows: (neuron,) lengths of the rows of W₂; shares:
    (neuron,) how much of the sum of all vectors and the bias each makes up, along the sum's own direction; bias: the
    bias's share. All shares together are 1; those of vectors that point against the sum are negative.
    """

    before: np.ndarray
    after: np.ndarray
    rows: np.ndarray
    shares: np.ndarray
    bias: float

    @property
    def active(self) -> np.ndarray:
        """(neuron,) whether the pre-activation is above 0."""
        return self.before > 0

    @property
    def lengths(self) -> np.ndarray:
        """(neuron,) Euclidean lengths of the vectors that the neurons write."""
        return np.abs(self.after) * self.rows

    def strongest(self, k: int) -> list[int]:
        """The k neurons that write the longest vectors, longest first."""
        return rank_top(self.lengths, k)

    def rest(self, shown: list[int]) -> float:
        """The share of all neurons but these; with theirs and the bias's it makes 1."""
        return float(np.delete(self.shares, shown).sum())


def measure_neurons(trace: Trace, layer: int, token: int) -> Neurons:
    """All neurons of one token in one layer, in float64. Where they and the bias sum to 0, all shares are 0.

    Remembered.
    """
    return remember(trace, f"neurons of {token} in layer {layer}", lambda: _measure_neurons(trace, layer, token))


def _measure_neurons(trace: Trace, layer: int, token: int) -> Neurons:
    inner, output = (Address.in_layer(layer, module) for module in ("intermediate", "output.dense"))
    before, after = (trace[inner.enter(leaf).fix(token=token)].astype(np.float64) for leaf in ("dense", "activation"))
    directions, bias = (trace[output.enter(leaf)].astype(np.float64) for leaf in ("weight", "bias"))
    total = after @ directions + bias
    along = total / (total @ total or 1.0)
    rows = compute_norms(directions)
    return Neurons(lock(before), lock(after), lock(rows), lock(after * (directions @ along)), float(bias @ along))
