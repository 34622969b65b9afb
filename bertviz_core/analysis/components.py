"""Who wrote a number: what each head, each feed-forward block, the embeddings and the biases add to it directly.

Directly: through residual sums and LayerNorms alone, whose deviations are held. What a block reads was written by
blocks below it, and is not followed further. A head's amount is that of its values without their bias (Elhage et al.
2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analysis.carried import pull_back, read_carried, split_change
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.carry import Carry
from bertviz_core.formula.steps import Step
from bertviz_core.programs.names import VALUES, Leaf
from bertviz_core.tracing.doubled import Doubled
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

ACTIVATION = Leaf("intermediate.activation")


@dataclass(frozen=True, eq=False)
class Components:
    """What the components of a model add to a number.

    heads: (layer, head, token) what each head fetches from each token; neurons: (layer, intermediate) of the
    feed-forward blocks; embeddings: of the vector that the token starts with; biases: of all biases on the way, and of
    what changes put there; changed: the latter alone.
    """

    heads: np.ndarray
    neurons: np.ndarray
    embeddings: float
    biases: float
    changed: float = 0.0

    @property
    def blocks(self) -> np.ndarray:
        """(layer,) of the feed-forward blocks."""
        return self.neurons.sum(axis=-1)

    @property
    def total(self) -> float:
        """All of them together: the number."""
        return float(self.heads.sum() + self.blocks.sum()) + self.embeddings + self.biases


def split_components(trace: Trace, weights: Mapping[Address, float], doubled: Doubled | None = None) -> Components:
    """What each component adds to a sum of numbers. weights: how many times each cell counts.

    Raises InputError for a number that nothing carries, and for a program whose layers have other parts.
    """
    doubled, carried = doubled or read_carried(trace), trace.program.carried
    layers, source = range(trace.model.config.num_hidden_layers), trace.program.start
    values = [VALUES.in_layer(layer).path for layer in layers]
    blocks = [ACTIVATION.in_layer(layer).path for layer in layers]
    if not carried.keys() >= {*values, *blocks}:
        raise InputError(
            "This program's layers have no heads and feed-forward block to tell apart. Choose the program bert."
        )
    pulled = pull_back(doubled, weights, {*values, *blocks, source})
    shares = [_share_values(doubled, carried, address, pulled.slopes.get(address)) for address in values]
    written = [_share(doubled[address], pulled.slopes.get(address)) for address in blocks]
    return Components(
        lock(np.stack([heads.numpy() for heads, _ in shares])),
        lock(np.stack([amounts.sum(dim=0).numpy() for amounts in written])),
        float(_share(doubled[source], pulled.slopes.get(source)).sum()),
        pulled.biases + sum(biases for _, biases in shares),
        pulled.changed,
    )


def _share(tensor: Tensor, slope: Tensor | None) -> Tensor:
    """What each cell of a tensor adds to the number: nothing, where the way back did not come to it."""
    return torch.zeros_like(tensor) if slope is None else tensor * slope


def _share_values(
    doubled: Doubled, carried: Mapping[str, Step], address: str, slope: Tensor | None
) -> tuple[Tensor, float]:
    """(head, token) what a layer's values add, without their bias; and what the bias adds.

    A number that a change put among the values has no bias in it.
    """
    values, step = doubled[address], carried[address]
    nothing = {leaf.address: torch.zeros_like(doubled[leaf.address]) for leaf in step.leaves if leaf.address in carried}
    own = Carry(doubled, nothing, torch.ones((), dtype=torch.float64)).read(step.expr)
    bias = own.expand_as(values).clone()
    for change in doubled.trace.overrides(address):
        bias[change.index] *= split_change(change)[0]
    return _share(values - bias, slope).sum(dim=-1), float(_share(bias, slope).sum())
