"""A cache bounded in bytes, safe to share between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByteLRU(Generic[K, V]):
    """Keeps what was used last, up to `max_bytes`. What is larger than that by itself is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: K, value: V, nbytes: int) -> None:
        with self._lock:
            self._drop(key)
            if nbytes > self.max_bytes:
                return
            self._held[key] = (value, nbytes)
            self._bytes += nbytes
            while self._bytes > self.max_bytes:
                self._drop(next(iter(self._held)))

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def _drop(self, key: K) -> None:
        if key in self._held:
            self._bytes -= self._held.pop(key)[1]
