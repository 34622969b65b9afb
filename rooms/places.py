"""Which room gives way to a new one, where there are all that there may be.

Who starts classes by a program makes up a name for each, and shares the address with a whole school: neither tells that
one from a teacher, and a rate of all from there would be used up by the program alone. What tells them apart is what
becomes of a room: a class is led from a projector's page, and phones come in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rooms.course import FEWEST
from rooms.database import Cursor

UNSEEN_S = 15.0  # until the projector's page of a new room has asked for the first time
LOBBY_S = 120.0  # that a new room has until phones come in
LED_S = 180.0  # so long after that page has asked, a room counts as led
LEFT_S = 600.0  # after which one with phones that nobody leads any more gives way
IDLE_S = 2 * 3600.0  # after which one without phones that nobody leads is over
_QUERY = (
    "SELECT rooms.code, opener, COALESCE(address, ''), COALESCE(opened, 0), seen, "
    "(SELECT COUNT(*) FROM phones WHERE phones.code = rooms.code) FROM rooms "
    "LEFT JOIN sources ON sources.code = rooms.code LEFT JOIN led ON led.code = rooms.code"
)


@dataclass(frozen=True)
class Held:
    """A room that is open. opener, address: whose it is and from where, as hashes; opened, seen: when, and when its
    projector's page has last asked, None where it never did, in seconds since 1970; phones: how many are in it.
    """

    code: str
    opener: str
    address: str
    opened: float
    seen: float | None
    phones: int

    @property
    def used(self) -> float:
        """When it was opened, or last led."""
        return max(self.opened, self.seen or 0.0)


def list_held(cursor: Cursor) -> list[Held]:
    """All rooms of the store."""
    return [Held(*row) for row in cursor.execute(_QUERY).fetchall()]


def find_spare(held: Sequence[Held], now: float) -> str | None:
    """The room that gives way; None where all are in use, or new.

    First those that nobody has ever led, whatever phones are in them: the code stands on the projector's page alone.
    Then those that nobody leads any more; at last such as are led, with so few phones that it is no class. Of each kind
    first those of the address that has most, with the fewest phones, and the oldest.
    """
    near = Counter(each.address for each in held)
    ranked = [
        (rank, -near[each.address], each.phones, each.used, each.code)
        for each in held
        if (rank := _rank(each, now)) is not None
    ]
    return min(ranked)[-1] if ranked else None


def _rank(room: Held, now: float) -> int | None:
    """How soon a room gives way; None for one that does not."""
    rested = now - room.used
    kinds = (
        room.seen is None and rested > UNSEEN_S,
        not room.phones and rested > LED_S,
        rested > LEFT_S,
        room.phones < FEWEST and now - room.opened > LOBBY_S,
    )
    return kinds.index(True) if any(kinds) else None


def list_idle(held: Sequence[Held], now: float) -> list[str]:
    """Rooms that are over, as nobody uses them."""
    return [each.code for each in held if not each.phones and now - each.used > IDLE_S]
