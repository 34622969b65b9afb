"""How much memory the app takes at most: `python benchmarks/memory.py [--bound 1000 1500 0] [--seconds 90]`.

Users on the wire that browsers use type one long sentence after the other, each different from all before, and look at
pages, layers and heads of each and unfold what is there: what is stored for one is of no use for the next. Prints for
each BERTVIZ_MEMORY_MB, 0 for none, the server's part of it (the rest is for the process that trains); what the largest
process had of its own when it was warm, at its peak and at the end, which is what the bound is for; the same peak with
the pages of libraries, which processes share; how many runs were answered, how fast, at how much processor time, how
many were refused because the memory was full; and what else went wrong.

--app names another folder or commit; with @2 behind its name it is served as `python -m deploy` does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from classroom import find_app, find_percentile
from served import ROOT, Server, measure_memory, serving
from users import Tally, User
from wire import Conversation

sys.path.insert(0, str(ROOT))

from bertviz_core.sharing.machine import read_used
from bertviz_core.sharing.memory import SETTING, Budget

FULL = "memory is full"
_VOCABULARY = ROOT / "bertviz_core/models/bundled/vocab.txt"
_LENGTHS = 280, 480  # words of a sentence, each a token
_PAGES = ("attention", "layers", "heads", "predictions", "feed_forward", "embeddings", "attention_output", "add_norm")
_LOOKS = 3  # at a sentence, before the next one
_LOOK_S = 0.2  # between two looks at the memory
_MB = 1_000_000


@dataclass
class Row:
    """What was measured. own, resident: bytes of the largest process at each look; tally: what the users met."""

    warm: int = 0
    own: list[int] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)
    spent_ms: float = 0.0
    tally: Tally = field(default_factory=Tally)


class Reader(User):
    """Somebody who types long sentences only, and looks at them."""

    async def attend(self, after: float = 0.0) -> None:
        await asyncio.sleep(after)
        words = [word for word in _VOCABULARY.read_text(encoding="utf-8").split() if word.isascii() and word.isalpha()]
        self._words, self._talk = words, Conversation()
        line = await self._reach()
        line = await self._try(line, lambda: self._talk.open("attention"))
        while time.monotonic() < self.until:
            for decide in (self._write, *[self._look] * _LOOKS, self._turn_fold):
                line = await self._try(line, decide)
                if self._going:
                    line = await self._try(line, self._go_on)
        with suppress(OSError):
            await line.close()

    def _write(self) -> bytes:
        words = self._random.choices(self._words, k=self._random.randint(*_LENGTHS))
        return self._talk.type("Sentence", " ".join(words)) if "Sentence" in self._talk.fields else self._go()

    def _look(self) -> bytes:
        return self._go() if self._random.random() < 0.5 else self._choose_head()

    def _go(self) -> bytes:
        page = self._random.choice([page for page in _PAGES if page in self._talk.names])
        if not self._talk.must_open_menu(page):
            return self._talk.follow(page)
        self._going = [page]
        return self._talk.open_menu()


async def measure(server: Server, users: int, seconds: float) -> Row:
    """Have users read for a time, and look at the memory of the server's processes."""
    first = Reader(server.url, users, time.monotonic(), Tally())
    await first.attend()  # draws one page
    row, spent = Row(warm=max(map(find_own, server.pids))), server.cpu_ms()
    looking = asyncio.create_task(watch(server, row))
    readers = [Reader(server.url, seed, time.monotonic() + seconds, row.tally) for seed in range(users)]
    ends = await asyncio.gather(*(reader.attend() for reader in readers), return_exceptions=True)
    looking.cancel()
    row.spent_ms = server.cpu_ms() - spent
    row.tally.trouble.update(f"a user gave up: {end!r}" for end in ends if end is not None)
    return row


async def watch(server: Server, row: Row) -> None:
    while True:
        row.own.append(max(map(find_own, server.pids), default=0))
        row.resident.append(max((measure_memory([pid]) for pid in server.pids), default=0))
        await asyncio.sleep(_LOOK_S)


def find_own(pid: int) -> int:
    """Bytes that a process has for itself."""
    return read_used(Path(f"/proc/{pid}/status"))


def print_row(name: str, bound: int, row: Row) -> None:
    times, trouble = row.tally.times, Counter(row.tally.trouble)
    refused = sum(trouble.pop(what) for what in list(trouble) if FULL in what)
    part = Budget(bound * _MB).server
    print(
        f"{name[:13]:14s}{bound:7d}{part / _MB:7.0f}{row.warm / _MB:7.0f}{max(row.own) / _MB:7.0f}"
        f"{row.own[-1] / _MB:7.0f}{max(row.resident) / _MB:9.0f}{len(times):7d}{find_percentile(times, 50):8.2f}"
        f"{find_percentile(times, 95):7.2f}{row.spent_ms / max(1, len(times)):8.0f}{refused:8d}"
        f"{sum(trouble.values()):7d}",
        flush=True,
    )
    for what, count in trouble.most_common(6):
        print(f"  {count} x {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--bound", type=int, nargs="+", default=[1000, 1500, 0], help="megabytes; 0 for no setting")
    parser.add_argument("--users", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--app", action="append", metavar="FOLDER|COMMIT[@PROCESSES]", help="instead of this tree")
    asked = parser.parse_args()
    print(
        f"{'app':14s}{'bound':>7}{'part':>7}{'warm':>7}{'peak':>7}{'end':>7}{'resident':>9}{'runs':>7}{'median':>8}"
        f"{'95th':>7}{'ms/run':>8}{'refused':>8}{'errors':>7}"
    )
    with ExitStack() as stack:
        for app in [find_app(name, stack) for name in asked.app or [str(ROOT)]]:
            for bound in asked.bound:
                os.environ[SETTING] = str(bound or "")
                with serving(app.folder, processes=app.processes) as server:
                    row = asyncio.run(measure(server, asked.users, asked.seconds))
                    print_row(app.name, bound, row)
                    server.stop()
                    print(
                        server.log.read_text(errors="replace")[-1500:]
                        if "Traceback" in server.log.read_text(errors="replace")
                        else "",
                        end="",
                    )


if __name__ == "__main__":
    main()
