"""Which cells of a tensor: the indices along some of its axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from torch import Tensor

from bertviz_core.formula.dims import Axis, Dims

At = Mapping[Axis, range]  # the axes that are narrowed, and to which indices


class Parted(Mapping[str, Tensor]):
    """Tensors by address of which a part can be had without the rest.

    spare: the addresses whose tensors nobody reads again: what is computed from them may take their place in memory.
    """

    spare: frozenset[str] = frozenset()

    @abstractmethod
    def part(self, address: str, dims: Dims, at: At) -> Tensor:
        """Only the cells `at` of a tensor, every axis kept in place."""

    def look_up(self, address: str, ids: Tensor) -> Tensor:
        """Rows of a tensor by their numbers, as `tensor[ids]`."""
        return self[address][ids]


def read_part(env: Mapping[str, Tensor], address: str, dims: Dims, at: At) -> Tensor:
    """The cells `at` of one of the tensors, without the rest of it where that can be."""
    return env.part(address, dims, at) if isinstance(env, Parted) else narrow(env[address], dims, at)


def narrow(tensor: Tensor, dims: Dims, at: At) -> Tensor:
    """Only the cells `at`, every axis kept in place."""
    for place, axis in enumerate(dims):
        if axis in at and tensor.shape[place] != len(at[axis]):
            tensor = tensor.narrow(place, at[axis].start, len(at[axis]))
    return tensor


def restrict(at: At, dims: Dims) -> At:
    """The part of `at` that speaks of these axes."""
    return {axis: cells for axis, cells in at.items() if axis in dims}
