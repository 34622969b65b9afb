"""A line of those who wait for their turn: first come, first served, and whoever waits sees how many are before."""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from bertviz_core.errors import BusyError

LOOK_S = 1.0  # for so long at least a number that is shown stays

# Entered by whoever waits while this many are before it, 0 once its own work is done; what it raises ends the waiting.
Show = Callable[[int], AbstractContextManager[object]]


class Line:
    """Turns for `at_once` at a time, in the order of the numbers that were drawn. longest: so many wait at most."""

    def __init__(self, at_once: int, longest: int, show: Show) -> None:
        self._at_once, self._longest, self._show = at_once, longest, show
        self._numbers = itertools.count()
        self._waiting: list[int] = []
        self._busy = 0
        self._mine = threading.local()  # of the thread that has a turn
        self._changed = threading.Condition()

    def draw(self) -> int:
        """A place in the line, for who may want a turn later: it is kept free."""
        return next(self._numbers)

    @contextmanager
    def turn(self, number: int | None = None) -> Iterator[None]:
        """Wait for a turn and have it. number: the place in the line. Raises BusyError where too many wait already."""
        self._wait(self.draw() if number is None else number)
        self._mine.held = True
        try:
            with self._show(0):
                yield
        finally:
            if self._mine.held:
                self._end()
            self._mine.held = False

    @contextmanager
    def pause(self) -> Iterator[None]:
        """To stand in a turn around what waits for somebody else: others have turns meanwhile, then it goes on.

        Outside of a turn, as in a part of a page that is run by itself, nothing has to be given back.
        """
        if not getattr(self._mine, "held", False):
            yield
            return
        self._end()
        self._mine.held = False
        try:
            yield
        finally:
            self._wait(self.draw())
            self._mine.held = True

    def await_other(self, number: int, done: threading.Event) -> None:
        """Wait until another, who has this place in the line, is done."""
        while not done.is_set():
            before = self._count_before(number)
            with self._show(before):
                while not done.wait(LOOK_S) and self._count_before(number) == before:
                    pass

    def _count_before(self, number: int) -> int:
        """How many must have their turn first; 0 for who has it."""
        with self._changed:
            place = bisect_left(self._waiting, number)
            return self._busy + place if self._waiting[place : place + 1] == [number] else 0

    def _wait(self, number: int) -> None:
        with self._changed:
            if len(self._waiting) >= self._longest:
                raise BusyError(
                    f"{self._longest} others wait already, more than this server can serve in a short time. "
                    "Try again in a minute."
                )
            insort(self._waiting, number)
        entered = self._enter(number, 0.0)
        try:
            while not entered:
                before = self._count_before(number)
                with self._show(before):
                    while not (entered := self._enter(number, LOOK_S)) and self._count_before(number) == before:
                        pass
        except BaseException:  # the visitor has left, or wants something else by now
            self._leave(number, entered)
            raise

    def _enter(self, number: int, seconds: float) -> bool:
        """Begin the turn, if it comes within this time."""
        with self._changed:
            mine = self._changed.wait_for(lambda: self._waiting[0] == number and self._busy < self._at_once, seconds)
            if mine:
                del self._waiting[0]
                self._busy += 1
                self._changed.notify_all()  # where several work at once, the next one may begin as well
            return mine

    def _leave(self, number: int, entered: bool) -> None:
        if entered:
            self._end()
        else:
            with self._changed:
                self._waiting.remove(number)
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()
