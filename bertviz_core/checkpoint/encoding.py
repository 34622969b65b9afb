"""One input as a model reads it, and which of its tokens count."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Encoding:
    """One input as the model reads it; four numbers per token, and the token's text.

    tokens: (token,) text; ids, segments, positions, mask: (token,) whole numbers, mask 1 for real and 0 for padding;
    positions: counted from 0, unless others are given.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    mask: tuple[int, ...]
    positions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.positions:
            object.__setattr__(self, "positions", tuple(range(len(self.ids))))

    @property
    def real(self) -> tuple[int, ...]:
        """The positions of the tokens that count: where the mask is 1.

        The others, which are padding, are drawn, but are in no mean, count, ranking, largest or nearest.
        """
        return tuple(i for i, seen in enumerate(self.mask) if seen)

    def __len__(self) -> int:
        return len(self.ids)
