"""What ordinary visitors notice while a stranger attacks: `python benchmarks/attacks.py [--only NAME ...]`.

For each attack of benchmarks/attackers.py, and for `streamlit run app.py` and `python -m deploy` with two processes,
a new server is started. Twelve visitors open pages and choose layers, heads, tokens and sentences, and think between
two choices as those of a class do (benchmarks/users.py), on the wire that browsers use; a third of them sit far away,
ask 80 ms after they connect, and leave soon, for another one to come. Then the stranger comes, in a process of its
own; then it has gone. Prints a row for each: the seconds for which visitors waited before, during and after the
attack (median, 95th percentile; who waits still counts with the time so far), the seconds from its end until five
seconds begin in which the 95th percentile of all who wait is below a second again, and the memory in MB: the largest
server process by itself (resident, as the kernel notes its peak), the largest one with the processes that it started
(each page shared by several counted in parts, looked at twice a second), and everything together. Then the share of
the processors' time that the host of a virtual machine took for others during the attack: where that is much, the row
tells of the host. Then the tracebacks in the server's log, what went wrong at visitors (error pages, lost
connections, no answer), and below the row what the stranger did.

Bounds: 1.0 s for the 95th percentile during the attack, 5 s where it ends server processes, 5 s to recover, no
traceback, no error page, a stranger who did something, and the memory of a server process with all that it started
below BERTVIZ_MEMORY_MB, which is set to --memory-mb. Ends with status 1 where one is broken. --root has the app of
another folder attacked, such as a checkout of an older commit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from attackers import ATTACKS, Attack
from classroom import TRACEBACK, Outside, find_percentile
from kernel import find_stolen, read_memory, read_peak, read_ticks
from nuisances import list_servers
from served import ROOT, Server, list_family, serving
from users import THINK_S, Tally, User
from websockets.asyncio.client import ClientConnection

sys.path.insert(0, str(ROOT))

from rooms.opening import WHERE

SERVERS = {"run": 0, "deploy": 2}  # processes behind nginx; 0 is Streamlit's one by itself
CHOICES_OF_A_VISIT, OF_A_SHORT_ONE = 10, 1
MOST_S, RECOVERED_S = 1.0, 5.0  # bounds: of the 95th percentile during an attack, and of the recovery
WINDOW_S = 5.0  # so long it must be well to be well
JOURNEYS_S = 0.0, 0.0, 0.08  # of visitors in turn
PATIENCE_S = 30.0  # who is not well by then does not recover
_LOOK_S = 0.5
_HEAD = (
    f"{'attack':13s}{'server':8s}{'before':>12}{'during':>13}{'after':>13}{'recovery':>10}{'process':>9}"
    f"{'family':>8}{'all MB':>8}{'stolen':>8}{'traces':>8}{'errors':>8}"
)


@dataclass
class Wait:
    """From a visitor's wish until it is fulfilled, on the monotonic clock."""

    begin: float
    end: float = math.inf

    def last(self, now: float) -> float:
        """Seconds, up to now where it is not over."""
        return min(self.end, now) - self.begin


@dataclass
class Guest(User):
    """An ordinary visitor, who notes each wait, with the way back where the connection broke."""

    waits: list[Wait] = field(default_factory=list)
    _open: Wait | None = None

    async def _reach(self) -> ClientConnection:
        self._begin()
        return await super()._reach()

    async def _try(self, line: ClientConnection, decide: Callable[[], bytes]) -> ClientConnection:
        wait = self._begin()
        line = await super()._try(line, decide)
        wait.end, self._open = time.monotonic(), None
        return line

    def _begin(self) -> Wait:
        """The wait that goes on; a new one where none does."""
        if self._open is None:
            self._open = Wait(time.monotonic())
            self.waits.append(self._open)
        return self._open


@dataclass
class Memory:
    """Peaks in MB: of the largest server process, of one with all that it started, and of everything."""

    process: float = 0.0
    family: float = 0.0
    whole: float = 0.0

    def look(self, pid: int) -> None:
        """pid: the server's first process."""
        held = {each: read_memory(each) for each in list_family([pid])}
        for server in list_servers(pid):
            self.process = max(self.process, read_peak(server))
            self.family = max(self.family, sum(held.get(each, 0.0) for each in list_family([server])))
        self.whole = max(self.whole, sum(held.values()))


