"""Whether the owner of a training looks on, is away, or has gone."""

from __future__ import annotations

from collections.abc import Callable

AWAY_S = 4.0  # an owner who is not connected and has not been seen for so long is away
ABSENT_S = 30.0  # one who is connected looks at something else
GONE_S = 60.0  # one who is not connected for so long does not come back


class Presence:
    """What is known of an owner: when it was seen last, and whether it is connected.

    clock: the time in seconds, never set back; connected: tells whether the owner can look.
    """

    def __init__(self, clock: Callable[[], float], connected: Callable[[], bool]) -> None:
        self._clock, self._connected = clock, connected
        self._seen = self._there = clock()

    @property
    def is_connected(self) -> bool:
        return self._connected()

    def touch(self) -> None:
        """The owner is seen now."""
        self._seen = self._clock()

    def is_away(self, now: float) -> bool:
        """Whether the owner is not connected, or has been elsewhere for long."""
        unseen = now - self._seen
        return unseen > ABSENT_S or (unseen > AWAY_S and not self.is_connected)

    def is_gone(self, now: float) -> bool:
        """Whether the owner has not been connected for long, and does not come back."""
        if self.is_connected:
            self._there = now
        return now - max(self._seen, self._there) > GONE_S
