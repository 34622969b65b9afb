"""What nodes make and multiply, as fast as PyTorch can."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import torch
from torch import Tensor

# Of so few rows PyTorch computes a product two to three times as fast from the other side.
FEW_ROWS = 4


@lru_cache(256)
def make_constant(amount: float) -> Tensor:
    """A number as a tensor () of float64, which gradients may pass too: a size, epsilon, what masked scores are."""
    with torch.inference_mode(False):
        return torch.tensor(amount, dtype=torch.float64)


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """left @ right; of the same sizes always summed in the same order."""
    if left.ndim == right.ndim == 2 and len(left) <= FEW_ROWS:
        return (right.mT @ left.mT).mT.contiguous()
    return left @ right


def list_numbers(tensor: Tensor) -> list[float]:
    """A tensor's numbers one after the other, the last axis fastest, as Python's own: whole ones stay whole."""
    return cast(list[float], tensor.flatten().tolist())  # pyright: ignore[reportUnknownMemberType] - a list of anything
