"""LayerNorm with numbers: other epsilons, and what post-LayerNorm leaves of a token's embedding."""

from __future__ import annotations

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace


def normalize_with(x: np.ndarray, epsilon: float) -> np.ndarray:
    """A vector with mean 0 and variance 1, as LayerNorm does it with this epsilon, in float64."""
    x = np.asarray(x, dtype=np.float64)
    return (x - x.mean()) / np.sqrt(x.var() + epsilon)


def follow_direct_path(trace: Trace, token: int) -> tuple[list[str], np.ndarray]:
    """The product of the divisors 1 / sqrt(variance + epsilon) that one token's embedding has met after each place.

    Returns the places' names and the factors, in the order of the computation; gamma is left aside.
    """
    places = [
        (f"layer {layer} {name}", Address.in_layer(layer, f"{module}.LayerNorm.variance").fix(token=token))
        for layer in range(trace.model.config.num_hidden_layers)
        for name, module in (("attention", "attention.output"), ("feed-forward", "output"))
    ]
    variances = np.array([float(trace[address]) for _, address in places])
    return [name for name, _ in places], np.cumprod(1 / np.sqrt(variances + trace.model.config.layer_norm_eps))
