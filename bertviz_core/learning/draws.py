"""Lines 3 and 4 of E-Training: which tokens of a sentence are hidden, drawn from one seeded generator."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.tokenizer import Tokenizer
from bertviz_core.errors import TrainingError
from bertviz_core.learning.settings import Settings

MAX_DRAWS = 1000  # that hide nothing, one after the other
MASKED_SHARE, REPLACED_SHARE = 0.8, 0.1  # of the drawn tokens, in practice: become [MASK], become another piece


@dataclass(frozen=True)
class Draw:
    """hidden: the positions whose words are asked for, in order; masked_ids: (token,) the ids that the model reads."""

    hidden: tuple[int, ...]
    masked_ids: tuple[int, ...]


class Drawer:
    """Draws one sentence after the other; the same settings give the same draws, whatever the weights are."""

    def __init__(self, tokenizer: Tokenizer, settings: Settings) -> None:
        self._tokenizer, self._settings = tokenizer, settings
        self._generator = torch.Generator().manual_seed(settings.seed)
        self._pieces = [
            i for i, token in enumerate(tokenizer.vocabulary) if token and token not in tokenizer.special_tokens
        ]

    def draw(self, encoding: Encoding) -> Draw:
        """Hide tokens of a sentence. Raises TrainingError where p_mask is so small that none is ever drawn."""
        maskable = self._tokenizer.maskable(encoding)
        for _ in range(MAX_DRAWS):
            numbers = self._random(len(maskable))
            hidden = tuple(i for i, number in zip(maskable, numbers, strict=True) if number < self._settings.p_mask)
            if hidden:
                return Draw(hidden, self._hide(encoding, hidden))
        raise TrainingError(
            f"{MAX_DRAWS:,} draws one after the other hid nothing: p_mask {self._settings.p_mask} is too small for "
            f"{len(maskable)} words. Choose a larger one."
        )

    def _hide(self, encoding: Encoding, hidden: tuple[int, ...]) -> tuple[int, ...]:
        masked = self._tokenizer.masked(encoding, hidden)
        if not self._settings.practised:
            return masked.ids
        ids = list(masked.ids)
        for i, kind, which in zip(hidden, self._random(len(hidden)), self._random(len(hidden)), strict=True):
            if kind >= MASKED_SHARE:
                replaced = kind < MASKED_SHARE + REPLACED_SHARE
                ids[i] = self._pieces[int(which * len(self._pieces))] if replaced else encoding.ids[i]
        return tuple(ids)

    def _random(self, count: int) -> list[float]:
        return torch.rand(count, generator=self._generator, dtype=torch.float64).tolist()
