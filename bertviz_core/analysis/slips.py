"""Slips in the documents, worked out on real vectors: what a formula gives as printed, and as it is meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.alignment import find_layer_outputs
from bertviz_core.analysis.notebook import compute_neurons, print_as_pytorch
from bertviz_core.formula.address import Address
from bertviz_core.programs.notebook import EPSILON_OF_CELL_46, EPSILON_OF_CELLS
from bertviz_core.tracing.trace import Trace

X = Address("embeddings.sum")  # what the forward-pass note calls X; in BERT with the segment


@dataclass(frozen=True)
class Seen:
    """What a slip changes where the document prints numbers.

    largest: the largest change of a number; changed: how many of all are printed with other digits.
    """

    largest: float
    changed: int
    count: int


def list_norm_inputs(trace: Trace) -> dict[str, Address]:
    """Every sum that a LayerNorm of the encoder reads, in the order of the pass: its address by a short name."""
    sums = {"emb": X}
    for layer in range(trace.model.config.num_hidden_layers):
        sums[f"L{layer} attention"] = Address.in_layer(layer, "attention.output.residual")
        sums[f"L{layer} FFN"] = Address.in_layer(layer, "output.residual")
    return sums


def compute_printed_sigma(x: np.ndarray) -> np.ndarray:
    """σ as the formula post prints it: the root covers 1/H alone. The last axis disappears."""
    x = np.asarray(x, dtype=np.float64)
    return np.sqrt(1 / x.shape[-1]) * np.square(x - x.mean(axis=-1, keepdims=True)).sum(axis=-1)


def compute_deviation(x: np.ndarray) -> np.ndarray:
    """The standard deviation, in float64. The last axis disappears."""
    return np.std(np.asarray(x, dtype=np.float64), axis=-1)


def measure_epsilon(x: np.ndarray, one: float, other: float) -> float:
    """The largest change of any number when the rows are normalized with another epsilon, before gamma and beta."""
    x = np.asarray(x, dtype=np.float64)
    largest = np.abs(x - x.mean(axis=-1, keepdims=True)).max(axis=-1)
    variance = x.var(axis=-1)
    return float((largest * np.abs(1 / np.sqrt(variance + one) - 1 / np.sqrt(variance + other))).max())


def measure_printed_epsilon(trace: Trace) -> Seen:
    """What the notebook's one other epsilon changes in layer 0's neurons, which In [49] prints."""
    one, other = (compute_neurons(trace, epsilon) for epsilon in (EPSILON_OF_CELLS, EPSILON_OF_CELL_46))
    changed = sum(a != b for a, b in zip(*map(print_as_pytorch, (one, other)), strict=True))
    return Seen(float(np.abs(one - other).max()), changed, one.size)


def list_meant(note: Trace) -> tuple[tuple[Address, ...], tuple[Address, ...]]:
    """Where the forward-pass note's two residual sums of each layer would find their sub-layer's own input.

    note: a trace of the note's program. First sums: the layer's input, which is X in the first layer; second sums: the
    first LayerNorm's output.
    """
    layers = range(note.model.config.num_hidden_layers)
    inputs = (Address("encoder.input"), *find_layer_outputs(note.program)[:-1])
    return inputs, tuple(Address.in_layer(i, "attention.output.LayerNorm") for i in layers)
