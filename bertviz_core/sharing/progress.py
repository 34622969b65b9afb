"""How far something long has come, told in one line that is written over, or to whoever asks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from bertviz_core.errors import ArgumentError

Progress = bool | Callable[[int, int | None], object]  # True: on standard error; or told how many of how many are done
_EVERY_S = 0.1


def report(progress: Progress, total: int | None, what: str) -> Callable[[int], None]:
    """What is to be called with the number of steps just done. total: of all, None where nobody knows.

    Raises ArgumentError where `progress` is neither a bool nor a function.
    """
    if not isinstance(progress, bool) and not callable(progress):
        raise ArgumentError.of(
            "progress must be True, False or a function", progress, "A function gets how many of how many are done."
        )
    tell = _Line(what).write if progress is True else progress or (lambda *_: None)
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done += more
        tell(done, total)

    return step


class _Line:
    """One line on standard error, as a terminal and a notebook show it."""

    def __init__(self, what: str) -> None:
        self._what, self._start, self._written = what, time.monotonic(), 0.0

    def write(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if done != total and now - self._written < _EVERY_S:
            return
        self._written = now
        of = "" if total is None else f" of {total}"
        pace = done / max(now - self._start, 1e-9)
        end = "\n" if done == total else ""
        print(f"\r{done}{of} {self._what}, {pace:.3g} a second   ", end=end, file=sys.stderr, flush=True)  # noqa: T201