@dataclass
class Row:
    """What came of an attack.

    before, during, after: median and 95th percentile, in seconds; recovery: seconds, None where there was none;
    stolen: part of the processors' time that the host took; answers: how many during the attack; done: what the
    stranger did, how often; most: seconds that the 95th percentile may be during the attack.
    """

    attack: str
    server: str
    before: tuple[float, float]
    during: tuple[float, float]
    after: tuple[float, float]
    recovery: float | None
    memory: Memory
    stolen: float
    answers: int = 0
    tracebacks: int = 0
    trouble: dict[str, int] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    most: float = MOST_S

    def list_broken(self, memory_mb: float) -> list[str]:
        """The bounds that it breaks, in words."""
        held = max(self.memory.process, self.memory.family)
        checks = (
            (self.during[1] > self.most, f"95th percentile {self.during[1]:.2f} s, at most {self.most:g} s"),
            (
                self.recovery is None or self.recovery > RECOVERED_S,
                f"recovery {_say_seconds(self.recovery)}, at most {RECOVERED_S:g} s",
            ),
            (held > memory_mb, f"{held:.0f} MB, at most {memory_mb:.0f} MB"),
            (self.tracebacks > 0, f"{self.tracebacks} tracebacks, at most none"),
            (bool(self.trouble), f"{sum(self.trouble.values())} times something went wrong, at most none"),
            (not any(self.done.values()), "nothing was attacked"),
        )
        return [said for broken, said in checks if broken]


def _say_seconds(recovery: float | None) -> str:
    return "never" if recovery is None else f"{recovery:.1f} s"


def summarize(waits: Sequence[Wait], begin: float, end: float, now: float) -> tuple[float, float]:
    """Median and 95th percentile of all waits that somebody had at some moment between two; 0 where there is none."""
    times = [wait.last(now) for wait in waits if wait.begin < end and wait.end >= begin]
    return find_percentile(times, 50), find_percentile(times, 95)


def find_recovery(waits: Sequence[Wait], over: float, now: float) -> float | None:
    """Seconds from an attack's end until a window begins in which all is well; None where none does.

    A window without an answer is not well.
    """
    start = over
    while start + WINDOW_S <= now:
        answered = any(start <= wait.end < start + WINDOW_S for wait in waits)
        if answered and summarize(waits, start, start + WINDOW_S, now)[1] < MOST_S:
            return start - over
        start += _LOOK_S
    return None


async def watch(pid: int, memory: Memory) -> None:
    """Look at the memory, in another thread, as visitors must not wait for that."""
    while True:
        await asyncio.to_thread(memory.look, pid)
        await asyncio.sleep(_LOOK_S)


async def hold(server: Server | Outside, name: str, attack: Attack, kind: str, asked: argparse.Namespace) -> Row:
    """Visitors before, during and after an attack."""
    memory, tally, pid = Memory(), Tally(), server.pids[0]
    guests = [
        Guest(
            server.url,
            i,
            math.inf,
            tally,
            OF_A_SHORT_ONE if journey else CHOICES_OF_A_VISIT,
            attack.deadly,
            journey=journey,
        )
        for i, journey in zip(range(asked.visitors), cycle(JOURNEYS_S), strict=False)
    ]
    watching = asyncio.create_task(watch(pid, memory))
    visits = [asyncio.create_task(guest.attend(i * THINK_S[1] / len(guests))) for i, guest in enumerate(guests)]

    def list_waits() -> list[Wait]:
        return [wait for guest in guests for wait in guest.waits]

    await warm_up(list_waits, asked.seconds / 2)
    calm = time.monotonic()
    await asyncio.sleep(asked.seconds / 2)
    begin, ticks = time.monotonic(), read_ticks()
    done = await be_attacked(name, server.url, pid, asked.seconds)
    over, stolen = time.monotonic(), find_stolen(ticks, read_ticks())
    while find_recovery(list_waits(), over, time.monotonic()) is None and time.monotonic() < over + PATIENCE_S:
        await asyncio.sleep(_LOOK_S)
    now, waits = time.monotonic(), list_waits()
    for task in (watching, *visits):
        task.cancel()
    ends = await asyncio.gather(*visits, return_exceptions=True)
    tally.trouble.update(f"a visitor gave up: {end!r}" for end in ends if isinstance(end, Exception))
    later, answers = [wait for wait in waits if wait.begin >= over], sum(begin <= wait.end < over for wait in waits)
    return Row(
        name,
        kind,
        summarize(waits, calm, begin, now),
        summarize(waits, begin, over, now),
        summarize(later, over, now, now),
        find_recovery(waits, over, now),
        memory,
        stolen,
        answers,
        trouble=dict(+tally.trouble),
        done=done,
        most=RECOVERED_S if attack.deadly else MOST_S,
    )


