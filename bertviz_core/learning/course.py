"""E-Training, step by step: every step can be looked at again, with all of its numbers.

Of earlier steps the draws and the records are kept. Weights are kept from before the first step, from before the last
one, and of others at even distances as far as `HISTORY_BYTES` go; what had to go is made again from the nearest earlier
ones, the same bit for bit. Gradients are not kept: they are made again when somebody asks, and those of the step that
was asked for last are held until the next step.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.learning.draws import Draw, Drawer
from bertviz_core.learning.passes import Loss, ask_each, measure, prepare_inputs
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.records import Answer, PassRecord, StepRecord
from bertviz_core.learning.room import HISTORY_BYTES
from bertviz_core.learning.settings import Settings
from bertviz_core.learning.updates import State
from bertviz_core.learning.weights import Weights
from bertviz_core.sharing.lru import ByteLRU

TOKENS_AT_ONCE = 192  # in passes that are computed side by side: of longer sentences one alone


def _go_on() -> None:
    """Nobody wants a step to stop for a moment."""


class Course(Plan):
    """The plan and its weights, which every step moves.

    between: called wherever a step or a question can stop for a moment, with everything as it was after the last step;
    what it raises ends that step or question, and nothing of it stays.
    """

    def __init__(
        self,
        model: Model,
        sentences: Sequence[str],
        settings: Settings | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(model, sentences, settings, only)
        self.between: Callable[[], None] = _go_on
        self._lock = threading.RLock()
        self._gradients: tuple[int, dict[str, Tensor]] | None = None
        self.reset()

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return tuple(self._records)

    @property
    def passes(self) -> tuple[PassRecord, ...]:
        return tuple(self._passes)

    @property
    def asked(self) -> int:
        """Of how many words the probability is known already, while they are asked for."""
        return len(self._found)

    def reset(self) -> None:
        """Back to before the first step: the same draws come again."""
        with self._lock:
            weights = {name: self.before.parameters[name] for name in self.learned}
            self._state = self._start = self.rule.start(weights)
            self._previous: State | None = self._start
            self._drawer = Drawer(self.before.tokenizer, self.settings)
            self._history: ByteLRU[int, State] = ByteLRU(HISTORY_BYTES)
            self._records: list[StepRecord] = []
            self._passes: list[PassRecord] = []
            self._found: list[float] = []
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
            self._ask_where_due()
            if len(self._records) == self.steps_total:  # the words after the last one were still to be asked for
                return self._records[-1]
            try:
                record, state = self._step(len(self._records) + 1)
            except TrainingError as error:
                self._failed = str(error)
                raise
            self._keep(record.number, self._state)
            self._previous, self._state = self._state, state
            self._records.append(record)
            self._ask_where_due()
            return record

    @property
    def weights(self) -> Weights:
        """Those that learn, as they are now; nothing changes them, a step makes new ones."""
        return self._state.weights

    @property
    def model(self) -> Model:
        """The model as it is trained so far. It stays as it is while the training goes on."""
        with self._lock:
            return self.dress(self._state.weights, len(self._records))

    def model_at(self, number: int) -> Model:
        """The model that step `number` begins with, or began with."""
        return self.dress(self.state_before(number).weights, number - 1)

    def state_before(self, number: int) -> State:
        """The weights that step `number` begins with: kept, or made again from the nearest earlier ones."""
        with self._lock:
            if number == len(self._records) + 1:
                return self._state
            if number == len(self._records) and self._previous is not None:
                return self._previous
            records = self._records
            first, state = self._nearest(number)
        for again in range(first, number):  # the training goes on meanwhile: a state does not change
            self.between()
            state = self.rule.apply(state, self._derive(state, records[again - 1])[1], again)
        self._history.put(number, state, state.nbytes)
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
        return self.share(state.weights)

    def measure(self, state: State, record: StepRecord) -> Loss:
        """The loss of a step's sentence with any weights."""
        inputs = prepare_inputs(self.encodings[record.sentence - 1], _draw(record), self.before.dtype)
        with torch.no_grad():
            return measure(self.loss, self.parameters(state), inputs, record.hidden)

    def _step(self, number: int) -> tuple[StepRecord, State]:
        began = time.perf_counter()
        planned = self._plan(number)
        self._gradients = self._previous = None  # room for what comes of this step
        loss, gradients = self._derive(self._state, planned)
        self._check(number, loss.value)
        lengths = self._lengths(gradients)
        state = self.rule.apply(self._state, gradients, number)
        self._check(number, *state.weights.values())
        after = self.measure(state, planned)
        self._check(number, after.value)
        best = after.log_probs.exp().max(dim=-1)
        words = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        record = replace(
            planned,
            terms=tuple(loss.terms.tolist()),
            loss=loss.value.item(),
            printed=self._sum_as_printed(planned, loss),
            loss_after=after.value.item(),
            before=tuple((-loss.terms).exp().tolist()),
            after=tuple((-after.terms).exp().tolist()),
            answers=tuple(Answer(i, probability) for i, probability in words),
            gradient_norms=lengths,
            seconds=time.perf_counter() - began,
        )
        return record, state

    def _plan(self, number: int) -> StepRecord:
        """Which sentence a step reads and what it hides there, drawn now; nothing is measured yet."""
        turn, sentence = divmod(number - 1, len(self.encodings))
        encoding = self.encodings[sentence]
        draw = self._drawer.draw(encoding)
        return StepRecord(
            number,
            turn + 1,
            sentence + 1,
            draw.hidden,
            encoding.ids,
            draw.masked_ids,
            (),
            0.0,
            0.0,
            0.0,
            (),
            (),
            (),
            {},
            self.rule.rate(number),
            0.0,
        )

    def _sum_as_printed(self, record: StepRecord, loss: Loss) -> float:
        """J of line 6 as it is printed, with the weights that the step begins with."""
        read = [i for i, number in enumerate(record.masked_ids) if number == self.before.tokenizer.mask_id]
        if tuple(read) == record.hidden:
            return loss.value.item()
        terms = dict(zip(record.hidden, loss.terms.tolist(), strict=True))
        typed = [i for i in read if i not in terms]
        if typed:
            inputs = prepare_inputs(self.encodings[record.sentence - 1], _draw(record), self.before.dtype)
            with torch.no_grad():
                found = measure(self.loss, self.parameters(self._state), inputs, typed)
            terms |= dict(zip(typed, found.terms.tolist(), strict=True))
        return math.fsum(terms[i] for i in read)

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

    def _keep(self, number: int, state: State) -> None:
        """Keep the weights of every so many steps, as many as there is room for."""
        apart = math.ceil(self.steps_total * state.nbytes / max(1, HISTORY_BYTES))
        if number % max(1, apart) == 0:
            self._history.put(number, state, state.nbytes)

    def _ask_where_due(self) -> None:
        """Ask for all words before the first step and after each pass; what was broken off is gone on with."""
        turn = len(self._records) // len(self.encodings)
        if turn < len(self._passes):
            return
        parameters, mask_id = self.parameters(self._state), self.before.tokenizer.mask_id
        assert mask_id is not None
        while self.asked < len(self.words):
            self.between()
            sentence, _ = self.words[self.asked]
            encoding = self.encodings[sentence - 1]
            positions = [position for number, position in self.words[self.asked :] if number == sentence]
            some = positions[: max(1, TOKENS_AT_ONCE // len(encoding))]
            self._found += ask_each(self.loss, parameters, encoding, mask_id, self.before.dtype, some)
        self._passes.append(PassRecord(turn, turn * len(self.encodings), tuple(self._found)))
        self._found = []

    def _nearest(self, number: int) -> tuple[int, State]:
        for earlier in range(number, 1, -1):
            state = self._history.get(earlier)
            if state is not None:
                return earlier, state
        return 1, self._start

    def _lengths(self, gradients: Mapping[str, Tensor]) -> dict[str, float]:
        squares = dict.fromkeys(self.groups.values(), 0.0)
        for name, gradient in gradients.items():
            squares[self.groups[name]] += torch.linalg.vector_norm(gradient).item() ** 2
        return {group: square**0.5 for group, square in squares.items()}

    def _check(self, number: int, *numbers: Tensor) -> None:
        if not all(bool(tensor.sum().isfinite()) for tensor in numbers):
            raise TrainingError(
                f"Step {number} gave a number that is not finite: with η {self.settings.eta:g} the weights have run "
                "away. Those of before the step are kept. Start again with a smaller η."
            )


def _draw(record: StepRecord) -> Draw:
    return Draw(record.hidden, record.masked_ids)
