"""Add & Norm with numbers: what a sublayer adds to its input, other epsilons, what is left of a token's embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.layers import compute_angles, compute_norms
from bertviz_core.formula.address import Address
from bertviz_core.tracing.rewrites import find_epsilon
from bertviz_core.tracing.trace import Trace

ATTENTION, FEED_FORWARD = "attention.output", "output"  # the sublayers, by the module that adds
SUBLAYERS = {ATTENTION: "attention", FEED_FORWARD: "feed-forward"}


@dataclass(frozen=True, eq=False)
class Sums:
    """A sublayer's residual sum, token by token; float64, all (token,).

    skip, added, total: Euclidean lengths of the sublayer's input, of what it adds and of their sum; angles: between
    input and what is added, 0 to 180 degrees; NaN where one of them has no length.
    """

    skip: np.ndarray
    added: np.ndarray
    total: np.ndarray
    angles: np.ndarray


def measure_sums(trace: Trace, layer: int, sublayer: str) -> Sums:
    """The lengths and angles of one of SUBLAYERS. Where the residual connection was cut, the skip has length 0."""
    module = Address.in_layer(layer, sublayer)
    total, added = (trace[module.enter(leaf)].astype(np.float64) for leaf in ("residual", "dense"))
    others = [leaf for leaf in trace.step(module.enter("residual")).leaves if leaf.address != f"{module}.dense"]
    skip = sum((trace[leaf.address].astype(np.float64) for leaf in others), np.zeros_like(added))
    return Sums(compute_norms(skip), compute_norms(added), compute_norms(total), compute_angles(skip, added))


def read_epsilon(trace: Trace, norm: Address) -> float:
    """The ε with which a LayerNorm of the pass divided, which a change may have replaced; 0 without one.

    norm: such as `encoder.layer.0.output.LayerNorm`.
    """
    epsilon = find_epsilon(trace.step(norm.enter("normalized")))
    return float(epsilon.amount) if epsilon else 0.0


def normalize_with(x: np.ndarray, epsilon: float) -> np.ndarray:
    """A vector with mean 0 and variance 1, as LayerNorm does it with this epsilon, in float64."""
    x = np.asarray(x, dtype=np.float64)
    return (x - x.mean()) / np.sqrt(x.var() + epsilon)


def follow_direct_path(trace: Trace, token: int) -> tuple[list[str], np.ndarray]:
    """The product of the divisors 1 / sqrt(variance + epsilon) that one token's embedding has met after each place.

    Returns the places' names and the factors, in the order of the computation; gamma is left aside.
    """
    places = [
        (f"layer {layer} {name}", Address.in_layer(layer, f"{module}.LayerNorm"))
        for layer in range(trace.model.config.num_hidden_layers)
        for module, name in SUBLAYERS.items()
    ]
    squares = [float(trace[norm.enter("variance").fix(token=token)]) + read_epsilon(trace, norm) for _, norm in places]
    return [name for name, _ in places], np.cumprod(1 / np.sqrt(squares))
