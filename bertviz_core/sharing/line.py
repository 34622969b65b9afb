"""A line of those who wait for their turn: in a fair order, and whoever waits sees how many are before."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from bertviz_core.errors import BusyError
from bertviz_core.sharing.fairness import OF_ONE_ADDRESS

LOOK_S = 1.0  # for so long at least a number that is shown stays
_LANE = 4  # one turn of so many is for costly work
_KNOWN = 1_000  # visitors of whom is kept when their last turn ended; of more, who came last longest ago is new again

# Entered by whoever waits while this many are before it, 0 once its own work is done; what it raises ends the waiting.
Show = Callable[[int], AbstractContextManager[object]]


def _nobody() -> str:
    return ""


@dataclass(frozen=True)
class _Place:
    """Where somebody waits. number: of two, the smaller one came first."""

    number: int
    costly: bool
    who: str
    near: str


@dataclass
class _Mine(threading.local):
    """What this thread has: a turn, and that in the lane of costly work; for whom, whence that one comes, and the place
    in which it was waited for, which a turn that goes on later has again."""

    turn: bool = False
    costly: bool = False
    who: str = ""
    near: str = ""
    number: int = 0


class Line:
    """Turns for `at_once` at a time: first come, first served; but visitors take turns, and places before them.

    Who comes anew is before others. Who waits several times stands there once: the other times count from when the last
    turn of this visitor's ended.
    longest: so many wait at most; who: the visitor that the calling thread works for; each: how many turns one visitor
    has at a time beside others, all without a number; who is alone may have all but one of the turns. near: where that
    visitor comes from, "" where nobody says: whoever comes from where fewer have a turn is before others, and all from
    one place leave a turn and a quarter of the line to others, however many visitors they say that they are. A quarter
    of the turns at most, and one at least, are for costly work at any time: what takes long keeps others from a part of
    the turns only.
    """

    def __init__(
        self,
        at_once: int,
        longest: int,
        show: Show,
        who: Callable[[], str] = _nobody,
        each: int | None = None,
        near: Callable[[], str] = _nobody,
    ) -> None:
        self._at_once, self._longest, self._show, self._who, self._near = at_once, longest, show, who, near
        self._each = at_once if each is None else each
        self._lane = max(1, at_once // _LANE)
        self._numbers = itertools.count()
        self._waiting: list[_Place] = []
        self._busy = self._costly = 0
        self._held = Counter[str]()  # turns that each visitor has
        self._held_near = Counter[str]()  # and all from one place
        self._lined = Counter[str]()  # places in which each visitor waits
        self._ended = dict[str, int]()  # when each visitor's last turn did: before the place of this number came
        self._mine = _Mine()
        self._changed = threading.RLock()
        self._bells = dict[int, threading.Condition]()  # one for each that waits, by its number

    @property
    def is_idle(self) -> bool:
        """Whether nobody has a turn, or waits for one."""
        return not self._busy and not self._waiting

    @property
    def is_waited_in(self) -> bool:
        """Whether somebody waits for a turn."""
        return bool(self._waiting)

    def draw(self) -> int:
        """A place in the line, for who may want a turn later: it is kept free."""
        return next(self._numbers)

    @contextmanager
    def turn(self, number: int | None = None, *, costly: bool = False) -> Generator[None]:
        """Wait for a turn and have it. number: the place in the line. Raises BusyError where too many wait already."""
        self._wait(self.draw() if number is None else number, costly)
        try:
            with self._show(0):
                yield
        finally:
            self._end()

    @contextmanager
    def pause(self) -> Generator[None]:
        """To stand in a turn around what waits for somebody else: others have turns meanwhile, then it goes on.

        Without a turn it does nothing.
        """
        had, costly = self._mine.turn, self._mine.costly
        self._end()
        try:
            yield
        finally:
            if had:
                self._wait(self._mine.number, costly)

    @contextmanager
    def costly(self) -> Generator[None]:
        """To stand in a turn around what takes long: at once where the lane for that is free, else it waits for that.

        While it waits, others have its turn. Without a turn, and in the lane already, it does nothing.
        """
        if not self._mine.turn or self._mine.costly:
            yield
            return
        if not self._take_lane():
            self._end()
            self._wait(self._mine.number, costly=True)
        try:
            yield
        finally:
            self._leave_lane()

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
            here = [self._order(place) for place in self._waiting if place.number == number]
            return self._busy + sum(self._order(place) < here[0] for place in self._waiting) if here else 0

    def _order(self, place: _Place) -> tuple[bool, int, int]:
        """By what those who wait are served: who had no turn yet comes first, and nobody has the next turn by having
        come often before others came."""
        return place.who in self._ended, max(place.number, self._ended.get(place.who, 0)), place.number

    def _wait(self, number: int, costly: bool) -> None:
        place = self._queue(number, costly)
        entered = self._enter(place, 0.0)
        try:
            while not entered:
                before = self._count_before(number)
                with self._show(before):
                    while not (entered := self._enter(place, LOOK_S)) and self._count_before(number) == before:
                        pass
        except BaseException:  # the visitor has left, or wants something else by now
            self._leave(place, entered)
            raise

    def _queue(self, number: int, costly: bool) -> _Place:
        who, near = self._who(), self._near()
        with self._changed:
            alike = sum(place.near == near for place in self._waiting) if near else 0
            if len(self._waiting) >= self._longest or alike >= self._longest * OF_ONE_ADDRESS:
                raise BusyError(
                    f"{len(self._waiting)} others wait already, more than this server can serve in a short time. "
                    "Try again in a minute."
                )
            place = _Place(number, costly, who, near)
            self._waiting.append(place)
            self._lined[who] += 1
            self._bells[number] = threading.Condition(self._changed)
            return place

    def _remove(self, place: _Place) -> None:
        self._waiting.remove(place)
        self._lined -= Counter({place.who: 1})  # one who waits no more is forgotten
        del self._bells[place.number]

    def _ring(self) -> None:
        """Wake whoever may begin now, and nobody else: hundreds who look would have no time left for the server."""
        found = self._find_next()
        if found is not None:
            self._bells[found.number].notify()

    def _find_next(self) -> _Place | None:
        """Whose turn it is, while one is free; who may have none yet lets others pass."""
        if self._busy >= self._at_once:
            return None
        free = filter(self._may_begin, self._waiting)
        return min(free, key=lambda place: (self._held_near[place.near], self._order(place)), default=None)

    def _may_begin(self, place: _Place) -> bool:
        """Whether its visitor has not all turns that one may have, nor all from there theirs; nor, where it waits for
        the lane, that is full.
        """
        most = max(self._each, self._at_once - 1) if self._is_alone(place.who) else self._each
        room = self._held[place.who] < most and not (place.costly and self._costly >= self._lane)
        return room and (not place.near or self._held_near[place.near] < max(1, self._at_once - 1))

    def _is_alone(self, who: str) -> bool:
        """Whether nobody but this visitor has a turn, or waits for one."""
        return self._held[who] == self._busy and self._lined[who] == len(self._waiting)

    def _enter(self, place: _Place, seconds: float) -> bool:
        """Begin the turn, if it comes within this time."""
        with self._changed:
            mine = self._bells[place.number].wait_for(lambda: self._find_next() is place, seconds)
            if mine:
                self._remove(place)
                self._busy, self._costly = self._busy + 1, self._costly + place.costly
                self._held[place.who] += 1
                self._held_near[place.near] += 1
                self._mine.turn, self._mine.costly = True, place.costly
                self._mine.who, self._mine.near, self._mine.number = place.who, place.near, place.number
                self._ring()  # where several work at once, the next one may begin as well
            return mine

    def _leave(self, place: _Place, entered: bool) -> None:
        if entered:
            self._end()
        else:
            with self._changed:
                self._remove(place)
                self._ring()

    def _end(self) -> None:
        if self._mine.turn:
            with self._changed:
                self._busy, self._costly = self._busy - 1, self._costly - self._mine.costly
                self._held -= Counter({self._mine.who: 1})  # one who has none left is forgotten
                self._held_near -= Counter({self._mine.near: 1})
                self._note_end(self._mine.who)
                self._mine.turn = self._mine.costly = False
                self._ring()

    def _note_end(self, who: str) -> None:
        self._ended.pop(who, None)
        self._ended[who] = next(self._numbers)
        if len(self._ended) > _KNOWN:
            del self._ended[next(iter(self._ended))]

    def _take_lane(self) -> bool:
        """Whether a turn can go on in the lane at once: it is not full, and nobody waits for it."""
        with self._changed:
            free = self._costly < self._lane and not any(place.costly for place in self._waiting)
            if free:
                self._costly, self._mine.costly = self._costly + 1, True
            return free

    def _leave_lane(self) -> None:
        """The turn goes on, out of the lane."""
        if self._mine.costly:
            with self._changed:
                self._costly, self._mine.costly = self._costly - 1, False
                self._ring()
