"""What the kernel says of a process's memory and of the processors' time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_MB = 1_000_000


def read_memory(pid: int) -> float:
    """MB that a process holds now; of what it shares with others, its part."""
    return _read_mb(f"/proc/{pid}/smaps_rollup", "Pss:")


def read_peak(pid: int) -> float:
    """MB that a process held at most, what is shared included."""
    return _read_mb(f"/proc/{pid}/status", "VmHWM:")


def _read_mb(file: str, name: str) -> float:
    with suppress(OSError):
        for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024 / _MB
    return 0.0  # it has ended


def read_ticks() -> tuple[int, int]:
    """Time of all processors since the start, and what of it the host took for others, in ticks."""
    times = [int(each) for each in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]
    return sum(times), times[7]


def find_stolen(before: tuple[int, int], after: tuple[int, int]) -> float:
    """The part of the processors' time, 0 to 1, that the host took between two looks."""
    return (after[1] - before[1]) / max(1, after[0] - before[0])
