"""A watch over a process's memory: where it is nearly full, what can be made again goes, then new costly work waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bertviz_core.errors import BusyError
from bertviz_core.sharing.machine import give_back, read_used

EMPTY_AT, REFUSE_AT = 0.85, 0.95  # of the bound
PAUSE_S = 1.0  # from one emptying to the next, at least
LOOK_S = 1.0  # between two looks of the watch's own


class Watch:
    """Compares what this process has in use with a bound. Whoever asks may be any thread.

    read: the bytes in use; return_free: returns what became free to the machine.
    """

    def __init__(
        self, bound: int, read: Callable[[], int] = read_used, return_free: Callable[[], object] = give_back
    ) -> None:
        self.bound = bound
        self._read, self._return_free = read, return_free
        self._empties: list[Callable[[], object]] = []
        self._emptying = threading.Lock()
        self._emptied_at = float("-inf")
        self._started = False

    def empty_with(self, empty: Callable[[], object]) -> None:
        """Have this let go of what it can make again, whenever the memory is nearly full."""
        self._empties.append(empty)

    def look(self) -> None:
        """Let go of what can be made again, if the memory is nearly full."""
        if self._read() < EMPTY_AT * self.bound:
            return
        with self._emptying:
            now = time.monotonic()
            if now - self._emptied_at < PAUSE_S or self._read() < EMPTY_AT * self.bound:  # another has just done it
                return
            for empty in tuple(self._empties):
                empty()
            self._return_free()
            self._emptied_at = time.monotonic()

    def refuse_if_full(self) -> None:
        """To be called before what costs memory and is not there yet. Raises BusyError where none is left for it."""
        self.look()
        if self._read() >= REFUSE_AT * self.bound:
            raise BusyError(
                "This server's memory is full: it can show what it has computed already, but compute nothing new now. "
                "Try again in a minute."
            )

    def start(self) -> None:
        """Look every second, in a thread of its own, as long as this process lives."""
        with self._emptying:
            if self._started:
                return
            self._started = True
        threading.Thread(target=self._go_on, name="memory watch", daemon=True).start()

    def _go_on(self) -> None:
        while True:
            time.sleep(LOOK_S)
            self.look()