async def warm_up(list_waits: Callable[[], list[Wait]], seconds: float) -> None:
    """Until the server has answered somebody, and for some seconds more: what is slow once is not measured."""
    while not any(wait.end < math.inf for wait in list_waits()):
        await asyncio.sleep(_LOOK_S)
    await asyncio.sleep(seconds)


async def be_attacked(name: str, url: str, pid: int, seconds: float) -> dict[str, int]:
    """Have a stranger attack for some seconds. Returns what it did, how often."""
    script = str(Path(__file__).with_name("attackers.py"))
    stranger = await asyncio.create_subprocess_exec(
        *(sys.executable, script, name, url, "--seconds", str(seconds), "--pid", str(pid)), stdout=PIPE
    )
    assert stranger.stdout is not None
    try:
        said, _ = await asyncio.wait_for(stranger.communicate(), seconds + 60.0)
    except TimeoutError:  # too busy with itself to notice the time
        stranger.kill()
        return {}
    return json.loads(said or b"{}")


def attack_server(name: str, kind: str, asked: argparse.Namespace) -> Row:
    """A row of the table, on a server of its own."""
    attack = ATTACKS[name]
    told = {"BERTVIZ_MEMORY_MB": f"{asked.memory_mb:g}", "BERTVIZ_MODELS": "" if attack.open else "bundled"}
    with ExitStack() as held:
        told[WHERE] = f"{held.enter_context(TemporaryDirectory())}/rooms.sqlite"  # else this user's, of all servers
        server = held.enter_context(serving(asked.root.resolve(), sys.executable, SERVERS[kind], asked.port, told))
        set_priority(-5)  # whoever measures must not wait for a core; neither server nor stranger inherit it
        row = asyncio.run(hold(server, name, attack, kind, asked))
        set_priority(0)
        server.stop()
        log = server.log.read_text(errors="replace")
    row.tracebacks = log.count(TRACEBACK)
    if row.tracebacks:
        print(f"the first traceback: {log.split(TRACEBACK)[1].strip()[:4000]}", file=sys.stderr, flush=True)
    return row


def set_priority(nice: int) -> None:
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, nice)


def render_row(row: Row, memory_mb: float) -> str:
    """A line of the table; below it what was done, what went wrong, and which bounds that breaks."""
    waited = [f"{median:.2f} {late:.2f}" for median, late in (row.before, row.during, row.after)]
    held = row.memory
    lines = [
        f"{row.attack:13s}{row.server:8s}{waited[0]:>12}{waited[1]:>13}{waited[2]:>13}"
        f"{_say_seconds(row.recovery):>10}{held.process:9.0f}{held.family:8.0f}{held.whole:8.0f}"
        f"{row.stolen:8.0%}{row.tracebacks:8d}{sum(row.trouble.values()):8d}"
    ]
    most = sorted(row.done.items(), key=lambda each: -each[1])[:8]
    lines += [
        f"  {row.answers} answers to visitors during the attack, which did: "
        + (", ".join(f"{n} {what}" for what, n in most if n) or "nothing")
    ]
    lines += [f"  {n} x {what}" for what, n in sorted(row.trouble.items(), key=lambda each: -each[1])[:6]]
    return "\n".join([*lines, *(f"  BROKEN: {said}" for said in row.list_broken(memory_mb))])


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS), metavar="NAME")
    parser.add_argument("--servers", nargs="+", choices=list(SERVERS), default=list(SERVERS))
    parser.add_argument("--seconds", type=float, default=30.0, help="that an attack lasts")
    parser.add_argument("--visitors", type=int, default=12)
    parser.add_argument("--memory-mb", type=float, default=2000.0, help="what a server process may take (%(default)g)")
    parser.add_argument("--port", type=int, default=0, help="to listen on, instead of a free one")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the app, instead of this tree")
    parser.add_argument("--json", type=Path, metavar="FILE", help="to write the rows to")
    return parser.parse_args()


def main() -> int:
    asked = read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends, too
    print(_HEAD, flush=True)
    rows = []
    for name in asked.only:
        for kind in asked.servers:
            if kind in ATTACKS[name].servers:
                rows.append(attack_server(name, kind, asked))
                print(render_row(rows[-1], asked.memory_mb), flush=True)
                if asked.json:
                    asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 1 if any(row.list_broken(asked.memory_mb) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
