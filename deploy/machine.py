"""What this machine, or the container on it, has to give."""

from __future__ import annotations

import math
import os
from pathlib import Path

# A warm process holds 550 MB, and the traces and charts of its visitors come on top.
PROCESS_BYTES = 1 << 30
_LIMITS = Path("/sys/fs/cgroup")


def count_processes(limits: Path = _LIMITS) -> int:
    """As many processes as cores, but no more than fit into memory; at least one."""
    return max(1, min(count_cores(limits), count_bytes(limits) // PROCESS_BYTES))


def count_cores(limits: Path = _LIMITS) -> int:
    """Cores that this process may use, by affinity and by the container's quota; a part of a core counts as one."""
    cores = len(os.sched_getaffinity(0))
    quota, _, period = _read(limits / "cpu.max").partition(" ")
    return min(cores, math.ceil(int(quota) / int(period))) if quota.isdecimal() else cores


def count_bytes(limits: Path = _LIMITS) -> int:
    """Memory that this process may use, by the machine and by the container's limit."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _read(limits / "memory.max")
    return min(memory, int(limit)) if limit.isdecimal() else memory


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii").strip() if file.is_file() else ""
