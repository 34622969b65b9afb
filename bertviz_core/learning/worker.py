"""The process that trains: `python -m bertviz_core.learning.worker LIMIT`, started by `link` and heard by it alone.

It takes steps, and answers between them, and within one wherever a step can stop for a moment. It ends with the
process that started it, whatever it is doing. LIMIT: bytes that it may take in all.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import torch

from bertviz_core.errors import BertvizError, TrainingError
from bertviz_core.learning.limits import is_out_of_memory, take_limits
from bertviz_core.learning.looking import find_moved_head, rank_words
from bertviz_core.learning.messages import Advance, Answer, Ask, Begin, Drop, Halt, Progress
from bertviz_core.learning.parcel import unpack_model
from bertviz_core.learning.training import Training
from bertviz_core.learning.wire import Wire

PUBLISH_S = 0.1  # at most so often a training says what it has come to

QUESTIONS: Mapping[str, Callable[..., Any]] = {
    "explain": Training.explain,
    "largest_gradient": Training.largest_gradient,
    "curve_along": Training.curve_along,
    "gradient_lengths": Training.gradient_lengths,
    "weights": lambda training: (len(training.records), {n: t.numpy() for n, t in training.weights.items()}),
    "rank_words": rank_words,
    "find_moved_head": find_moved_head,
}


class _HaltedError(Exception):
    """The step that is being taken is not wanted any more."""


class Worker:
    """What the process holds: trainings by their numbers, one of which takes steps at a time."""

    def __init__(self, wire: Wire, limit: int) -> None:
        self._wire, self._limit = wire, limit
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._held: dict[int, Training] = {}
        self._said: dict[int, tuple[int, int]] = {}  # how many records and passes were published

    def work(self) -> None:
        """Do what is asked for, as long as the other process lives."""
        threading.Thread(target=self._receive, name="receive", daemon=True).start()
        while True:
            self._take(self._inbox.get())

    def _receive(self) -> None:
        try:
            while True:
                self._inbox.put(self._wire.receive())
        finally:  # nobody is there any more, or there is no memory for what was sent: a step is not waited for
            os._exit(0)

    def _take(self, message: object) -> None:
        match message:
            case Begin():
                self._answer(message.number, lambda: self._begin(message))
            case Advance():
                self._answer(message.number, lambda: self._advance(message))
            case Ask() if time.monotonic() < message.until:
                self._answer(message.number, lambda: self._look_up(message))
            case Drop():
                self._held.pop(message.training, None)
                gc.collect()

    def _begin(self, message: Begin) -> None:
        training = Training(unpack_model(message.model), message.sentences, message.settings, message.only)
        self._held[message.training], self._said[message.training] = training, (0, 0)

    def _answer(self, number: int, act: Callable[[], Any]) -> None:
        try:
            answer = Answer(number, act())
        except BertvizError as error:
            answer = Answer(number, error=error)
        except BaseException as error:  # what Rust calls a panic is no Exception
            answer = Answer(number, error=self._tell(error))
            gc.collect()
        self._wire.send(answer)

    def _tell(self, error: BaseException) -> TrainingError:
        if is_out_of_memory(error):
            return TrainingError(
                f"This needed more memory than trainings may take here, {self._limit / 1e6:,.0f} MB. Shorten the "
                "sentences, train the LM head alone, or train the small model."
            )
        return TrainingError(f"This came to no end ({type(error).__name__}: {str(error)[:200]}). Start again.")

    def _advance(self, message: Advance) -> None:
        """Take steps until they are all taken, the time is over, or nobody wants them any more."""
        training = self._held.get(message.training)
        if training is None:  # dropped meanwhile
            return
        until, heard = time.monotonic() + message.seconds, [time.monotonic()]

        def attend() -> None:
            self._attend(message.training)
            if time.monotonic() - heard[0] > PUBLISH_S:
                self._publish(message.training)
                heard[0] = time.monotonic()

        try:
            with _watch(training, attend):
                for _ in range(message.steps):
                    training.advance()
                    attend()
                    if training.finished or time.monotonic() > until:
                        break
        except _HaltedError:
            pass
        finally:
            self._publish(message.training)

    def _attend(self, running: int) -> None:
        """Do what was asked for meanwhile. Raises _HaltedError where the training that runs is no longer wanted."""
        halted = False
        while True:
            try:
                message = self._inbox.get_nowait()
            except Empty:
                break
            halted |= isinstance(message, Halt | Drop) and message.training == running
            self._take(message)
        if halted:
            raise _HaltedError

    def _publish(self, number: int) -> None:
        training = self._held.get(number)
        if training is None:
            return
        records, passes = self._said[number]
        self._said[number] = len(training.records), len(training.passes)
        self._wire.send(Progress(number, training.records[records:], training.passes[passes:], training.asked))

    def _look_up(self, message: Ask) -> Any:
        def check() -> None:
            if time.monotonic() > message.until:
                raise TrainingError("This number takes too long to be worked out here.")

        training = self._held.get(message.training)
        if training is None:
            raise TrainingError("This training is no longer held. Start again.")
        with _watch(training, check):
            return QUESTIONS[message.what](training, *message.given)


@contextmanager
def _watch(training: Training, between: Callable[[], None]) -> Iterator[None]:
    """Have the training call this wherever it can stop for a moment."""
    before, training.between = training.between, between
    try:
        yield
    finally:
        training.between = before


def main() -> None:
    limit = int(sys.argv[1])
    wire = Wire(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints is no message
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    torch.set_num_threads(1)
    take_limits(limit)
    try:
        Worker(wire, limit).work()
    except BaseException:  # whatever it was, nobody must wait for a process that does nothing any more
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
