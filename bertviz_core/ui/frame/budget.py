"""What a visitor may take of the server: processor seconds, and sessions, each of which has a socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from bertviz_core.ui.frame.bucket import Bucket
from bertviz_core.ui.frame.streamlit_inside import is_connected
from bertviz_core.ui.frame.visitor import NOBODY, is_nameless

ALONE_S = 10.0  # after the last run of anybody else a visitor is alone, and may take all
_BURST_S = 2.0  # for so long a visitor may ask for runs as fast as a socket may, after a rest
_SAID_BURST_S = 5.0  # for so long it may say more, after a rest
_KNOWN = 1_000  # accounts that are kept; of more, those that owe nothing are forgotten


@dataclass(frozen=True)
class Allowance:
    """rate: processor seconds a second, for ever; room: seconds at once on top; sessions: that are connected.

    runs: how many may be asked for in a second, by all sessions together; slow: how many once too much was taken; said:
    kilobytes a second that are read of what all sessions together say, a message counting as one more.
    """

    rate: float
    room: float
    sessions: int
    runs: float
    slow: float
    said: float


# Who clicks all the time takes 0.05 to 0.2 processor seconds a second; a long sentence on a page that shows all of it
# about 2 s at once. A click says 5 kB, on a page of a long sentence up to 90 kB.
ONE = Allowance(rate=0.3, room=4.0, sessions=16, runs=8.0, slow=1.0, said=200.0)
# Those without a name at one address together; the sessions are those of all addresses.
NAMELESS = Allowance(rate=0.25, room=2.0, sessions=320, runs=8.0, slow=1.0, said=800.0)
RUN_S = 0.04  # of processor time that a run takes beside its own: it is asked for, begun, and its answer sent


def find_allowance(visitor: str) -> Allowance:
    return NAMELESS if is_nameless(visitor) else ONE


@dataclass
class _Account:
    """runs, slow: what bounds its runs, and those once it has taken too much; said: what bounds the kilobytes that are
    read of it; owed: processor seconds as of a time; sessions: those that were admitted and may still be connected.
    """

    runs: Bucket
    slow: Bucket
    said: Bucket
    owed: float = 0.0
    at: float = 0.0
    sessions: set[str] = field(default_factory=set[str])


class Budget:
    """The accounts of all visitors of a process, and of the addresses that pay for those who have no name. May be asked
    by any thread."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, connected: Callable[[str], bool] = is_connected
    ) -> None:
        self._clock, self._connected = clock, connected
        self._accounts: dict[str, _Account] = {}
        self._last = self._other = (NOBODY, float("-inf"))  # who ran something last, and who before, and when
        self._refused: set[str] = set()
        self._waiting: set[str] = set()

    def admit(self, visitor: str, session: str, most: int | None = None) -> bool:
        """Whether a session of a visitor may run: not where as many others are connected as it may have, or `most`."""
        admitted = self._find(visitor).sessions
        if session not in admitted:
            admitted.intersection_update({one for one in tuple(admitted) if self._connected(one)})
            if len(admitted) >= (find_allowance(visitor).sessions if most is None else most):
                self._refused = {one for one in tuple(self._refused) if self._connected(one)} | {session}
                return False
            admitted.add(session)
            self._refused.discard(session)
        return True

    def list_admitted(self) -> list[str]:
        """Sessions of all visitors that were admitted and are connected; a socket that asked for nothing is none."""
        sessions = [one for account in tuple(self._accounts.values()) for one in tuple(account.sessions)]
        return list(filter(self._connected, sessions))

    def dismiss(self, visitor: str, session: str) -> None:
        """There is no room for a session: it takes none until it asks again."""
        self._find(visitor).sessions.discard(session)

    def charge(self, visitor: str, seconds: float) -> None:
        """A run of this visitor's has taken so many processor seconds of its thread."""
        now, account = self._clock(), self._find(visitor)
        account.owed, account.at = self._count_owed(visitor) + RUN_S + seconds, now
        if self._last[0] != visitor:
            self._other = self._last
        self._last = visitor, now

    def get_runs(self, visitor: str, session: str) -> Bucket:
        """What bounds the runs of all sessions of a visitor together, where this one asks."""
        account = self._find(visitor)
        return account.slow if self.is_over(visitor, session) else account.runs

    def get_said(self, visitor: str) -> Bucket:
        """The kilobytes that are read of what a visitor says."""
        return self._find(visitor).said

    def count_wait(self, visitor: str) -> float:
        """Seconds until this visitor may run something again; 0 while nobody else is there to be kept waiting."""
        last = self._last if self._last[0] != visitor else self._other
        if self._clock() - last[1] > ALONE_S:
            return 0.0
        allowed = find_allowance(visitor)
        return max(0.0, (self._count_owed(visitor) - allowed.room) / allowed.rate)

    @contextmanager
    def wait(self, session: str) -> Generator[None]:
        """To stand around what a session's run does until its visitor may run something again."""
        self._waiting.add(session)
        try:
            yield
        finally:
            self._waiting.discard(session)

    def is_waiting(self, session: str) -> bool:
        """Whether a session's run waits until its visitor may run something again, and takes nothing meanwhile."""
        return session in self._waiting

    def is_over(self, visitor: str, session: str) -> bool:
        """Whether what this session asks for is answered slowly, as its visitor has taken too much."""
        return session in self._refused or self.count_wait(visitor) > 0

    def _count_owed(self, visitor: str) -> float:
        account = self._find(visitor)
        return max(0.0, account.owed - find_allowance(visitor).rate * (self._clock() - account.at))

    def _find(self, visitor: str) -> _Account:
        found = self._accounts.get(visitor)
        if found is None:
            if len(self._accounts) >= _KNOWN:
                self._forget()
            found = self._accounts.setdefault(visitor, self._open(visitor))
        return found

    def _open(self, visitor: str) -> _Account:
        allowed = find_allowance(visitor)
        runs = Bucket(allowed.runs, round(_BURST_S * allowed.runs), self._clock)
        said = Bucket(allowed.said, round(_SAID_BURST_S * allowed.said), self._clock)
        return _Account(runs, Bucket(allowed.slow, 1, self._clock), said, at=self._clock())

    def _forget(self) -> None:
        """Of the visitors who owe nothing, and who are gone."""
        for visitor, account in tuple(self._accounts.items()):
            if self._count_owed(visitor) == 0 and not any(map(self._connected, tuple(account.sessions))):
                self._accounts.pop(visitor, None)


@cache
def get_budget() -> Budget:
    """The process's."""
    return Budget()
