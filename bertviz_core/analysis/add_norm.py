"""Add & Norm with numbers: what a sublayer adds to its input, other epsilons, what is left of a token's embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.layers import compute_angles, compute_norms
from bertviz_core.analysis.made_from import find_factor
from bertviz_core.formula.address import Address
from bertviz_core.tracing.rewrites import find_epsilon
from bertviz_core.tracing.trace import Trace

ATTENTION, FEED_FORWARD = "attention.output", "output"  # the sublayers, by the module that adds
SUBLAYERS = {ATTENTION: "attention", FEED_FORWARD: "feed-forward"}
_WORDS = (
    (25, "almost the same way"),
    (79, "partly the same way"),
    (100, "almost a right angle"),
    (155, "partly against it"),
    (181, "almost the opposite way"),
)  # for angles, each up to so many degrees
SHOWN = 12  # tokens whose sums are shown at once


def measure_moments(vector: np.ndarray) -> tuple[float, float]:
    """A vector's mean and standard deviation, in float64."""
    numbers = vector.astype(np.float64)
    return float(numbers.mean()), float(numbers.std())


@dataclass(frozen=True, eq=False)
class Sums:
    """A sublayer's residual sum, token by token; float64, all (token,).

    was, added, total: Euclidean lengths of the sublayer's input, of what it adds and of their sum; angles: between
    input and what is added, 0 to 180 degrees; NaN where one of them has no length.
    """

    was: np.ndarray
    added: np.ndarray
    total: np.ndarray
    angles: np.ndarray


def measure_sums(trace: Trace, layer: int, sublayer: str) -> Sums:
    """The lengths and angles of one of SUBLAYERS. Where the residual connection was cut, the input has length 0."""
    module = Address.in_layer(layer, sublayer)
    total, added = (trace[module.enter(leaf)].astype(np.float64) for leaf in ("residual", "dense"))
    others = [leaf for leaf in trace.step(module.enter("residual")).leaves if leaf.address != f"{module}.dense"]
    was = sum((trace[leaf.address].astype(np.float64) for leaf in others), np.zeros_like(added))
    return Sums(compute_norms(was), compute_norms(added), compute_norms(total), compute_angles(was, added))


def name_direction(angle: float) -> str:
    """An angle of 0 to 180 degrees in words; one way for all that are written alike."""
    return next(words for end, words in _WORDS if round(angle) <= end)


def adds_input(trace: Trace, module: Address) -> bool:
    """Whether the program adds a sublayer's input to its output. module: such as `encoder.layer.0.output`."""
    return len(trace.step(module.enter("residual")).leaves) > 1


def is_skipped(trace: Trace, layer: int) -> bool:
    """Whether a change has a layer give what it takes."""
    return not gives_normalized(trace, Address.in_layer(layer, FEED_FORWARD).enter("LayerNorm"))


def gives_normalized(trace: Trace, norm: Address) -> bool:
    """Whether the program makes a LayerNorm's result from what it normalized; not where a change skips its layer."""
    return norm.enter("normalized").path in {leaf.address for leaf in trace.step(norm).leaves}


def is_passed_on(trace: Trace, layer: int) -> bool:
    """Whether the program adds what comes into a layer at both of its sublayers, and normalizes both sums."""
    modules = [Address.in_layer(layer, sublayer) for sublayer in SUBLAYERS]
    return all(adds_input(trace, each) and gives_normalized(trace, each.enter("LayerNorm")) for each in modules)


def tell_cut(trace: Trace) -> str:
    """What attention rollout does about the residual connections that a change cut, where one did."""
    cut = any(not is_passed_on(trace, layer) for layer in range(trace.model.config.num_hidden_layers))
    return "Residual connections that a change cuts, and skipped layers, are counted as before." if cut else ""


def is_normal(rows: np.ndarray) -> bool:
    """Whether every row has mean 0 and variance 1; a row of equal numbers, for one, cannot be given them."""
    return np.allclose(rows.mean(axis=-1), 0, atol=1e-3) and np.allclose(rows.var(axis=-1), 1, atol=1e-3)


def read_epsilon(trace: Trace, norm: Address) -> float:
    """The ε with which a LayerNorm of the pass divided, which a change may have replaced; 0 without one.

    norm: such as `encoder.layer.0.output.LayerNorm`.
    """
    epsilon = find_epsilon(trace.step(norm.enter("normalized")))
    return float(epsilon.amount) if epsilon else 0.0


def normalize_with(x: np.ndarray, epsilon: float) -> np.ndarray:
    """A vector with mean 0 and variance 1, as LayerNorm does it with this epsilon, in float64; 0 if all are equal."""
    x = np.asarray(x, dtype=np.float64)
    if not np.ptp(x):
        return np.zeros_like(x)
    return (x - x.mean()) / np.sqrt(x.var() + epsilon)


def follow_direct_path(trace: Trace, token: int) -> tuple[list[str], np.ndarray]:
    """The product of the divisors 1 / sqrt(variance + epsilon) that one token's embedding has met after each place.

    Returns the places' names and the factors, in the order of the computation; gamma is left aside. The factor is 0
    behind a residual connection that a change cut, and where it put other numbers; where it multiplies, that counts;
    a skipped layer changes nothing.
    """
    factors, factor = dict[str, float](), 1.0
    for layer in range(trace.model.config.num_hidden_layers):
        given = factor
        for module, name in SUBLAYERS.items():
            factor = _hand_on(trace, Address.in_layer(layer, module), token, given, factor)
            factors[f"layer {layer} {name}"] = factor
    return list(factors), np.array(list(factors.values()))


def _hand_on(trace: Trace, module: Address, token: int, given: float, factor: float) -> float:
    """The factor behind a sublayer's LayerNorm. given: that of the layer's input; factor: of the sublayer's."""
    norm = module.enter("LayerNorm")
    total, normalized, result = (
        find_factor(trace, each.fix(token=token)) for each in (module.enter("residual"), norm.enter("normalized"), norm)
    )
    if not gives_normalized(trace, norm):
        return given * result
    if not adds_input(trace, module) or not total * normalized * result:
        return 0.0
    square = float(trace[norm.enter("variance").fix(token=token)]) + read_epsilon(trace, norm)
    return factor * total * normalized * result / math.sqrt(square)
