"""How many web sockets of one address begin in a second: more of them wait in line, where its visitors take turns."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from edge.pace import KNOWN, Refused, name_network

# A web socket is one more session, which takes ten times as long as a request; a class comes all at once. More than the
# first runs that are made in a second would wait elsewhere, and take time for that. Who is refused costs a handshake,
# and asks again at once; a browser waits fifteen seconds.
PER_SECOND, BURST, LONGEST_S = 10.0, 50, 10.0
REFUSED_S, MOST_REFUSED = 8.0, 1_000
# Who has gone before its first run was over took about a third of what is reckoned for it. Three times as many of these
# begin in a second, and not more: they take something too.
SOON_S, GIVEN_BACK = 1.0, 2 / 3


@dataclass
class _Line:
    """Of an address. free: when all that have begun are within the pace; waiting: by visitor, in the order of turns,
    those that have been told nothing yet; bell: rings when the next one may begin.
    """

    free: float = 0.0
    waiting: dict[str, deque[asyncio.Future[bool]]] = field(default_factory=dict[str, "deque[asyncio.Future[bool]]"])
    bell: asyncio.TimerHandle | None = None

    def add(self, visitor: str, told: asyncio.Future[bool]) -> None:
        self.waiting.setdefault(visitor, deque()).append(told)

    def remove(self, visitor: str, told: asyncio.Future[bool]) -> None:
        if told in self.waiting.get(visitor, ()):
            self.waiting[visitor].remove(told)
            self._forget(visitor)

    def take(self) -> asyncio.Future[bool]:
        """The next one's; its visitor is behind all others then."""
        visitor = next(iter(self.waiting))
        mine = self.waiting.pop(visitor)
        told = mine.popleft()
        self.waiting |= {visitor: mine} if mine else {}
        return told

    def drop(self) -> asyncio.Future[bool]:
        """The last one's of the visitor who has the most in the line."""
        visitor = max(self.waiting, key=lambda each: len(self.waiting[each]))
        told = self.waiting[visitor].pop()
        self._forget(visitor)
        return told

    def count(self) -> int:
        return sum(map(len, self.waiting.values()))

    def _forget(self, visitor: str) -> None:
        if not self.waiting[visitor]:
            del self.waiting[visitor]


class Turns:
    """The web sockets of all addresses that are to begin. Only for the thread of the server's event loop.

    per_second, burst: how many of an address begin, and how many at once; longest: about so many seconds one waits at
    most; refused: seconds after which who is one too many hears so, counted from when it came.
    """

    def __init__(
        self,
        per_second: float = PER_SECOND,
        burst: int = BURST,
        longest: float = LONGEST_S,
        refused: float = REFUSED_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._each, self._ahead, self._longest = clock, 1 / per_second, burst / per_second, longest
        self._most, self._refused_s, self._refused = int(longest * per_second), refused, Refused(MOST_REFUSED)
        self._lines: dict[str, _Line] = {}

    async def keep(self, address: str, visitor: str) -> bool:
        """Wait for the turn of one more; False where the line is too long. visitor: "" is whoever has no name."""
        line, came = self._find(name_network(address)), self._clock()
        if not line.waiting and self._count_wait(line) <= 0:
            self._begin(line)
            return True
        told = asyncio.get_running_loop().create_future()
        line.add(visitor, told)
        if line.count() > self._most:
            _tell(line.drop(), begins=False)
        self._set_bell(line)
        begins = False
        try:
            async with asyncio.timeout(self._longest):
                begins = await told
        except TimeoutError:
            pass
        finally:
            line.remove(visitor, told)
        if not begins:
            await self._refused.wait(self._refused_s - (self._clock() - came))
        return begins

    @contextmanager
    def note_end(self, address: str) -> Iterator[None]:
        """Around one that has begun: where it ends soon, others begin sooner."""
        begun = self._clock()
        try:
            yield
        finally:
            if self._clock() - begun < SOON_S:
                self._give_back(self._find(name_network(address)))

    def _give_back(self, line: _Line) -> None:
        line.free -= self._each * GIVEN_BACK
        if line.bell is not None:
            line.bell.cancel()
            line.bell = None
        self._set_bell(line)

    def _find(self, place: str) -> _Line:
        """The line of an address; of many, those that have rested for long enough are forgotten."""
        if len(self._lines) >= KNOWN:
            now = self._clock()
            self._lines = {each: line for each, line in self._lines.items() if line.waiting or line.free > now}
        return self._lines.setdefault(place, _Line())

    def _count_wait(self, line: _Line) -> float:
        now = self._clock()
        return max(line.free, now) - now - self._ahead

    def _begin(self, line: _Line) -> None:
        line.free = max(line.free, self._clock()) + self._each

    def _set_bell(self, line: _Line) -> None:
        if line.waiting and line.bell is None:
            wait = max(0.0, self._count_wait(line))
            line.bell = asyncio.get_running_loop().call_later(wait, self._ring, line)

    def _ring(self, line: _Line) -> None:
        line.bell = None
        if line.waiting:
            self._begin(line)
            _tell(line.take(), begins=True)
        self._set_bell(line)


def _tell(told: asyncio.Future[bool], *, begins: bool) -> None:
    if not told.done():  # who has gone meanwhile hears nothing
        told.set_result(begins)
