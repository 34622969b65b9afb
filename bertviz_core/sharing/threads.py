"""On how many threads a pass runs: one alone has all cores, many share them. And how a thread is called."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch

CORES = torch.get_num_threads()  # as PyTorch finds them, or OMP_NUM_THREADS says, before anybody sets it

SWITCH_S = 0.001


def read_load() -> float:
    """How many threads of this machine, of whatever process, wanted to run in the last minute; 0 where nobody says."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def name_thread(name: str) -> None:
    """Have the system call this thread so, of at most 15 characters, for whoever looks what the processors are at."""
    with suppress(OSError):  # a system without /proc
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name, encoding="ascii")


def settle_switching() -> None:
    """Have a thread of Python that computes let another one go on after this time.

    A page is worked out in a thread that computes all the time, and the server's own thread needs the interpreter twice
    for each that it starts, and often for each answer: with Python's usual 5 ms every visitor waits for the sum of
    these as soon as some pages are worked out at once. Much shorter, and the threads that compute take a tenth of the
    time for handing the interpreter to one another.
    """
    sys.setswitchinterval(SWITCH_S)


class Shares:
    """Each of the passes that run side by side has its share of `cores`: the fewer run, the more threads has each.

    Nor has one more threads than cores are idle by `load`: a thread that has no core keeps all others of its pass
    waiting, at every product.
    """

    def __init__(self, cores: int = CORES, load: Callable[[], float] = read_load) -> None:
        self._cores, self._load = cores, load
        self._lock = threading.Lock()
        self._running = 0

    @contextmanager
    def take(self) -> Generator[int]:
        """Inside, this thread of Python computes on as many threads as it says."""
        with self._lock:
            self._running += 1
            threads = max(1, min(self._cores // self._running, self._cores - int(self._load())))
        try:
            with use_threads(threads):
                yield threads
        finally:
            with self._lock:
                self._running -= 1


@contextmanager
def use_threads(threads: int) -> Generator[None]:
    """Let PyTorch compute what this thread of Python asks for on so many threads.

    A product of few rows is summed in another order on more threads: what shall come out bit for bit the same must be
    computed on as many.
    """
    before = torch.get_num_threads()
    if threads == before:  # setting it costs more than asking
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
