"""What a run tells while it goes on: a file of JSON lines, one a step, and one line on the screen."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from training.state import write_text

_SMOOTH = 0.98  # of what is shown; the file has each step's own
_EVERY = (0.5, 60.0)  # seconds from one report to the next: on a terminal, in a file


class Log:
    """JSON lines, each once: what a killed run wrote after its last kept place is written again."""

    def __init__(self, file: Path, done: int) -> None:
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        write_text(file, "".join(f"{line}\n" for line in lines[:done]))
        self._file = file

    def write(self, entry: dict[str, Any]) -> None:
        """Add a step."""
        with self._file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(entry) + "\n")


class Pacer:
    """How many steps there is time for, by the speed since it was last asked.

    end: when the run is to be through; step, now: where and when it begins.
    """

    def __init__(self, end: float, step: int, now: float) -> None:
        self._end, self._step, self._then = end, step, now

    def pace(self, step: int, now: float) -> int:
        """The steps in all, at least one more than are done."""
        speed = (step - self._step) / max(now - self._then, 1e-9)
        self._step, self._then = step, now
        return step + max(1, int(speed * max(0.0, self._end - now)))


class Progress:
    """Loss, words a second and time left, of this process."""

    def __init__(self, done: int, steps: int) -> None:
        self._first, self._done, self.steps = done, done, steps
        self._begun = self._last = time.monotonic()
        self._words, self._loss = 0, 0.0
        self._terminal = sys.stderr.isatty()
        self._told = -1e9

    def advance(self, words: int, loss: float) -> dict[str, float]:
        """Count a step; gives its seconds and its word pieces a second."""
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        self._loss = loss if self._done == self._first else _SMOOTH * self._loss + (1 - _SMOOTH) * loss
        self._done += 1
        self._words += words
        if now - self._told >= _EVERY[not self._terminal]:
            self._told = now
            self._tell(now)
        return {"seconds": round(seconds, 4), "words_per_second": round(words / max(seconds, 1e-9))}

    def finish(self) -> None:
        """Show where it ended."""
        self._tell(time.monotonic())
        if self._terminal:
            print(file=sys.stderr)

    def _tell(self, now: float) -> None:
        taken, done = max(now - self._begun, 1e-9), self._done - self._first
        left = int(taken / max(done, 1) * (self.steps - self._done))
        clock = f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d}"
        line = f"step {self._done}/{self.steps}  loss {self._loss:.3f}  {self._words / taken:.0f} words/s  {clock} left"
        print(
            f"\r{line}\x1b[K" if self._terminal else line,
            end="" if self._terminal else "\n",
            file=sys.stderr,
            flush=True,
        )
