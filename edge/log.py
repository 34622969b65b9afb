"""What the server's log says of what is no HTTP: seldom, as whoever sends it sends thousands."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

APART_S = 60.0  # between two lines that say the same
_KINDS = 100  # of such lines that are remembered


class Seldom(logging.Filter):
    """Leaves out a warning that was written less than APART_S ago, and says with the next one how many were left out.

    What has a traceback, or is more than a warning, is always written.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._written, self._left_out = clock, dict[str, float](), dict[str, int]()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING or record.exc_info:
            return True
        what, now = str(record.msg), self._clock()
        if now - self._written.get(what, -APART_S) < APART_S:
            self._left_out[what] = self._left_out.get(what, 0) + 1
            return False
        if len(self._written) >= _KINDS:
            self._written.clear()
            self._left_out.clear()
        self._written[what] = now
        if count := self._left_out.pop(what, 0):
            record.msg = f"{what} ({count:,} more since the last such line)"
        return True


def write_seldom(name: str) -> None:
    """Have a logger write such lines seldom, however often this is called."""
    logger = logging.getLogger(name)
    if not any(isinstance(each, Seldom) for each in logger.filters):
        logger.addFilter(Seldom())
