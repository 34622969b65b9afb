"""How much memory a process may take, as one number, and the bounds that follow from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bertviz_core.checkpoint.environment import read_bytes

SETTING = "BERTVIZ_MEMORY_MB"
_SHARE = 0.8  # of what the machine or its container has: the rest is for what runs beside the app
_TRAINING = 0.35  # of the whole: for the process that trains
_LIMITS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Budget:
    """Bytes. whole: of a server process together with the process that trains for it; training: of the latter."""

    whole: int

    @property
    def training(self) -> int:
        return int(_TRAINING * self.whole)

    @property
    def server(self) -> int:
        """What is left for the process that answers visitors."""
        return self.whole - self.training


def read_budget() -> Budget:
    """What whoever runs the app has set, else four fifths of what this machine or its container has.

    Raises InputError where the setting is no positive number.
    """
    return Budget(read_bytes(SETTING, _SHARE * count_bytes() / 1e6))


def count_bytes(limits: Path = _LIMITS) -> int:
    """Memory that this process may use, by the machine and by the container's limit."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    file = limits / "memory.max"
    limit = file.read_text(encoding="ascii").strip() if file.is_file() else ""
    return min(memory, int(limit)) if limit.isdecimal() else memory
