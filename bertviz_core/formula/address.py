"""Addresses: one name for every tensor, slice and cell. The only parser and formatter.

`encoder.layer.3.attention.self.probs[head=5,query=2,key=7]`: a path (the Hugging Face module path without
`bert.`, plus leaves where that has no module), then 0-based indices by axis name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from bertviz_core.errors import AddressError

_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_INDEX = re.compile(r"([a-z_]+)=([0-9]{1,9})")
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")


@dataclass(frozen=True)
class Address:
    """A tensor (no indices), a slice of it (some axes fixed) or one cell (all axes fixed)."""

    path: str
    index: tuple[tuple[str, int], ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.path}[{','.join(f'{axis}={i}' for axis, i in self.index)}]" if self.index else self.path

    @property
    def at(self) -> dict[str, int]:
        """The fixed axes and their indices."""
        return dict(self.index)

    @property
    def layer(self) -> int | None:
        """The encoder layer the tensor belongs to, if any."""
        match = _LAYER.fullmatch(self.path)
        return int(match[1]) if match else None


def parse(text: str) -> Address:
    """Read an address. Raises AddressError, naming what cannot be read."""
    head, bracket, rest = text.strip().partition("[")
    if not _PATH.fullmatch(head):
        raise AddressError(f"{_shorten(text)} is not an address: expected a path such as embeddings.sum")
    if not bracket:
        return Address(head)
    if not rest.endswith("]"):
        raise AddressError(f"{_shorten(text)} is not an address: the bracket is not closed")
    pairs = []
    for part in rest[:-1].split(","):
        match = _INDEX.fullmatch(part.strip())
        if not match:
            raise AddressError(f"{_shorten(text)} is not an address: {_shorten(part)} should read axis=number")
        pairs.append((match[1], int(match[2])))
    if len({axis for axis, _ in pairs}) != len(pairs):
        raise AddressError(f"{_shorten(text)} fixes one axis twice")
    return Address(head, tuple(pairs))


def format_cell(path: str, at: Mapping[str, int]) -> str:
    """The address of a slice or cell: `at` gives indices by axis name, in the tensor's own order."""
    return str(Address(path, tuple(at.items())))


def format_cells(path: str, block: Mapping[str, range]) -> Iterator[str]:
    """The addresses of all cells in a block, the last axis fastest. block: the indices of every axis, in its order."""
    labels = [[f"{axis}={i}" for i in indices] for axis, indices in block.items()]
    return (f"{path}[{','.join(place)}]" if place else path for place in product(*labels))


def join_layer(layer: int, leaf: str) -> str:
    """The path of a tensor inside one encoder layer, e.g. (3, "attention.self.probs")."""
    return f"encoder.layer.{layer}.{leaf}"


def split_layer(path: str) -> tuple[int | None, str]:
    """The layer (None outside the encoder) and the rest of a path: the inverse of `layer_path`."""
    match = _LAYER.fullmatch(path)
    return (int(match[1]), match[2]) if match else (None, path)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
