"""Batches of a run in the order of their steps, drawn ahead by other processes where some are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from torch.utils.data import DataLoader, Dataset

from training.batches import Batch

Drawn = tuple[str, Batch]
_AHEAD = 4  # batches that each process keeps ready


class _Steps(Dataset[Drawn]):
    """The batch of a step, by its number."""

    def __init__(self, draw: Callable[[int], Drawn]) -> None:
        self._draw = draw

    def __getitem__(self, step: int) -> Drawn:
        return self._draw(step)


def feed(draw: Callable[[int], Drawn], step: int, workers: int) -> Iterator[Drawn]:
    """The batches from a step on, without end; how many processes draw them changes nothing of what they are."""
    ahead = _AHEAD if workers else None
    return iter(
        DataLoader(
            _Steps(draw),
            batch_size=None,
            sampler=count(step),
            num_workers=workers,
            prefetch_factor=ahead,
            collate_fn=_leave,
        )
    )


def _leave(drawn: Any) -> Any:
    return drawn
