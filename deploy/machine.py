"""What this machine, or the container on it, has to give."""

from __future__ import annotations

import math
import os
import runpy
from collections.abc import Callable
from pathlib import Path

from edge.package import PACKAGE

# The app's own account of memory, run as a file: an import would bring PyTorch into the parent of all processes.
_APP = runpy.run_path(str(PACKAGE / "sharing" / "machine.py"))
count_bytes: Callable[[Path], int] = _APP["count_bytes"]
PROCESS_BYTES = 1_000_000_000  # that a process and its trainings should have: a warm one holds 400 MB
LEAST: int = _APP["LEAST"]
# nginx, the parent, what both write, the pages of libraries that all processes share, and the successor of one process
# while it gets warm.
BESIDE_BYTES = 700_000_000
_LIMITS = Path("/sys/fs/cgroup")


def count_processes(limits: Path = _LIMITS) -> int:
    """As many processes as cores, but no more than fit into memory; at least one."""
    return max(1, min(count_cores(limits), (count_bytes(limits) - BESIDE_BYTES) // PROCESS_BYTES))


def count_share(processes: int, limits: Path = _LIMITS) -> int:
    """Bytes for each of so many processes."""
    return max(0, count_bytes(limits) - BESIDE_BYTES) // processes


def count_cores(limits: Path = _LIMITS) -> int:
    """Cores that this process may use, by affinity and by the container's quota; a part of a core counts as one."""
    cores = len(os.sched_getaffinity(0))
    file = limits / "cpu.max"
    quota, _, period = (file.read_text(encoding="ascii").strip() if file.is_file() else "").partition(" ")
    return min(cores, math.ceil(int(quota) / int(period))) if quota.isdecimal() else cores
