"""Addresses: one name for every tensor, slice and cell. The only parser and formatter.

`encoder.layer.3.output.LayerNorm[token=2,hidden=7]`: a path (the Hugging Face module path without
`bert.`, plus leaves where that has no module), then 0-based indices by axis name. What training makes of a parameter
has that parameter's path behind a word and a colon, as in `grad:embeddings.word_embeddings.weight[vocab=19,hidden=28]`.
Text becomes an Address where it comes in, and an Address becomes text where it is shown, put into a URL, or used
as a key.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass

from bertviz_core.errors import AddressError

GRADIENT, UPDATE, FIRST, SECOND = "grad", "update", "first", "second"  # of a parameter in one step of training
LOSS = "J"  # of one step of training; what it is made from is further down this path
_PATH = re.compile(rf"(({GRADIENT}|{UPDATE}|{FIRST}|{SECOND}):)?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_INDEX = re.compile(r"([a-z_]+)=([0-9]{1,9})")
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")


@dataclass(frozen=True)
class Address:
    """A tensor (no indices), a slice of it (some axes fixed) or one cell (all axes fixed)."""

    path: str
    index: tuple[tuple[str, int], ...] = ()

    @classmethod
    def in_layer(cls, layer: int, leaf: str) -> Address:
        """A tensor inside one encoder layer, e.g. (3, "output.LayerNorm")."""
        return cls(f"encoder.layer.{layer}.{leaf}")

    def __str__(self) -> str:
        return f"{self.path}[{','.join(f'{axis}={i}' for axis, i in self.index)}]" if self.index else self.path

    @property
    def at(self) -> dict[str, int]:
        """The fixed axes and their indices."""
        return dict(self.index)

    @property
    def made(self) -> str:
        """What training makes of the parameter: "grad", "update", "first" or "second"; "" for the tensor itself."""
        return self.path.rpartition(":")[0]

    @property
    def of_training(self) -> bool:
        """Whether it names a number of a step of training, which is in no forward pass."""
        return bool(self.made) or self.path.partition(".")[0] == LOSS

    @property
    def parameter(self) -> Address:
        """The parameter that it was made of, at the same place; itself, where it is a tensor."""
        return Address(self.path.rpartition(":")[2], self.index)

    @property
    def layer(self) -> int | None:
        """The encoder layer the tensor belongs to, if any."""
        match = _LAYER.fullmatch(self.path)
        return int(match[1]) if match else None

    @property
    def leaf(self) -> str:
        """The path inside the layer; outside the encoder the whole path."""
        match = _LAYER.fullmatch(self.path)
        return match[2] if match else self.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def whole(self) -> Address:
        """The tensor, no axis fixed."""
        return Address(self.path)

    def enter(self, leaf: str) -> Address:
        """A tensor further down the path, e.g. the mean of a LayerNorm."""
        return Address(f"{self.path}.{leaf}")

    def fix(self, **at: int) -> Address:
        """The same with these axes fixed as well, behind those that are; one that is fixed gets its new index."""
        return Address(self.path, tuple({**self.at, **at}.items()))

    def move(self, layer: int, head: int) -> Address:
        """The same place in another layer and head, as far as it is in one."""
        there = Address.in_layer(layer, self.leaf).path if self.layer is not None else self.path
        at = self.at
        return Address(there, tuple({**at, **({"head": head} if "head" in at else {})}.items()))

    def without(self, *axes: str) -> Address:
        """The same with these axes free."""
        return Address(self.path, tuple(pair for pair in self.index if pair[0] not in axes))

    def sort(self, axes: Iterable[str]) -> Address:
        """The same with its indices in the order of the tensor's axes. Raises KeyError for an index of no such axis."""
        place = {axis: i for i, axis in enumerate(axes)}
        return Address(self.path, tuple(sorted(self.index, key=lambda pair: place[pair[0]])))


@dataclass(frozen=True)
class Block:
    """The cells of a box cut out of one tensor, the last axis fastest.

    sides: the name and the indices of every axis, in the tensor's order.
    """

    path: str
    sides: tuple[tuple[str, range], ...]

    def __len__(self) -> int:
        return math.prod(len(indices) for _, indices in self.sides)

    def __getitem__(self, place: int) -> Address:
        """The address of one of its cells."""
        index: list[tuple[str, int]] = []
        for axis, indices in reversed(self.sides):
            place, here = divmod(place, len(indices))
            index.append((axis, indices[here]))
        if place:
            raise IndexError("there is no such cell in the block")
        return Address(self.path, tuple(reversed(index)))

    def __contains__(self, cell: Address) -> bool:
        return cell.path == self.path and all(
            axis == own and i in indices for (axis, i), (own, indices) in zip(cell.index, self.sides, strict=True)
        )

    def write(self) -> list[str]:
        """The addresses of its cells as text, without making each of them."""
        if not self.sides:
            return [self.path]
        texts = [f"{self.path}["]
        for (axis, indices), after in zip(self.sides, [","] * (len(self.sides) - 1) + ["]"], strict=True):
            texts = [f"{text}{axis}={i}{after}" for text in texts for i in indices]
        return texts


Where = str | Address  # as it is written, or read already


LONGEST_ADDRESS = 1000  # characters


def read_address(where: Where) -> Address:
    """An address that came in as text or as one already. Raises AddressError, naming what cannot be read."""
    if isinstance(where, Address):
        return where
    if not isinstance(where, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
        raise AddressError(f"{reprlib.repr(where)} is not an address: expected text, such as 'embeddings.sum'")
    return parse(where)


def parse(text: str) -> Address:
    """Read an address. Raises AddressError, naming what cannot be read."""
    if len(text) > LONGEST_ADDRESS:
        raise AddressError(f"{_quote(text)} is not an address: none has more than {LONGEST_ADDRESS} characters")
    head, bracket, rest = text.strip().partition("[")
    if not _PATH.fullmatch(head):
        raise AddressError(f"{_quote(text)} is not an address: expected a path such as embeddings.sum")
    if not bracket:
        return Address(head)
    if not rest.endswith("]"):
        raise AddressError(f"{_quote(text)} is not an address: the bracket is not closed")
    pairs: list[tuple[str, int]] = []
    for part in rest[:-1].split(","):
        match = _INDEX.fullmatch(part.strip())
        if not match:
            raise AddressError(f"{_quote(text)} is not an address: {_quote(part)} should read axis=number")
        pairs.append((match[1], int(match[2])))
    if len({axis for axis, _ in pairs}) != len(pairs):
        raise AddressError(f"{_quote(text)} fixes one axis twice")
    return Address(head, tuple(pairs))


def _quote(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
