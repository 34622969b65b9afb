"""Which process trains now: started when a training takes its first step, ended when none is left that it holds."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bertviz_core.errors import TrainingError
from bertviz_core.learning.link import Link, Listener
from bertviz_core.learning.messages import Drop, Halt

TEND_S = 1.0  # between two looks at what is left
IDLE_S = 5.0  # a process that holds nothing is kept for so long: somebody tries another setting
GRACE_S = 8.0  # a step that is no longer wanted may take so long to yield
ASK_S = 10.0  # a page waits for so long
_AT_ONCE_S = 0.05  # an answer that comes as soon as this is waited for in one's turn
_KILLED = (
    "The process that trains was ended, since a step that nobody wanted any more came to no end; what was learned "
    "beside it is gone too. Start again."
)
_LATE = (
    "A step is being taken that lasts long, so this number did not come in time. Ask again in a moment, or pause the "
    "training first."
)

Wait = Callable[[], AbstractContextManager[object]]


class Host:
    """The process that trains, if there is one, and what it holds.

    wait: entered by whoever waits for an answer; passes: from before it is asked around a question that whole forward
    passes answer; start: starts a process; clock: never set back.
    """

    def __init__(
        self,
        wait: Wait = nullcontext,
        start: Callable[[], Link] = Link,
        clock: Callable[[], float] = time.monotonic,
        passes: Wait = nullcontext,
    ) -> None:
        self.passes = passes
        self._wait, self._start, self._clock = wait, start, clock
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._numbers = itertools.count(1)
        self._held: set[int] = set()
        self._running: int | None = None
        self._unwanted: deque[int] = deque()  # may be written to wherever an object is collected: takes no lock
        self._overdue: float | None = None  # when the step that runs, and is not wanted, must have ended
        self._empty_since: float | None = None
        self._watchers: list[Callable[[], None]] = []

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        link = self._link
        return None if link is None or link.why else link.pid

    def watch(self, act: Callable[[], None]) -> None:
        """Have this called every second while there is a process."""
        self._watchers.append(act)

    def hold(self, listener: Listener) -> tuple[Link, int]:
        """The process that trains, started if there is none, and a number for a training in it."""
        with self._lock:
            if self._link is None or self._link.why:
                self._link, self._held, self._running = self._start(), set(), None
                self._overdue = self._empty_since = None
                threading.Thread(target=self._tend_all, args=(self._link,), name="training-host", daemon=True).start()
            number = next(self._numbers)
            self._held.add(number)
            self._link.listen(number, listener)
            return self._link, number

    def run(self, link: Link, number: int, write: Callable[[int], object]) -> Any:
        """Have steps taken, and wait for their end. Raises TrainingError."""
        self._running = number
        try:
            return link.ask(write).result()
        finally:
            self._running = self._overdue = None

    def halt(self, link: Link, number: int) -> None:
        """Have a training take no further step."""
        link.tell(Halt(number))

    def release(self, number: int) -> None:
        """Nobody wants this training any more."""
        self._unwanted.append(number)

    def wait_for(self, answer: Future[Any]) -> Any:
        """An answer, or a TrainingError where it does not come in time."""
        try:
            return answer.result(_AT_ONCE_S)
        except NotYet:
            pass
        with self._wait():
            try:
                return answer.result(ASK_S)
            except NotYet:
                raise TrainingError(_LATE) from None

    def tend(self) -> None:
        """Drop what nobody wants, and end a process that does not let go of it, or that holds nothing."""
        with self._lock:
            link = self._link
            if link is None or link.why:
                return
            while self._unwanted:
                self._drop(link, self._unwanted.popleft())
            if self._overdue is not None and self._clock() > self._overdue:
                link.end(_KILLED)
            elif self._held:
                self._empty_since = None
            elif self._empty_since is None:
                self._empty_since = self._clock()
            elif self._clock() - self._empty_since >= IDLE_S:
                link.end()

    def _drop(self, link: Link, number: int) -> None:
        if number in self._held:
            self._held.remove(number)
            link.tell(Drop(number))
            if self._running == number:
                self._overdue = self._clock() + GRACE_S

    def _tend_all(self, link: Link) -> None:
        while not link.why:
            for act in (*self._watchers, self.tend):
                act()
            time.sleep(TEND_S)
