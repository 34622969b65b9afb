"""How many requests of one address are answered in a second: more of them wait in line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

# A process answers 500 to 1,000 of the cheapest in a second, and then nothing else. A browser's first visit asks for
# 80 files, six at a time; a class behind one address for as many at once as it has browsers.
PER_SECOND, BURST = 200.0, 300
LONGEST_S = 2.5  # in line; who would wait longer is told to come again
REFUSED_S, MOST_REFUSED = 1.0, 200  # and hears so after this time, if not more of them wait for that
KNOWN = 1_000  # addresses that are remembered; of more, those that have not asked for too much are forgotten


class Refused:
    """Those who wait to hear that they are refused: who asks again at once costs less by that. most: at a time."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0

    async def wait(self, seconds: float) -> None:
        if self._count >= self._most:
            return
        self._count += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self._count -= 1


class Pace:
    """The requests of all addresses. Only for the thread of the server's event loop.

    per_second, burst: how many are answered, and how many at once; by default PER_SECOND and BURST.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, per_second: float = 0.0, burst: int = 0) -> None:
        self._clock, self._refused = clock, Refused(MOST_REFUSED)
        per_second, burst = per_second or PER_SECOND, burst or BURST
        self._each, self._ahead = 1 / per_second, burst / per_second
        self._free: dict[str, float] = {}  # by address: when all that it has asked for is answered at this pace

    async def keep(self, address: str) -> bool:
        """Wait for the turn of a request; False where the line is too long."""
        wait = self._reserve(name_network(address))
        if wait is None:
            await self._refused.wait(REFUSED_S)
            return False
        if wait > 0:
            await asyncio.sleep(wait)
        return True

    def has_room(self, address: str) -> bool:
        """Whether a request would be answered now, sooner or later; it is not counted."""
        now = self._clock()
        return self._free.get(name_network(address), now) - now - self._ahead <= LONGEST_S

    def count(self, address: str) -> None:
        """Count a request that has been answered."""
        self._reserve(name_network(address))

    def _reserve(self, address: str) -> float | None:
        now = self._clock()
        free = max(now, self._free.get(address, now))
        wait = free - now - self._ahead
        if wait > LONGEST_S:
            return None
        if len(self._free) >= KNOWN:
            self._free = {each: at for each, at in self._free.items() if at > now}
        self._free[address] = free + self._each
        return max(0.0, wait)


@lru_cache(KNOWN)
def name_network(address: str) -> str:
    """What counts as one address: of the sixth version a whole network, as who has one has 2^64 of them."""
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if not isinstance(read, IPv6Address):
        return address
    return str(read.ipv4_mapped or read.packed[:8].hex())
