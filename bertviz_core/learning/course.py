"""E-Training, step by step: every step can be looked at again, with all of its numbers.

Of earlier steps the draws and the records are kept. Weights are kept from before the first step, from before the last
one, and of others as far as `HISTORY_BYTES` go; what had to go is made again from the nearest earlier ones, the same
bit for bit. Gradients are not kept: they are made again when somebody asks, and those of the step that was asked for
last are held.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bertviz_core.checkpoint.lru import ByteLRU
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.learning.draws import Draw, Drawer
from bertviz_core.learning.passes import Loss, ask_each, measure, prepare_inputs
from bertviz_core.learning.records import Answer, PassRecord, StepRecord
from bertviz_core.learning.settings import HISTORY_BYTES, Settings, check_settings, encode_sentences, estimate_bytes
from bertviz_core.learning.updates import State, write_rule
from bertviz_core.learning.weights import choose_learned, find_ties, name_group, share_ties
from bertviz_core.programs.training import write_loss

MAX_WORDS = 64  # asked for after each pass


class Course:
    """A model that learns from sentences. The model that it starts from is read and never written to.

    sentences: 1 to 8 texts; only: the names of the parameters that learn, if not all. Raises TrainingError for settings
    that cannot be trained with. encodings: the sentences' tokens; learned: the parameters that learn, each once; ties:
    the model's parameters that are others under a second name; words: (sentence from 1, position) of the words that are
    asked for after each pass, the first 64 of all.
    """

    def __init__(self, model: Model, sentences: Sequence[str], settings: Settings | None = None,
                 only: Collection[str] | None = None) -> None:  # fmt: skip
        self.settings = settings or Settings()
        check_settings(model, sentences, self.settings)
        self.before = model
        self.sentences = tuple(sentences)
        self.encodings = encode_sentences(model, sentences)
        self.loss = write_loss(model.program)
        self.learned = choose_learned(model, self.loss, only)
        self.words = tuple(
            (number, position)
            for number, encoding in enumerate(self.encodings, start=1)
            for position in model.tokenizer.maskable(encoding)
        )[:MAX_WORDS]
        self.rule = write_rule(self.loss, self.learned, self.settings, self.steps_total)
        self.ties = find_ties(model.parameters)
        self._groups = {name: name_group(self.loss, name) for name in self.learned}
        self._lock = threading.RLock()
        self._gradients: tuple[int, dict[str, Tensor]] | None = None
        self.reset()

    @property
    def steps_total(self) -> int:
        """n T."""
        return self.settings.passes * len(self.encodings)

    @property
    def records(self) -> tuple[StepRecord, ...]:
        """The steps so far."""
        return tuple(self._records)

    @property
    def passes(self) -> tuple[PassRecord, ...]:
        """The passes so far; the first of them is before any step, as soon as one has been taken."""
        return tuple(self._passes)

    @property
    def finished(self) -> bool:
        return len(self._records) == self.steps_total

    @property
    def seconds_left(self) -> float | None:
        """How long the other steps will take, if they take as long as those so far; None before the first."""
        done = self.records
        return (self.steps_total - len(done)) * sum(r.seconds for r in done) / len(done) if done else None

    @property
    def needs(self) -> int:
        """Bytes that it may come to hold."""
        longest = max(map(len, self.encodings))
        return estimate_bytes(self.before, longest, self.settings.practised) + HISTORY_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes that it holds besides the model that it starts from."""
        with self._lock:
            states = [state for state in (self._state, self._previous) if state is not self._start]
            gradients = self._gradients[1].values() if self._gradients else ()
            return sum(s.nbytes for s in states) + self._history.nbytes + sum(g.nbytes for g in gradients)

    def reset(self) -> None:
        """Back to before the first step: the same draws come again."""
        with self._lock:
            weights = {name: self.before.parameters[name] for name in self.learned}
            self._state = self._previous = self._start = self.rule.start(weights)
            self._drawer = Drawer(self.before.tokenizer, self.settings)
            self._history: ByteLRU[int, State] = ByteLRU(HISTORY_BYTES)
            self._records: list[StepRecord] = []
            self._passes: list[PassRecord] = []
            self._gradients = None
            self._failed = ""

    def advance(self) -> StepRecord:
        """Take the next step: lines 3 to 7 for the next sentence.

        Raises TrainingError where all steps have been taken, and where a number comes out that is not finite: then the
        weights stay as they were before the step, and no further step can be taken.
        """
        with self._lock:
            if self._failed:
                raise TrainingError(self._failed)
            if self.finished:
                raise TrainingError(
                    f"All {self.steps_total:,} steps have been taken. Start again, or choose a larger T."
                )
            if not self._passes:
                self._passes.append(self._ask(0))
            try:
                record, state = self._step(len(self._records) + 1)
            except TrainingError as error:
                self._failed = str(error)
                raise
            self._history.put(record.number, self._state, self._state.nbytes)
            self._previous, self._state = self._state, state
            self._records.append(record)
            if record.sentence == len(self.encodings):
                self._passes.append(self._ask(record.turn))
            return record

    @property
    def model(self) -> Model:
        """The model as it is trained so far. It stays as it is while the training goes on."""
        with self._lock:
            return self._model(self._state, len(self._records))

    def model_at(self, number: int) -> Model:
        """The model that step `number` begins with, or began with."""
        return self._model(self.state_before(number), number - 1)

    def record(self, number: int | None = None) -> StepRecord:
        """A step's record, the last one's by default. Raises TrainingError for a step that has not been taken."""
        records = self.records
        number = len(records) if number is None else number
        if not 1 <= number <= len(records):
            raise TrainingError(
                f"Step {number} has not been taken; there are {len(records)} so far. Take it, or choose another."
            )
        return records[number - 1]

    def state_before(self, number: int) -> State:
        """The weights that step `number` begins with: kept, or made again from the nearest earlier ones."""
        with self._lock:
            if number == len(self._records) + 1:
                return self._state
            if number == len(self._records):
                return self._previous
            records, history = self._records, self._history
            first, state = self._nearest(number)
        for again in range(first, number):  # the training goes on meanwhile: a state does not change
            history.put(again, state, state.nbytes)
            state = self.rule.apply(state, self._derive(state, records[again - 1])[1], again)
        history.put(number, state, state.nbytes)
        return state

    def gradients(self, number: int) -> Mapping[str, Tensor]:
        """How J of step `number` changes with each weight that learns, by parameter."""
        held = self._gradients
        if held is None or held[0] != number:
            record = self.record(number)
            held = self._gradients = number, self._derive(self.state_before(number), record)[1]
        return held[1]

    def owner(self, parameter: str) -> tuple[str, bool]:
        """The name by which a parameter learns, and whether that one is its transpose."""
        tie = self.ties.get(parameter)
        return (tie.owner, tie.turned) if tie else (parameter, False)

    def parameters(self, state: State) -> dict[str, Tensor]:
        """All parameters of the model, those that learn with these weights, by address."""
        return {**self.before.parameters, **share_ties(state.weights, self.ties)}

    def measure(self, state: State, record: StepRecord) -> Loss:
        """The loss of a step's sentence with any weights."""
        inputs = prepare_inputs(self.encodings[record.sentence - 1], _draw(record), self.before.dtype)
        with torch.no_grad():
            return measure(self.loss, self.parameters(state), inputs, record.hidden)

    def _step(self, number: int) -> tuple[StepRecord, State]:
        began = time.perf_counter()
        turn, sentence = divmod(number - 1, len(self.encodings))
        encoding = self.encodings[sentence]
        draw = self._drawer.draw(encoding)
        planned = StepRecord(number, turn + 1, sentence + 1, draw.hidden, encoding.ids, draw.masked_ids, (), 0.0, 0.0,
                             (), (), (), {}, self.rule.rate(number), 0.0)  # fmt: skip
        loss, gradients = self._derive(self._state, planned)
        self._check(number, loss.value)
        lengths = self._lengths(gradients)
        state = self.rule.apply(self._state, gradients, number)
        self._check(number, *state.weights.values())
        after = self.measure(state, planned)
        self._check(number, after.value)
        best = after.log_probs.exp().max(dim=-1)
        words = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        self._gradients = None
        record = replace(
            planned,
            terms=tuple(loss.terms.tolist()),
            loss=loss.value.item(),
            loss_after=after.value.item(),
            before=tuple((-loss.terms).exp().tolist()),
            after=tuple((-after.terms).exp().tolist()),
            answers=tuple(Answer(i, probability) for i, probability in words),
            gradient_norms=lengths,
            seconds=time.perf_counter() - began,
        )
        return record, state

    def _derive(self, state: State, record: StepRecord) -> tuple[Loss, dict[str, Tensor]]:
        """The loss of a step and its gradient by every weight that learns."""
        with torch.inference_mode(False), torch.enable_grad():
            inputs = prepare_inputs(self.encodings[record.sentence - 1], _draw(record), self.before.dtype)
            leaves = {name: tensor.detach().requires_grad_() for name, tensor in state.weights.items()}
            parameters = self.parameters(State(leaves))
            loss = measure(self.loss, parameters, inputs, record.hidden)
            found = torch.autograd.grad(loss.value, list(leaves.values()))
        kept = Loss(loss.value.detach(), loss.terms.detach(), loss.log_probs.detach())
        return kept, dict(zip(leaves, found, strict=True))

    def _model(self, state: State, steps: int) -> Model:
        if not steps:
            return self.before
        said = (self.before.name, self.before.revision, self.sentences, self.settings, self.learned, steps)
        return replace(
            self.before,
            name=f"yours, {steps} step{'' if steps == 1 else 's'}",
            revision=hashlib.sha256(repr(said).encode()).hexdigest()[:40],
            parameters=self.parameters(state),
        )

    def _ask(self, turn: int) -> PassRecord:
        parameters = self.parameters(self._state)
        found: list[float] = []
        for number, encoding in enumerate(self.encodings, start=1):
            positions = [position for sentence, position in self.words if sentence == number]
            if positions:
                mask_id = self.before.tokenizer.mask_id
                assert mask_id is not None
                found += ask_each(self.loss, parameters, encoding, mask_id, self.before.dtype, positions)
        return PassRecord(turn, turn * len(self.encodings), tuple(found))

    def _nearest(self, number: int) -> tuple[int, State]:
        for earlier in range(number, 1, -1):
            state = self._history.get(earlier)
            if state is not None:
                return earlier, state
        return 1, self._start

    def _lengths(self, gradients: Mapping[str, Tensor]) -> dict[str, float]:
        squares = dict.fromkeys(self._groups.values(), 0.0)
        for name, gradient in gradients.items():
            squares[self._groups[name]] += torch.linalg.vector_norm(gradient).item() ** 2
        return {group: square**0.5 for group, square in squares.items()}

    def _check(self, number: int, *numbers: Tensor) -> None:
        if not all(bool(tensor.sum().isfinite()) for tensor in numbers):
            raise TrainingError(
                f"Step {number} gave a number that is not finite: with η {self.settings.eta:g} the weights have run "
                "away. Those of before the step are kept. Start again with a smaller η."
            )


def _draw(record: StepRecord) -> Draw:
    return Draw(record.hidden, record.masked_ids)
