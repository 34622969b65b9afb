"""What the operating system holds the process that trains to: the lowest priority, and so much memory."""

from __future__ import annotations

import ctypes
import os
import resource
from contextlib import suppress
from pathlib import Path

_LOWEST = 19
_FIRST_TO_GO = "1000"  # of all processes, where the machine runs out of memory
_MAPPED_FROM = -3, 1 << 20  # glibc's M_MMAP_THRESHOLD: what is as large as this is given back once it is free
_STATUS, _SCORE = Path("/proc/self/status"), Path("/proc/self/oom_score_adj")


def take_limits(whole: int) -> None:
    """Hold this process to `whole` bytes and the lowest priority. A tensor for which there is no room is refused.

    The limit is on what the process writes to; files that are mapped, such as libraries, count as they are now.
    """
    os.nice(_LOWEST)
    with suppress(OSError):  # no such thing on this system
        _SCORE.write_text(_FIRST_TO_GO, encoding="ascii")
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(*_MAPPED_FROM)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room = whole - read_status("RssFile")
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != resource.RLIM_INFINITY:
        room = min(room, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (room, room))


def read_status(field: str, status: Path = _STATUS) -> int:
    """Bytes of memory of a process, as the system counts them; 0 where it does not say."""
    with suppress(OSError):
        for line in status.read_text(encoding="utf-8").splitlines():
            name, _, rest = line.partition(":")
            if name == field:
                return int(rest.split()[0]) * 1024
    return 0


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was no room, in Python's words or in PyTorch's."""
    words = str(error)
    return isinstance(error, MemoryError) or "can't allocate memory" in words or "bad_alloc" in words
