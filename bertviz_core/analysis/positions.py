"""Positions as vectors: the sinusoidal ones that are computed, to stand beside BERT's, which are learned."""

from __future__ import annotations

import numpy as np
import torch

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HIDDEN
from bertviz_core.formula.document_nodes import BASE, Sinusoid
from bertviz_core.formula.nodes import Constant
from bertviz_core.programs.bert import POSITION_IDS

LEARNED = Address("embeddings.position_embeddings.weight")


def compute_sinusoids(positions: int, hidden: int) -> np.ndarray:
    """The encoder article's position vectors, (position, hidden) in float64.

    Component 2i is sin(pos / 10000^(2i/d)), component 2i + 1 the cosine of the same (Vaswani et al. 2017, sec. 3.5).
    """
    table = Sinusoid(POSITION_IDS, HIDDEN, Constant("d", hidden), torch.float64)
    return table.apply(torch.arange(positions)).numpy()


def compute_wavelength(component: int, hidden: int) -> float:
    """How many positions pass until a component of a sinusoidal vector is the same again."""
    return float(2 * np.pi * BASE ** (component // 2 * 2 / hidden))


def average_at_distance(cosines: np.ndarray, distance: int) -> float:
    """The mean over all pairs of positions that are so far apart, from the (position, position) cosines; over
    those that have one, where a vector has no direction."""
    found = np.diagonal(cosines, distance)
    return float(found.mean(where=~np.isnan(found)))
