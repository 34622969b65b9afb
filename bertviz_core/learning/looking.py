"""What a training's model makes of its sentences, beside what the model before it made: without a step of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.checkpoint.model import Model
from bertviz_core.formula.address import Address
from bertviz_core.learning.course import Course
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.inputs import encode
from bertviz_core.tracing.trace import Trace, run

_PREDICTIONS = Address("cls.predictions.probs")

Ranked = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class MovedHead:
    """The head whose attention weights a training has moved most. before, now: (query, key); moved: the largest change
    of one weight."""

    where: Address
    before: np.ndarray
    now: np.ndarray
    moved: float


def rank_words(course: Course, sentence: int, token: int, count: int) -> tuple[Ranked, Ranked]:
    """What is predicted first for a token that is not shown, before any step and now. sentence: from 1."""
    text = course.sentences[sentence - 1]
    before, now = (_rank(course, model, text, token, count) for model in (course.before, course.model))
    return before, now


def _rank(course: Course, model: Model, text: str, token: int, count: int) -> Ranked:
    masked = encode(model, text, masked=[token])
    probs = run(model, masked, program=course.settings.program)[_PREDICTIONS.fix(token=token)]
    first = np.argsort(-probs, kind="stable")[:count]
    return tuple((model.tokenizer.name(int(i)), float(probs[i])) for i in first)


def find_moved_head(course: Course, sentence: int = 1) -> MovedHead:
    """The head in which one attention weight changed most, on a sentence with nothing hidden. sentence: from 1."""
    text = course.sentences[sentence - 1]
    before, now = (run(model, text, program=course.settings.program) for model in (course.before, course.model))
    changes = [_find_changes(course, before, now, layer) for layer in range(course.before.config.num_hidden_layers)]
    layer, head = np.unravel_index(int(np.argmax(changes)), np.shape(changes))
    where = ATTENTION_WEIGHTS.in_layer(int(layer)).fix(head=int(head))
    return MovedHead(where, before[where], now[where], float(np.max(changes)))


def _find_changes(course: Course, before: Trace, now: Trace, layer: int) -> np.ndarray:
    """(head,) the largest change of one attention weight in each head of a layer."""
    course.between()
    where = ATTENTION_WEIGHTS.in_layer(layer)
    return np.abs(now[where] - before[where]).max(axis=(1, 2))
