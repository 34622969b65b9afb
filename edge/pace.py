"""How many requests of one address are answered in a second: more of them wait in line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

# A process answers 500 to 1,000 of the cheapest in a second, and then nothing else. A browser's first visit asks for
# 80 files, six at a time; a class behind one address for as many at once as it has browsers.
PER_SECOND, BURST = 200.0, 300
LONGEST_S = 2.5  # in line; who would wait longer is told to come again
REFUSED_S, MOST_REFUSED = 1.0, 200  # and hears so after this time, if not more of them wait for that
# A web socket is one more session, which takes ten times as long; a class comes all at once. More than the first runs
# that are made in a second would wait elsewhere, and take time for that. Who is refused costs a handshake, and asks
# again at once; a browser waits fifteen seconds.
SOCKETS_PER_SECOND, SOCKETS_BURST, SOCKETS_LONGEST_S = 10.0, 50, 10.0
SOCKETS_REFUSED_S, SOCKETS_MOST_REFUSED = 8.0, 1_000
_KNOWN = 1_000  # addresses that are remembered; of more, those that have not asked for too much are forgotten


class Pace:
    """The requests of all addresses. Only for the thread of the server's event loop.

    per_second, burst: how many are answered, and how many at once; longest: seconds that one waits at most; refused:
    after how many who is one too many hears so, and how many of them wait for that. By default PER_SECOND, BURST,
    LONGEST_S, REFUSED_S and MOST_REFUSED.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        per_second: float = 0.0,
        burst: int = 0,
        longest: float = 0.0,
        refused: tuple[float, int] | None = None,
    ) -> None:
        self._clock, self._refused = clock, 0
        per_second, burst, self._longest = per_second or PER_SECOND, burst or BURST, longest or LONGEST_S
        self._refused_s, self._most_refused = refused or (REFUSED_S, MOST_REFUSED)
        self._each, self._ahead = 1 / per_second, burst / per_second
        self._free: dict[str, float] = {}  # by address: when all that it has asked for is answered at this pace

    async def keep(self, address: str) -> bool:
        """Wait for the turn of a request; False where the line is too long."""
        wait = self._reserve(name_network(address))
        if wait is not None:
            if wait > 0:
                await asyncio.sleep(wait)
            return True
        if self._refused < self._most_refused:
            self._refused += 1
            try:
                await asyncio.sleep(self._refused_s)
            finally:
                self._refused -= 1
        return False

    def _reserve(self, address: str) -> float | None:
        now = self._clock()
        free = max(now, self._free.get(address, now))
        wait = free - now - self._ahead
        if wait > self._longest:
            return None
        if len(self._free) >= _KNOWN:
            self._free = {each: at for each, at in self._free.items() if at > now}
        self._free[address] = free + self._each
        return max(0.0, wait)


def name_network(address: str) -> str:
    """What counts as one address: of the sixth version a whole network, as who has one has 2^64 of them."""
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if not isinstance(read, IPv6Address):
        return address
    return str(read.ipv4_mapped or read.packed[:8].hex())
