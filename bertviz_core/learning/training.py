"""A training with all that can be asked of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from bertviz_core.formula.address import Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.learning.course import Course
from bertviz_core.learning.explaining import CURVE, draw_curve, explain_step, find_largest_gradient
from bertviz_core.tracing.trace import Trace, run


class Training(Course):
    """E-Training on a model of one's own: `advance` takes a step; every number of every step can be explained."""

    def explain(self, address: Where, number: int | None = None) -> Explanation:
        """Work out a number of a step, the last one by default; of one weight, a WeightUpdate.

        address: `J`, `J.term[token=3]`, `J.log_probs[token=3,vocab=7]`, `grad:PARAMETER[..]` or `update:PARAMETER[..]`.
        Raises AddressError for any other, TrainingError for a step that has not been taken.
        """
        return explain_step(self, address, number)

    def largest_gradient(self, number: int | None = None) -> str:
        """The address, `grad:..`, of the weight whose gradient in a step is the farthest from 0."""
        return find_largest_gradient(self, number)

    def gradient_lengths(self, number: int) -> dict[str, float]:
        """The length of a step's gradient by every parameter that learns."""
        return {name: torch.linalg.vector_norm(found).item() for name, found in self.gradients(number).items()}

    def curve_along(
        self, address: Where, number: int | None = None, count: int = CURVE
    ) -> tuple[np.ndarray, np.ndarray]:
        """J of a step with one weight alone moved: at most `count` values of the weight, and J at each, float64."""
        return draw_curve(self, address, number, count)

    def trace(self, number: int | None = None, *, after: bool = False) -> Trace:
        """The pass of line 5: a step's sentence as the model read it. after: with the weights that the step made."""
        record = self.record(number)
        vocabulary = self.before.tokenizer.vocabulary
        tokens = tuple(vocabulary[i] for i in record.masked_ids)
        shown = replace(self.encodings[record.sentence - 1], tokens=tokens, ids=record.masked_ids)
        return run(self.model_at(record.number + after), shown, program=self.settings.program)
