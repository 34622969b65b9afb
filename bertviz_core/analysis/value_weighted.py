"""How much of one token a layer's attention brings to another: the weight alone, or how long what it weighs is.

A large weight on a short vector brings little. So three readings, each with more of the layer in it: the weight; the
length of what is added, values and W_O counted (Kobayashi et al. 2020, Attention Is Not Only a Weight); its length in
what the block gives, residual connection and LayerNorm counted too (Kobayashi et al. 2021, Incorporating Residual and
Normalization Layers). Lengths do not add up, as the vectors do; what biases add came from no token, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analysis.carried import carry_on, read_carried
from bertviz_core.analysis.layers import list_stages
from bertviz_core.errors import InputError
from bertviz_core.programs.names import ATTENTION_WEIGHTS, VALUES, Leaf
from bertviz_core.tracing.doubled import Doubled
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

ADDED, GIVEN = Leaf("attention.output.dense"), Leaf("attention.output.LayerNorm")


@dataclass(frozen=True, eq=False)
class Readings:
    """One layer's attention in three readings, each (query, key).

    weights: mean over heads; values: the length of the sum over heads of weight times value times W_O, the values'
    bias counted with them; residual: the length of that and, of the token itself, of the block's input, less its mean,
    divided by LayerNorm's deviation and scaled by γ.
    """

    weights: np.ndarray
    values: np.ndarray
    residual: np.ndarray


def read_attention(trace: Trace, layer: int, doubled: Doubled | None = None) -> Readings:
    """A layer's three readings. doubled: the pass as `read_carried` gives it, if at hand."""
    parts = carry_block(trace, layer, doubled).values()
    lengths = (torch.linalg.vector_norm(each[:-1], dim=-1).T.numpy() for each in parts)
    weights = trace[ATTENTION_WEIGHTS.in_layer(layer)].mean(axis=0, dtype=np.float64)
    return Readings(*map(lock, (weights, *lengths)))


def carry_block(trace: Trace, layer: int, doubled: Doubled | None = None) -> dict[str, Tensor]:
    """What each token brings to a layer's attention block: the parts, (source, token, hidden), the biases' last, of
    what attention adds, and of what the block gives; by address, in this order.

    Raises InputError for a text of more than `carried.MOST_TOKENS` tokens, and for a program whose layers have other
    parts.
    """
    values, added, given = (leaf.in_layer(layer).path for leaf in (VALUES, ADDED, GIVEN))
    if not trace.program.carried.keys() >= {values, added, given}:
        raise InputError("This program's layers have no values and LayerNorm to weigh by. Choose the program bert.")
    starts = {list_stages(trace)[layer].path: 0, values: 1}
    parts = dict(carry_on(doubled or read_carried(trace), starts, {added, given}))
    return {address: parts[address] for address in (added, given)}
