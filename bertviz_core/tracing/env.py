"""A trace's tensors as expressions read them: whole, or in part where the rest would have to be computed for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from bertviz_core.formula.cells import At, Parted, narrow
from bertviz_core.formula.dims import TOKEN, Dims
from bertviz_core.formula.steps import Program
from bertviz_core.formula.tensors import FEW_ROWS

ROWS = FEW_ROWS  # tokens in a block of rows: more cost one look more, fewer cost more where all are looked at


class TraceEnv(Parted):
    """The trace's tensors by address, as expressions read them.

    What it has handed out it holds, so that one request computes nothing twice, however small the cache is.
    """

    def __init__(
        self,
        program: Program,
        whole: Callable[[str, TraceEnv], Tensor],
        block: Callable[[str, int, TraceEnv], Tensor],
        recent: dict[str, Tensor] | None = None,
    ) -> None:
        """whole, block: find a tensor, or one block of what is computed by rows; recent: what is held already."""
        self._program, self._whole, self._block = program, whole, block
        self._recent = {} if recent is None else recent
        self._blocks: dict[tuple[str, int], Tensor] = {}

    def __getitem__(self, address: str) -> Tensor:
        found = self._recent.get(address)
        if found is None:
            found = self._recent[address] = self._whole(address, self)
        return found

    def part(self, address: str, dims: Dims, at: At) -> Tensor:
        if address not in self._program.by_rows or TOKEN not in at:
            return narrow(self[address], dims, at)
        tokens = at[TOKEN]
        first, last = tokens[0] // ROWS, tokens[-1] // ROWS
        rows = self.rows(address, range(first, last + 1))
        return narrow(rows[tokens.start - first * ROWS :][: len(tokens)], dims, at)

    def rows(self, address: str, numbers: range) -> Tensor:
        """The rows in these blocks of a step that is computed by rows."""
        for number in numbers:
            if (address, number) not in self._blocks:
                self._blocks[address, number] = self._block(address, number, self)
        found = [self._blocks[address, number] for number in numbers]
        return found[0] if len(found) == 1 else torch.cat(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._program.by_address)

    def __len__(self) -> int:
        return len(self._program.by_address)
