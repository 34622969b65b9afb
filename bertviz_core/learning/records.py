"""What is kept of each step and of each pass: numbers, no tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What the model predicts first at a hidden token: the vocabulary entry's id, and its probability."""

    id: int
    probability: float


@dataclass(frozen=True)
class StepRecord:
    """One step: lines 3 to 7 for one sentence.

    number: of the step, from 1; turn, sentence: t and i, from 1 as printed; hidden: the positions whose words are
    asked for, from 0; ids, masked_ids: (token,) as they are, and as the model reads them; terms: (hidden,) -log P;
    loss: J as it is meant, their sum; printed: J as line 6 prints it, over every token that the model reads as [MASK]:
    also one that the sentence itself holds, and in practice none that stays or becomes another piece; loss_after: J as
    it is meant once more with the new weights; before, after: (hidden,) the probability of the hidden word with the old
    weights and the new; answers: (hidden,) what is predicted first with the new ones; gradient_norms: the gradient's
    length by layer and kind; rate: η of this step; seconds: that it took.
    """

    number: int
    turn: int
    sentence: int
    hidden: tuple[int, ...]
    ids: tuple[int, ...]
    masked_ids: tuple[int, ...]
    terms: tuple[float, ...]
    loss: float
    printed: float
    loss_after: float
    before: tuple[float, ...]
    after: tuple[float, ...]
    answers: tuple[Answer, ...]
    gradient_norms: Mapping[str, float]
    rate: float
    seconds: float

    @property
    def gradient_norm(self) -> float:
        """The length of the whole gradient."""
        return math.hypot(*self.gradient_norms.values())

    @property
    def as_printed(self) -> bool:
        """Whether J is one number, as printed and as meant: exactly the hidden tokens are read as [MASK]."""
        return self.printed == self.loss


@dataclass(frozen=True)
class PassRecord:
    """After pass t over all sentences; turn 0 is before the first.

    number: of the last step; probabilities: of each word of `Training.words`, in its order, when it alone is hidden.
    """

    turn: int
    number: int
    probabilities: tuple[float, ...]
