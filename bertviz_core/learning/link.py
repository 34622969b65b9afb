"""The process that trains, as the one that answers visitors sees it: what it is told, what it says, and its end."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from bertviz_core.errors import TrainingError
from bertviz_core.learning.messages import Answer, Progress
from bertviz_core.learning.wire import Wire
from bertviz_core.sharing.memory import read_budget

_MODULE = "bertviz_core.learning.worker"
_ROOT = Path(__file__).parents[2]  # where the package is found
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
ENDED = (
    "The process that trains has ended, and what was learned in it is gone. It may have needed more memory than there "
    "is. Start again; if it ends once more, shorten the sentences or train the small model."
)

Listener = Callable[[Progress], None]


def start_process(limit: int | None = None) -> subprocess.Popen[bytes]:
    """A process of its own, not a fork, which would have this one's threads and sockets: it gets two pipes.

    limit: bytes that it may take, by default those that there are for it.
    """
    command = [sys.executable, "-m", _MODULE, str(read_budget().training if limit is None else limit)]
    environment = {**os.environ, **_ONE_THREAD}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT, env=environment, start_new_session=True
    )


class Link:
    """One such process, from its start to its end. Nobody who sends it anything waits for that.

    Two threads of their own write and read; they end with the process.
    """

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]] = start_process) -> None:
        self._process = start()
        self._wire = Wire(_need(self._process.stdout), _need(self._process.stdin))
        self._outbox: SimpleQueue[object] = SimpleQueue()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._listeners: dict[int, Listener] = {}
        self._why = ""
        for act in (self._send_all, self._receive_all):
            threading.Thread(target=act, name="training-link", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def why(self) -> str:
        """Why it has ended; "" as long as it lives."""
        return self._why

    def listen(self, training: int, listener: Listener) -> None:
        """Have somebody told what a training comes to."""
        self._listeners[training] = listener

    def tell(self, message: object) -> None:
        """Send what needs no answer."""
        self._outbox.put(message)

    def ask(self, write: Callable[[int], object]) -> Future[Any]:
        """Send a message that is written with the number of its answer. The answer may be an exception."""
        number, answer = next(self._numbers), Future[Any]()
        with self._lock:
            if self._why:
                answer.set_exception(TrainingError(self._why))
                return answer
            self._waiting[number] = answer
        self._outbox.put(write(number))
        return answer

    def end(self, why: str = ENDED) -> None:
        """End the process, whatever it is doing. why: told to all who wait for it."""
        with self._lock:
            if self._why:
                return
            self._why = why
            waiting, self._waiting = self._waiting, {}
        self._process.kill()
        self._outbox.put(None)
        self._listeners.clear()
        for answer in waiting.values():
            answer.set_exception(TrainingError(why))

    def _send_all(self) -> None:
        try:
            while (message := self._outbox.get()) is not None:
                self._wire.send(message)
                del message  # a model that was sent need not be kept until the next message
        except OSError:
            self.end()

    def _receive_all(self) -> None:
        try:
            while True:
                self._hear(self._wire.receive())
        except EOFError:
            self.end()
        finally:
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                _close(pipe)

    def _hear(self, message: object) -> None:
        if isinstance(message, Progress):
            listener = self._listeners.get(message.training)
            if listener:
                listener(message)
        elif isinstance(message, Answer):
            with self._lock:
                answer = self._waiting.pop(message.number, None)
            if answer is not None and message.error is not None:
                answer.set_exception(message.error)
            elif answer is not None:
                answer.set_result(message.value)


def _need(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pipe


def _close(pipe: IO[bytes] | None) -> None:
    with suppress(OSError):  # what was still to be written has nobody to read it
        _need(pipe).close()
