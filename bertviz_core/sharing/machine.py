"""What memory this machine, or the container on it, has, and what this process takes of it.

Nothing but Python's own modules is imported here: `python -m deploy` runs this file by itself.
"""

from __future__ import annotations

import ctypes
import gc
import os
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows, which has no such limit
    resource = None

LEAST = 900_000_000  # bytes of a process and its trainings: with less there is no room for a pass over a long sentence
_LIMITS = Path("/sys/fs/cgroup")
_LIMIT_FILES = "memory.max", "memory/memory.limit_in_bytes"  # of control groups of version 2, and of version 1
_STATUS = Path("/proc/self/status")
_OWN = "RssAnon:", "RssShmem:"
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # as malloc.h of glibc numbers them
_ARENAS = 2
_MANY_FILES = 65_536  # more than any server here needs
_LARGE = 1 << 20  # bytes: what is larger goes back to the machine as soon as it is free


def count_bytes(limits: Path = _LIMITS) -> int:
    """Memory that this process may use, by the machine and by the container's limit."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    said = [(limits / name).read_text(encoding="ascii").strip() for name in _LIMIT_FILES if (limits / name).is_file()]
    return min([memory, *(int(limit) for limit in said if limit.isdecimal())])


def read_used(status: Path = _STATUS) -> int:
    """Bytes of this process that a container's limit counts and the machine cannot take back; 0 where nobody says.

    Its own memory and what it shares with others. Not the pages of files, which are PyTorch's and Python's libraries
    and the weights as they lie on the disk: all processes have them in common, and they can be read again.
    """
    with suppress(OSError):
        lines = [line.split() for line in status.read_text(encoding="ascii").splitlines()]
        return sum(1024 * int(line[1]) for line in lines if line and line[0] in _OWN)
    return 0


def give_back() -> None:
    """Collect what nobody holds any more, and return free memory to the machine, as far as it takes it."""
    gc.collect()
    _call_allocator("malloc_trim", 0)


def settle_allocator() -> None:
    """Have freed memory go back to the machine by itself.

    As it comes, glibc keeps a heap for each thread, of which Streamlit has many, and learns from the first large tensor
    that is freed to keep all others of its size as well.
    """
    for option, value in ((_ARENA_MAX, _ARENAS), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
        _call_allocator("mallopt", option, value)


def count_files() -> int:
    """How many files and connections this process may have open."""
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (_MANY_FILES, 0)
    return _MANY_FILES if now < 0 else now  # no limit is a negative one


def ask_for_files() -> None:
    """Have as many open as whoever runs this allows; as it comes it is often 1,024."""
    if resource:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MANY_FILES if most < 0 else min(_MANY_FILES, most)
        if count_files() < wanted:
            with suppress(ValueError, OSError):  # macOS says that there is no limit, and has one
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _call_allocator(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # another C library has no such function
        getattr(ctypes.CDLL(None), name)(*numbers)
