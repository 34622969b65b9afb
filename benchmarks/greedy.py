"""What a visitor can take from others: `python benchmarks/greedy.py [ATTACK ...] [--app FOLDER|COMMIT] [--seconds 25]`.

Beside four ordinary visitors, who choose something every second, one visitor asks for all that he can get: sentences of
505 words, each another one, on four sockets; the page Layers with everything open, or Documents, for another sentence
each time, on four; or the same choice again and again, 500 times a second, on two and on eight sockets, whose answers
are read and thrown away. Prints a row for each attack, "none" first: the seconds that the ordinary ones waited (median,
95th percentile, longest), how often, what went wrong for them, tracebacks in the server's log, and how many runs the
greedy one was given. Linux only, for the processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import users
from classroom import find_percentile
from served import ROOT, checked_out, serving
from users import Tally, User, connect_as, get_visitor
from websockets.exceptions import ConnectionClosed
from wire import Conversation

_ORDINARY, _THINK_S = 4, (0.9, 1.1)
_PER_SECOND, _TICK_S = 500, 0.02
_WORDS = """
the a my our old small quiet red river teacher dog city night garden paper reads sees finds under
""".split()  # noqa: SIM905 - read as text
_SOCKETS = {"none": 0, "sentences": 4, "layers": 4, "documents": 4, "flood-2": 2, "flood-8": 8}
_TRACEBACK = "Traceback"  # in colours or not


class Greedy:
    """One socket of the greedy visitor. runs: how many were answered."""

    def __init__(self, url: str, attack: str, visitor: str, seed: int, until: float) -> None:
        self._url, self._attack, self._visitor, self._until = url, attack, visitor, until
        self._random, self._talk, self.runs = Random(seed), Conversation(), 0

    async def attack(self) -> None:
        async with await connect_as(self._url, self._visitor) as self._line:
            page = self._attack if self._attack in ("layers", "documents") else "attention"
            await self._ask(self._talk.open(page))
            if self._attack.startswith("flood"):
                await self._flood()
                return
            for name in list(self._talk.folds) if self._attack == "layers" else ():
                await self._ask(self._talk.turn_fold(name, True))
            words = 505 if self._attack == "sentences" else 100
            while time.monotonic() < self._until:
                await self._ask(self._talk.type("Sentence", " ".join(self._random.choices(_WORDS, k=words))))

    async def _ask(self, message: bytes) -> None:
        await self._line.send(message)
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + max(0.1, self._until - time.monotonic())):
            while not self._talk.take(await self._line.recv(decode=False)):
                pass
        self.runs += 1

    async def _flood(self) -> None:
        reader = asyncio.create_task(self._read())
        messages = [self._talk.choose("Head", head) for head in self._talk.menus["Head"][1]]
        sent, began = 0, time.monotonic()
        with suppress(TimeoutError):  # a server may leave what is sent unread
            async with asyncio.timeout(self._until - began):
                while True:
                    while sent < (time.monotonic() - began) * _PER_SECOND:
                        await self._line.send(messages[sent % len(messages)])
                        sent += 1
                    await asyncio.sleep(_TICK_S)
        reader.cancel()
        self._line.transport.abort()

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                self.runs += await self._line.recv(decode=False) != b""


async def take_all(url: str, attack: str, until: float) -> tuple[int, list[str]]:
    """The sockets of one greedy visitor, all together: how much they were given, and what ended them."""
    visitor = get_visitor(url)
    sockets = [Greedy(url, attack, visitor, i, until) for i in range(_SOCKETS[attack])]
    ends = await asyncio.gather(*(socket.attack() for socket in sockets), return_exceptions=True)
    return sum(socket.runs for socket in sockets), [f"{end!r}"[:200] for end in ends if end]


def _work(url: str, attack: str, until: float, said: multiprocessing.SimpleQueue) -> None:
    said.put(asyncio.run(take_all(url, attack, until)))


async def visit(url: str, seconds: float) -> Tally:
    """The ordinary visitors' time."""
    users.THINK_S = _THINK_S
    tally, until = Tally(), time.monotonic() + seconds
    visitors = [User(url, i, until, tally) for i in range(_ORDINARY)]
    await asyncio.gather(*(visitor.attend(i / _ORDINARY) for i, visitor in enumerate(visitors)))
    return tally


def hold(url: str, log: Path, attack: str, seconds: float) -> None:
    """One row."""
    before, said = log.read_text(errors="replace").count(_TRACEBACK), multiprocessing.SimpleQueue()
    greedy = multiprocessing.Process(target=_work, args=(url, attack, time.monotonic() + seconds, said))
    greedy.start()
    tally = asyncio.run(visit(url, seconds))
    given, ends = said.get()
    greedy.join()
    times = [find_percentile(tally.times, percent) for percent in (50, 95)]
    tracebacks = log.read_text(errors="replace").count(_TRACEBACK) - before
    print(f"{attack:11s}{times[0]:8.2f}{times[1]:8.2f}{max(tally.times, default=0):9.2f}{len(tally.times):7d}"
          f"{sum(tally.trouble.values()):9d}{tracebacks:12d}{given:8d}", flush=True)  # fmt: skip
    for what in (*(f"{n} x {what}" for what, n in tally.trouble.most_common(4)), *sorted(set(ends))):
        print(f"  {what}", flush=True)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("attack", nargs="*", default=list(_SOCKETS), metavar="|".join(_SOCKETS))
    parser.add_argument("--app", default=str(ROOT), metavar="FOLDER|COMMIT")
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", action="store_true", help="print the server's log at the end")
    return parser.parse_args()


def main() -> None:
    asked = read_arguments()
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    print(
        f"{'attack':11s}{'median':>8}{'95th':>8}{'longest':>9}{'runs':>7}{'trouble':>9}{'tracebacks':>12}{'given':>8}"
    )
    with ExitStack() as stack:
        folder = Path(asked.app) if Path(asked.app).is_dir() else stack.enter_context(checked_out(asked.app))
        for attack in asked.attack:
            with serving(folder.resolve(), sys.executable) as server:
                asyncio.run(visit(server.url, 6.0))  # each process has drawn something
                hold(server.url, server.log, attack, asked.seconds)
                if asked.log:
                    print(server.log.read_text(errors="replace"))


if __name__ == "__main__":
    main()
