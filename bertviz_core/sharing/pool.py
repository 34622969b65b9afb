"""What is shared by all who are at work, bounded by all that is alive, not only by what is kept here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K")
V = TypeVar("V")


class Pool(Generic[K, V]):
    """Keeps what was used last, and drops the oldest while all that is alive weighs more than `max_bytes`.

    What was dropped while somebody still holds it goes on counting, and is found again rather than made twice. weigh:
    a value's bytes, what it shares with another value left out; dropped: told of each value that is no longer kept.
    """

    def __init__(self, max_bytes: int, weigh: Callable[[V], int], dropped: Callable[[V], None] | None = None) -> None:
        self.max_bytes = max_bytes
        self._weigh, self._dropped = weigh, dropped
        self._alive: WeakValueDictionary[K, V] = WeakValueDictionary()
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def nbytes(self) -> int:
        """Bytes of all that is alive, whoever holds it."""
        with self._lock:
            return sum(map(self._weigh, self.list_alive()))

    def list_alive(self) -> list[V]:
        """All that is alive, whoever holds it."""
        with self._lock:
            return list(self._alive.values())

    def get(self, key: K) -> V | None:
        """What is alive under a key, from now on the newest."""
        with self._lock:
            found = self._alive.get(key)
            if key in self._kept:
                self._kept.move_to_end(key)
            elif found is not None:
                self.put(key, found)
            return found

    def put(self, key: K, value: V) -> None:
        """Keep a value as the newest, and drop the oldest, at last this one, until the bound holds or none is left."""
        with self._lock:
            self._alive[key] = self._kept[key] = value
            self._kept.move_to_end(key)
            self.make_room(0)

    def make_room(self, nbytes: int) -> bool:
        """Drop the oldest until so many bytes more would fit, or none is left. Returns whether they fit."""
        with self._lock:
            while self._kept and self.nbytes + nbytes > self.max_bytes:
                self._tell(self._kept.popitem(last=False)[1])
            return self.nbytes + nbytes <= self.max_bytes

    def drop(self, unwanted: Callable[[V], bool]) -> None:
        """Keep no longer what is unwanted."""
        with self._lock:
            for key in [key for key, value in self._kept.items() if unwanted(value)]:
                self._tell(self._kept.pop(key))

    def _tell(self, value: V) -> None:
        if self._dropped is not None:
            self._dropped(value)
