"""What a training is to do, and what is known of it before its first step: no weight has moved yet."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.formula.texts import write_count
from bertviz_core.learning.records import PassRecord, StepRecord
from bertviz_core.learning.room import check_room
from bertviz_core.learning.settings import Settings, check_settings, encode_sentences
from bertviz_core.learning.still import find_still
from bertviz_core.learning.updates import write_rule
from bertviz_core.learning.weights import (
    Weights,
    choose_learned,
    find_ties,
    list_ties,
    name_groups,
    share_ties,
)
from bertviz_core.programs.training import write_loss

MAX_WORDS = 64  # asked for after each pass


class Plan:
    """A model that is to learn from sentences, and how. The model that it starts from is read and never written to.

    sentences: 1 to 8 texts; only: the names of the parameters that learn, if not all. Raises TrainingError for settings
    that cannot be trained with. encodings: the sentences' tokens; loss: what line 5 runs, and the loss; learned: the
    parameters that learn, each once; ties: those that learn as others, under a second name; groups: by parameter that
    learns, its layer and kind; still: the rows that no step moves, none in practice, where every matrix shrinks; words:
    (sentence from 1, position) of the words that are asked for after each pass, the first 64 of all; room: the memory
    that it may come to hold.
    """

    def __init__(
        self,
        model: Model,
        sentences: Sequence[str],
        settings: Settings | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        check_settings(model, sentences, self.settings)
        self.before = model
        self.sentences = tuple(sentences)
        self.encodings = encode_sentences(model, sentences)
        self.loss = write_loss(model.written(self.settings.program))
        self.only = only
        self.ties = list_ties(model, self.settings.program)
        self.learned = choose_learned(self.loss, self.ties, only)
        self.room = check_room(model, self.loss, self.learned, max(map(len, self.encodings)), self.settings.practised)
        self.words = tuple(
            (number, position)
            for number, encoding in enumerate(self.encodings, start=1)
            for position in model.tokenizer.maskable(encoding)
        )[:MAX_WORDS]
        self.rule = write_rule(self.loss, self.learned, self.settings, self.steps_total)
        self.groups = name_groups(self.loss, self.learned, self.ties)
        own = {name: model.parameters[name] for name in self.learned}
        self.still = () if self.settings.practised else find_still(self.loss, own, self.ties, self._list_read())

    def _list_read(self) -> dict[str, set[int]]:
        """The whole numbers that any step can read, by the address of what holds them."""
        mask_id = self.before.tokenizer.mask_id
        return {
            "input_ids": {i for encoding in self.encodings for i in (*encoding.ids, mask_id) if i is not None},
            "position_ids": {i for encoding in self.encodings for i in encoding.positions},
            "token_type_ids": {i for encoding in self.encodings for i in encoding.segments},
        }

    @property
    def steps_total(self) -> int:
        """n T."""
        return self.settings.passes * len(self.encodings)

    @property
    def records(self) -> tuple[StepRecord, ...]:
        """The steps so far."""
        return ()

    @property
    def passes(self) -> tuple[PassRecord, ...]:
        """The passes so far; the first of them is before any step, as soon as one has been taken."""
        return ()

    @property
    def finished(self) -> bool:
        """Whether all steps are taken, and all words asked for after them."""
        return len(self.records) == self.steps_total and len(self.passes) > self.settings.passes

    @property
    def seconds_left(self) -> float | None:
        """How long the other steps will take, if they take as long as those so far; None before the first."""
        done = self.records
        return (self.steps_total - len(done)) * sum(r.seconds for r in done) / len(done) if done else None

    def record(self, number: int | None = None) -> StepRecord:
        """A step's record, the last one's by default. Raises TrainingError for a step that has not been taken."""
        records = self.records
        number = len(records) if number is None else number
        if not 1 <= number <= len(records):
            raise TrainingError(
                f"Step {number} has not been taken; there are {len(records)} so far. Take it, or choose another."
            )
        return records[number - 1]

    def share(self, weights: Weights) -> dict[str, Tensor]:
        """All parameters of the model by address, those that learn with these weights."""
        return {**self.before.parameters, **share_ties(weights, self.ties)}

    def name(self, steps: int) -> str:
        """What the model is called after so many steps."""
        return f"yours, {write_count(steps, 'step')}" if steps else self.before.name

    def dress(self, weights: Weights, steps: int) -> Model:
        """The model that so many steps have made, of its weights that learn; the one before them where it is none."""
        if not steps:
            return self.before
        said = (self.before.name, self.before.revision, self.sentences, self.settings, self.learned, steps)
        revision = hashlib.sha256(repr(said).encode()).hexdigest()[:40]
        parameters, config = self.share(weights), self.before.config
        if len(find_ties(parameters)) < len(find_ties(self.before.parameters)):
            config = replace(config, tie_word_embeddings=False)
        return replace(self.before, name=self.name(steps), revision=revision, parameters=parameters, config=config)
