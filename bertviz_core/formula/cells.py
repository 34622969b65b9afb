"""Which cells of a tensor: the indices along some of its axes."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from bertviz_core.formula.dims import Axis, Dims

At = Mapping[Axis, range]  # the axes that are narrowed, and to which indices


def narrow(tensor: Tensor, dims: Dims, at: At) -> Tensor:
    """Only the cells `at`, every axis kept in place."""
    for place, axis in enumerate(dims):
        if axis in at and tensor.shape[place] != len(at[axis]):
            tensor = tensor.narrow(place, at[axis].start, len(at[axis]))
    return tensor


def restrict(at: At, dims: Dims) -> At:
    """The part of `at` that speaks of these axes."""
    return {axis: cells for axis, cells in at.items() if axis in dims}
