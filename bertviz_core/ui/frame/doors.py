"""The doors through which sessions come to their first run: a few at a time, addresses in turn."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

# First runs that are under way, before they wait in any line: each takes ten times what it takes to wait here, and all
# that have begun keep one another from getting on.
AT_ONCE = 2
OF_ONE_ADDRESS = 1  # of these
INSIDE_S = 2.0  # by then the next one may come in, whatever this one is at: it may wait for something long

Session = TypeVar("Session")


@dataclass(frozen=True)
class _Visit(Generic[Session]):
    """A session, the address that it comes from, "" where nobody says, and since when it is inside."""

    session: Session
    near: str
    since: float


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
        self._waiting: dict[str, deque[Session]] = {}  # by address

    @property
    def are_waited_at(self) -> bool:
        return bool(self._waiting)

    def come(self, session: Session, near: str) -> None:
        """A session has come, and waits until `let_in` names it."""
        self._waiting.setdefault(near, deque()).append(session)

    def let_in(self) -> list[Session]:
        """Who comes in now: those of the addresses that have the fewest inside, of each address as they came."""
        now = self._clock()
        self._inside = [one for one in self._inside if now - one.since < INSIDE_S and self._is_busy(one.session)]
        found: list[Session] = []
        while (near := self._find_next()) is not None:
            session = self._waiting[near].popleft()
            if not self._waiting[near]:
                del self._waiting[near]
            if self._is_there(session):
                self._inside.append(_Visit(session, near, now))
                found.append(session)
        return found

    def _find_next(self) -> str | None:
        """The address from which the next one comes in; None where there is no room, or nobody."""
        if len(self._inside) >= AT_ONCE:
            return None
        held = Counter(one.near for one in self._inside)
        free = (near for near in self._waiting if not near or held[near] < OF_ONE_ADDRESS)
        return min(free, key=lambda near: held[near], default=None)
