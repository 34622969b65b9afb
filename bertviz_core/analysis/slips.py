"""Slips in the documents, worked out on real vectors: what a formula gives as printed, and as it is meant."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.layers import list_stages
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

X = Address("embeddings.sum")  # what the forward-pass note calls X, but for the segment


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


def list_added(trace: Trace) -> tuple[tuple[Address, ...], tuple[Address, ...]]:
    """The addresses of what BERT adds in each layer's two residual sums: the layer's input, and attention's result."""
    layers = range(trace.model.config.num_hidden_layers)
    return list_stages(trace)[:-1], tuple(Address.in_layer(i, "attention.output.LayerNorm") for i in layers)
