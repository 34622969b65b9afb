"""How busy a process is: the share of a core that its work took lately."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 5.0  # what is longer ago counts no more
_APART_S = 0.25  # between two times that are kept


class Load:
    """The share of a core that was taken lately, of one kind of work. One thread asks it, again and again.

    spent: seconds of the processor that this work took so far; clock: seconds that pass.
    """

    def __init__(self, spent: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> None:
        self._spent, self._clock = spent, clock
        self._kept = deque([(clock(), spent())])

    def measure(self) -> float:
        """From 0, where nothing was done, to the number of cores; since the last time asked, where that was longer ago
        than WINDOW_S."""
        now, spent = self._clock(), self._spent()
        while len(self._kept) > 1 and now - self._kept[0][0] > WINDOW_S:
            self._kept.popleft()
        since, before = self._kept[0]
        if now - self._kept[-1][0] >= _APART_S:
            self._kept.append((now, spent))
        return (spent - before) / (now - since) if now > since else 0.0
