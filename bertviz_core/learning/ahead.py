"""A whole training of a small model, taken before anybody asks for its first step: the same steps will come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from bertviz_core.checkpoint.model import Model
from bertviz_core.learning.looking import Ranked, rank_words
from bertviz_core.learning.records import PassRecord, StepRecord
from bertviz_core.learning.settings import Settings
from bertviz_core.learning.training import Training

_AT_ONCE = 6  # steps or words: together they take about as long as one pass of a page, for which others wait


@dataclass(frozen=True)
class Ahead:
    """A training's steps as they will come, as far as they are known.

    records: one a step; passes: one a pass, the first before any step; ranked: once all is known, of each word that is
    asked for what is predicted first in its place, before any step and after all of them.
    """

    records: tuple[StepRecord, ...] = ()
    passes: tuple[PassRecord, ...] = ()
    ranked: tuple[tuple[Ranked, Ranked], ...] = ()


def take_ahead(
    model: Model, sentences: Sequence[str], settings: Settings, count: int
) -> Generator[tuple[float, Ahead]]:
    """All steps of a training; what is known after each few of them. count: of predictions in a word's place.

    Raises TrainingError as a training does.
    """
    training = Training(model, sentences, settings)
    parts = training.steps_total + len(training.words)
    while not training.finished:
        training.advance()
        if training.finished or len(training.records) % _AT_ONCE == 0:
            yield len(training.records) / parts, Ahead(training.records, training.passes)
    ranked: list[tuple[Ranked, Ranked]] = []
    for sentence, token in training.words:
        ranked.append(rank_words(training, sentence, token, count))
        if len(ranked) == len(training.words) or len(ranked) % _AT_ONCE == 0:
            done = (training.steps_total + len(ranked)) / parts
            yield done, Ahead(training.records, training.passes, tuple(ranked))
