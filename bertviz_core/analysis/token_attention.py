"""One token's attention: its weights in every head, what it takes from every key, what every head adds to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from bertviz_core.analysis.attention import share_sum, split_by_head
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.formula.address import Address
from bertviz_core.formula.stages import Stage
from bertviz_core.programs.names import CONTEXT, QUERIES, SELF_ATTENTION
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace


def read_weights(trace: Trace, token: int) -> np.ndarray:
    """A token's attention weights in every head of every layer: (layer, head, key), each row summing to 1.

    Read without the other queries' rows, which for a long input are hundreds of times as much; remembered.
    """
    layers = range(trace.model.config.num_hidden_layers)
    return remember(
        trace, f"weights of {token}", lambda: lock(np.stack([_read_layer(trace, layer, token) for layer in layers]))
    )


def _read_layer(trace: Trace, layer: int, token: int) -> np.ndarray:
    """(head, key) weights of one query, by the program's own steps in float64 on one row of queries."""
    steps = [step for step in trace.program.steps if step.stage is Stage.ATTENTION and step.layer == layer]
    if any(trace.overrides(step.address) for step in steps):
        return trace[Address(steps[-1].address).fix(query=token)]
    query = QUERIES.in_layer(layer)
    read = {leaf.address for step in steps for leaf in step.leaves} - {query.path, *(step.address for step in steps)}
    env = {address: torch.tensor(trace[address].astype(np.float64)) for address in read}
    env[query.path] = torch.tensor(trace.recomputed(query.fix(query=token))[:, None])
    with torch.inference_mode():
        for step in steps:
            env[step.address] = step.expr.value(env)
        return env[steps[-1].address][:, 0].to(trace.model.dtype).numpy()


@dataclass(frozen=True, eq=False)
class Taken:
    """How much a token takes from every key in every head of a layer.

    weights: (head, key) attention weights, 0 to 1 unless a change put others; lengths: (head, key) Euclidean lengths of
    the values; real: the keys that are no padding.
    """

    weights: np.ndarray
    lengths: np.ndarray
    real: tuple[int, ...]

    @property
    def longest(self) -> float:
        """The length of the layer's longest value, padding left out."""
        return float(self.lengths[:, self.real].max(initial=0.0))

    @property
    def taken(self) -> np.ndarray:
        """(head, key) lengths of the weighted values: a large weight on a short value takes little.

        Of a weight below 0, which a change can put, the weighted value points the other way and is as long.
        """
        return np.abs(self.weights) * self.lengths


def measure_taken(trace: Trace, layer: int, token: int) -> Taken:
    """A token's weights and the lengths of the values that they weigh, in float64."""
    own = SELF_ATTENTION.in_layer(layer)
    weights = trace[own.enter("probs").fix(query=token)].astype(np.float64)
    return Taken(weights, compute_norms(trace[own.enter("value")]), trace.encoding.real)


@dataclass(frozen=True, eq=False)
class OutputParts:
    """One token's attention output as a sum of vectors: one of every head, and the bias.

    heads: (head, hidden), each head's output times its rows of the output matrix; bias: (hidden,).
    """

    heads: np.ndarray
    bias: np.ndarray

    @property
    def vectors(self) -> np.ndarray:
        """(part, hidden), the bias last."""
        return np.vstack([self.heads, self.bias])

    @property
    def total(self) -> np.ndarray:
        """(hidden,) what they add up to."""
        return self.vectors.sum(axis=0)

    @property
    def lengths(self) -> np.ndarray:
        """(part,) Euclidean lengths, the bias's last."""
        return compute_norms(self.vectors)

    @property
    def shares(self) -> np.ndarray:
        """(part,) how much of the sum each makes up along its direction, the bias's last; together 1.

        Below 0 for a part that points against the sum.
        """
        return share_sum(self.vectors)

    @property
    def share(self) -> float:
        """What the parts make up of their sum together: all of it, or nothing where they sum to 0."""
        return float(self.total @ self.total > 0)


def split_output(trace: Trace, layer: int, token: int) -> OutputParts:
    """What every head, and the bias, add to one token's attention output, in float64."""
    output = Address.in_layer(layer, "attention.output.dense")
    context = trace[CONTEXT.in_layer(layer).fix(token=token)]
    heads = split_by_head(context, trace[output.enter("weight")], trace.model.config.num_attention_heads)
    return OutputParts(heads, trace[output.enter("bias")].astype(np.float64))
