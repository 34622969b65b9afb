"""The doors through which sessions come to their first run: a few at a time, addresses in turn, visitors of each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, TypeVar

# First runs that are under way, before they wait in any line: each takes ten times what it takes to wait here, and all
# that have begun keep one another from getting on.
AT_ONCE = 2
OF_ONE_ADDRESS = 1  # of these
COSTLY_AT_ONCE = 1  # beside these: what takes long, such as a long sentence, has a door of its own
INSIDE_S = 2.0  # by then the next one may come in, whatever this one is at: it may wait for something long
CROWD = 40  # who wait from one address: more than a class; they leave time to others
LEFT = 3  # as many times what they take
_ACTIVE_S = 2.0  # after a request of somebody from elsewhere others are there
_KNOWN = 1_000  # visitors whose rounds are kept; of more, those who wait for nothing are forgotten

Session = TypeVar("Session")


@dataclass(frozen=True)
class _Visit(Generic[Session]):
    """A session, the address that it comes from, "" where nobody says, and its visitor; costly: whether its first run
    takes long; round: how many of its visitor's came, or wait, before it; since: when it came in.
    """

    session: Session
    near: str
    visitor: str
    costly: bool
    round: int
    since: float = 0.0


class Doors(Generic[Session]):
    """Who may come in. Only for the thread of the server's event loop.

    is_busy: whether a session's run goes on; is_there: whether its browser is still connected.
    """

    def __init__(
        self,
        is_busy: Callable[[Session], bool],
        is_there: Callable[[Session], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_busy, self._is_there, self._clock = is_busy, is_there, clock
        self._inside: list[_Visit[Session]] = []
        self._waiting: list[_Visit[Session]] = []  # as they came
        self._round, self._next = 0, dict[str, int]()  # of who came in last; each visitor's next one
        self._came_in, self._numbers = dict[tuple[str, bool], int](), count(1)  # at which number somebody last did
        self._rest = dict[str, float]()  # until when an address lets others go first
        self._last = self._other = ("", float("-inf"))  # where something was asked for last, and where before, and when

    @property
    def are_waited_at(self) -> bool:
        return bool(self._waiting)

    def note(self, near: str) -> None:
        """Something is answered that was asked for from an address."""
        if self._last[0] != near:
            self._other = self._last
        self._last = near, self._clock()

    def come(self, session: Session, near: str, visitor: str = "", *, costly: bool = False) -> None:
        """A session has come, and waits until `let_in` names it."""
        if len(self._next) >= _KNOWN:
            self._next = {one.visitor: self._next[one.visitor] for one in self._waiting}
        place = max(self._round, self._next.get(visitor, 0))
        self._next[visitor] = place + 1
        self._waiting.append(_Visit(session, near, visitor, costly, place))

    def let_in(self) -> list[Session]:
        """Who comes in now: those of the addresses that have the fewest inside, of these that where nobody came in for
        longest; of each address visitors in turn, and those of one visitor as they came.
        """
        now = self._clock()
        self._look_inside(now)
        found: list[Session] = []
        while (visit := self._find_next(now)) is not None:
            self._waiting.remove(visit)
            self._round = max(self._round, visit.round)
            if self._is_there(visit.session):
                self._note_came_in(visit)
                self._inside.append(replace(visit, since=now))
                found.append(visit.session)
        return found

    def _look_inside(self, now: float) -> None:
        """Forget who is done; where a crowd waits, others have LEFT times as long then as that one took."""
        done = [one for one in self._inside if now - one.since >= INSIDE_S or not self._is_busy(one.session)]
        if not done:
            return
        self._inside = [one for one in self._inside if one not in done]
        waiting = Counter(one.near for one in self._waiting)
        self._rest = {near: until for near, until in self._rest.items() if until > now}
        for one in done:
            if one.near and waiting[one.near] > CROWD and self._has_others(one.near, now):
                self._rest[one.near] = now + LEFT * (now - one.since)

    def _has_others(self, near: str, now: float) -> bool:
        last = self._other if self._last[0] == near else self._last
        return now - last[1] < _ACTIVE_S

    def _find_next(self, now: float) -> _Visit[Session] | None:
        """Who comes in next; None where there is no room, or nobody."""
        held = Counter((one.near, one.costly) for one in self._inside)
        costly = sum(one.costly for one in self._inside)
        plain = len(self._inside) - costly

        def may_come(one: _Visit[Session]) -> bool:
            if one.near and self._rest.get(one.near, now) > now:
                return False
            if one.costly:
                return costly < COSTLY_AT_ONCE
            return plain < AT_ONCE and (not one.near or held[one.near, False] < OF_ONE_ADDRESS)

        def rank(one: _Visit[Session]) -> tuple[int, int, int]:
            door = one.near, one.costly
            return held[door], self._came_in.get(door, 0), one.round

        return min(filter(may_come, self._waiting), key=rank, default=None)

    def _note_came_in(self, visit: _Visit[Session]) -> None:
        if len(self._came_in) >= _KNOWN:
            waiting = {(one.near, one.costly) for one in self._waiting}
            self._came_in = {door: number for door, number in self._came_in.items() if door in waiting}
        self._came_in[visit.near, visit.costly] = next(self._numbers)
