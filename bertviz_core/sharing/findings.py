"""Findings: what takes many passes, worked out unasked, in the background, once for all who look at it.

The budget. One thread works out all findings of a process, one pass at a time, each in a turn like a page's own, of the
lane for costly work: what waits for a finding waits for one pass at most. It begins a pass where no page is at work, or
when it has waited for pages for four times as long as a pass takes; where pages wait for one another, or took most of a
core lately, it waits for nineteen times as long, though none be at work just then; but for a second at most. Addresses
share the time, and visitors that of their address, so that nobody's findings keep another's waiting, however many
visitors somebody says to be, and however long their sentences are. A finding is left off when nobody has asked for it
for ten seconds, or whoever did is gone; it ends after a minute of work with what it has, and is then kept within the
memory that the process has for findings. A visitor has twelve of them under way; of more, the oldest go.

The thread's priority is the usual one: where one that yields to other processes holds Python's lock, all threads wait.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from bertviz_core.errors import BertvizError, BusyError
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.threads import name_thread

T = TypeVar("T")
Key = Hashable
Work = Generator[tuple[float, T]]  # gives, pass by pass, how much is done, from 0 to 1, and what is known so far

WANTED_S = 10.0  # from the last time that somebody asked for a finding
MOST_S = 60.0  # of work for one finding
PATIENCE_S = 1.0  # at most, for pages that are at work, before each pass
SHARE = 0.2  # of the processor's time, where pages are always at work
LEAST_SHARE = 0.05  # and where others wait for these, or the server is busy
MOST_EACH = 12  # findings of one visitor that are under way
THREAD = "findings"
_LEAST_S = 0.001  # that a pass counts for
_LOOK_S = 0.02
_JOIN_S = 5.0  # in which a pass that is under way ends
_FAILED = "This could not be worked out, because of a mistake in this app. Whoever runs the server finds it in its log."

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found(Generic[T]):
    """What is known of a finding. value: None as long as that is nothing; done: from 0 to 1; error: why there will be
    no more; over: whether nothing more comes."""

    value: T | None = None
    done: float = 0.0
    error: str = ""
    over: bool = False

    @property
    def whole(self) -> bool:
        """Whether all of it is known."""
        return self.over and not self.error and self.done >= 1


@dataclass
class _Job:
    """A finding under way. near: where its visitor comes from; asked: when each session asked for it last; worked:
    seconds so far; last: those of the processor that the last pass took.
    """

    key: Key
    work: Work[Any]
    number: int
    visitor: str
    near: str = ""
    asked: dict[str, float] = field(default_factory=dict[str, float])
    found: Found[Any] = field(default_factory=Found[Any])
    worked: float = 0.0
    last: float = PATIENCE_S


class _Shares:
    """The seconds that each of several had, for who comes next. Who has nothing under way saves up none."""

    def __init__(self) -> None:
        self._had: dict[str, float] = {}

    def count(self, names: Collection[str]) -> Mapping[str, float]:
        """What each of those had that have something under way now; who comes new, as much as the least of them."""
        least = min((had for name, had in self._had.items() if name in names), default=0.0)
        self._had = {name: self._had.get(name, least) for name in names}
        return self._had

    def add(self, name: str, seconds: float) -> None:
        self._had[name] = self._had.get(name, 0.0) + max(seconds, _LEAST_S)


class Findings:
    """What was found, and what is being worked out, by what it is and of which passes. May be asked by any thread.

    max_bytes: of all that is kept; turn: entered for each pass; weigh: a value's bytes; is_busy: whether pages are at
    work; is_crowded: whether others wait for these, or they took much lately; is_there: whether the browser of a
    session is connected; spent: seconds of the processor that the calling thread took.
    """

    def __init__(
        self,
        max_bytes: int,
        turn: Callable[[], AbstractContextManager[object]],
        weigh: Callable[[object], int],
        is_busy: Callable[[], bool] = lambda: False,
        is_crowded: Callable[[], bool] = lambda: False,
        is_there: Callable[[str], bool] = lambda _: True,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._turn, self._weigh, self._is_busy, self._is_crowded = turn, weigh, is_busy, is_crowded
        self._is_there, self._clock, self._spent = is_there, clock, spent
        self._kept: ByteLRU[Key, Found[Any]] = ByteLRU(max_bytes)
        self._jobs: dict[Key, _Job] = {}
        self.spent_s = 0.0  # of the processor, by all passes so far
        self._addresses, self._visitors = _Shares(), _Shares()
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(
        self, key: Key, begin: Callable[[], Work[T]], session: str = "", visitor: str = "", near: str = ""
    ) -> Found[T]:
        """What is known by now; what is not known yet is begun, or goes on. To be asked again until it is over.

        begin: makes the work, whose first part runs in its first turn. key: what the value depends on, all of it; near:
        the address that the visitor comes from, "" where nobody says.
        """
        found = self._kept.get(key)
        if found is not None:
            return found
        with self._changed:
            self._leave_unwanted()
            job = self._jobs.get(key)
            if job is None:
                self._leave_oldest(visitor)
                job = self._jobs[key] = _Job(key, begin(), next(self._numbers), visitor, near)
            if not job.found.over:
                job.asked[session] = self._clock()
                self._start()
                self._changed.notify_all()
            return cast(Found[T], job.found)

    def leave(self, key: Key, session: str = "") -> Found[Any]:
        """Have a finding worked on no more for a session that asked for it. Returns what is known by now."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                return self._kept.get(key) or Found()
            job.asked.pop(session, None)
            return job.found

    def recall(self, key: Key) -> Found[Any] | None:
        """What was found before and is kept still; None where it is not, and nothing is begun."""
        return self._kept.get(key)

    def count_open(self) -> int:
        """How many findings share the time."""
        with self._changed:
            return len(self._list_open())

    def settle(self, seconds: float) -> bool:
        """Wait until nothing is under way. Returns whether that is so within this time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._list_open(), seconds)

    def clear(self) -> None:
        """Let go of all that was found."""
        self._kept.clear()

    def stop(self) -> None:
        """End the thread, after the pass that is under way: at the process's end none may be."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(_JOIN_S)

    def _start(self) -> None:
        if (self._thread is None or not self._thread.is_alive()) and not self._stopping.is_set():
            self._thread = threading.Thread(target=self._go_on, name=THREAD, daemon=True)
            self._thread.start()
            atexit.register(self.stop)

    def _leave_oldest(self, visitor: str) -> None:
        """Make room for one more of a visitor's."""
        own = [job for job in self._jobs.values() if job.visitor == visitor]
        for job in own[: max(0, len(own) - MOST_EACH + 1)]:
            del self._jobs[job.key]

    def _go_on(self) -> None:
        name_thread(THREAD)
        while (job := self._await_job()) is not None:
            self._await_pages(job.last)
            if not self._stopping.is_set():
                self._go_on_with(job)

    def _await_job(self) -> _Job | None:
        """What is to be worked on next; None at the end."""
        with self._changed:
            while not self._stopping.is_set():
                self._leave_unwanted()
                if waiting := self._list_open():
                    return self._choose(waiting)
                self._changed.notify_all()
                self._changed.wait()
        return None

    def _choose(self, waiting: Sequence[_Job]) -> _Job:
        """That of whoever had least: of all addresses, then of the visitors from there."""
        addresses = self._addresses.count({job.near for job in waiting})
        visitors = self._visitors.count({job.visitor for job in waiting})
        return min(waiting, key=lambda job: (addresses[job.near], visitors[job.visitor], job.number))

    def _list_open(self) -> list[_Job]:
        return [job for job in self._jobs.values() if not job.found.over]

    def _leave_unwanted(self) -> None:
        now = self._clock()
        for key, job in list(self._jobs.items()):
            if not any(now - at < WANTED_S and self._is_there(session) for session, at in job.asked.items()):
                del self._jobs[key]

    def _await_pages(self, spent: float) -> None:
        """Wait while pages are at work: so long that passes which take as long as the last one have their share."""
        begun = self._clock()
        while ((crowded := self._is_crowded()) or self._is_busy()) and not self._stopping.is_set():
            share = LEAST_SHARE if crowded else SHARE
            if self._clock() - begun >= min(PATIENCE_S, spent * (1 - share) / share):
                return
            self._stopping.wait(_LOOK_S)

    def _go_on_with(self, job: _Job) -> None:
        """One pass more."""
        try:
            with self._turn(), self._counting(job):
                step = next(job.work, None)
        except BusyError as error:  # there may be room later
            self._note(job, replace(job.found, error=str(error), over=True), keep=False)
        except BertvizError as error:
            self._note(job, replace(job.found, error=str(error), over=True))
        except Exception:
            _log.exception("A finding failed: %s", job.key)
            self._note(job, replace(job.found, error=_FAILED, over=True))
        else:
            done, value = step or (job.found.done, job.found.value)
            self._note(job, Found(value, done, over=step is None or done >= 1 or job.worked > MOST_S))

    @contextmanager
    def _counting(self, job: _Job) -> Generator[None]:
        begun, spent = self._clock(), self._spent()
        try:
            yield
        finally:
            job.last, seconds = self._spent() - spent, self._clock() - begun
            self.spent_s += job.last
            job.worked += seconds
            self._addresses.add(job.near, seconds)
            self._visitors.add(job.visitor, seconds)

    def _note(self, job: _Job, found: Found[Any], *, keep: bool = True) -> None:
        """Have a job's state known. keep: for good, if it is over; else until WANTED_S have passed."""
        with self._changed:
            job.found = found
            if found.over and keep:
                self._kept.put(job.key, found, self._weigh(found))
                if self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
            self._changed.notify_all()
