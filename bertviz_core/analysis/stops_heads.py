"""The stops at which a head collects from the values, and all heads become one vector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.claims import stands_out
from bertviz_core.analysis.digits import fit_product, fit_results, fit_sum
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.stop_numbers import Collected, Joined
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.tracing.trace import Trace

_FINE = 5  # decimals of the numbers that are only drawn


def collect_values(trace: Trace, spot: Spot, hidden: int) -> Collected:
    """The component of the chosen head's output that moves a component of the token's vector most, value by value."""
    own, width = SELF_ATTENTION.in_layer(spot.layer), trace.model.config.head_dim
    products = _multiply_concatenated(trace, spot, hidden)[spot.head * width : (spot.head + 1) * width]
    component = find_strongest(products)
    shares = trace[own.enter("probs").fix(head=spot.head, query=spot.token)].astype(np.float64)
    values = trace[own.enter("value").fix(head=spot.head, head_dim=component)].astype(np.float64)
    total = float(trace[own.enter("context").fix(token=spot.token, concat=spot.head * width + component)])
    parts = shares * values + 0.0
    inside, outside = split_rows(spot, len(parts))
    largest, others = find_strongest(parts), float(parts[outside].sum())
    fitted = fit_sum([*list_values(parts[inside]), others], total, (1, 2))
    rows = [((float(shares[i]), float(values[i])), float(parts[i])) for i in spot.window]
    factors = fit_results(rows, fitted.terms, lambda share, value: share * value)
    alone, first = (stands_out(np.abs(of), at, format_number) for of, at in ((products, component), (parts, largest)))
    return Collected(
        component,
        hidden,
        alone,
        tuple(spot.window),
        list_values(shares[inside]),
        list_values(parts[inside]),
        largest,
        first,
        float(parts[largest]),
        others,
        total,
        replace(fitted, factors=factors),
    )


def join_heads(trace: Trace, spot: Spot, hidden: int, collected: int) -> Joined:
    """One component of what all heads become together. collected: which of the chosen head's numbers is followed."""
    config, out = trace.model.config, Address.in_layer(spot.layer, "attention.output.dense")
    at = spot.head * config.head_dim + collected
    vector, weights = _read_concatenated(trace, spot, hidden)
    products = vector * weights
    parts = products.reshape(config.num_attention_heads, config.head_dim).sum(axis=1)
    total, bias = float(parts.sum()), float(trace[out.enter("bias").fix(hidden=hidden)])
    value = float(trace[out.fix(token=spot.token, hidden=hidden)])
    digits = fit_sum([total, bias], value)
    fine = fit_sum(list_values(parts), total).terms
    term = float(vector[at]), float(weights[at]), float(products[at])
    return Joined(
        hidden,
        spot.head,
        config.num_attention_heads,
        config.head_dim,
        (at, *term, fit_product(term[:2], term[2], fine)),
        tuple(vector.round(_FINE).tolist()),
        tuple(weights.round(_FINE).tolist()),
        list_values(parts),
        total,
        bias,
        value,
        replace(digits, factors=fine),
    )


def split_rows(spot: Spot, total: int) -> tuple[slice, np.ndarray]:
    """The window's rows, and which ones lie outside it."""
    inside = slice(spot.window.start, spot.window.stop)
    outside = np.ones(total, dtype=bool)
    outside[inside] = False
    return inside, outside


def list_values(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())


def _multiply_concatenated(trace: Trace, spot: Spot, hidden: int) -> np.ndarray:
    vector, weights = _read_concatenated(trace, spot, hidden)
    return vector * weights


def _read_concatenated(trace: Trace, spot: Spot, hidden: int) -> tuple[np.ndarray, np.ndarray]:
    """The concatenated heads at the chosen token, and their weights for a component: (concat,) each."""
    context = SELF_ATTENTION.in_layer(spot.layer).enter("context").fix(token=spot.token)
    weight = Address.in_layer(spot.layer, "attention.output.dense").enter("weight").fix(hidden=hidden)
    return trace[context].astype(np.float64), trace[weight].astype(np.float64)
