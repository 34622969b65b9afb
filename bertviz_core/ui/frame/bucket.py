"""A bucket of tokens: how often something may be done."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Bucket:
    """A token is added `rate` times a second, up to `most`; whatever is done takes one or more."""

    def __init__(self, rate: float, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._most, self._clock = rate, most, clock
        self._tokens, self._at = float(most), clock()

    def count_wait(self) -> float:
        """Seconds until there is a token."""
        now = self._clock()
        self._tokens, self._at = min(self._most, self._tokens + self._rate * (now - self._at)), now
        return max(0.0, (1 - self._tokens) / self._rate)

    def take(self, tokens: float = 1.0) -> None:
        """Take tokens, also where there are none yet: what is done next waits for these as well."""
        self.count_wait()
        self._tokens -= tokens
