"""A class at once: `python benchmarks/classroom.py [--users 12 30 40 100] [--seconds 60] [--browsers 3]`.

Users on the wire that browsers use, and some real browsers, choose heads, layers, tokens, pages and sentences, open
explanations and folds, and think 2 to 6 s. Prints a row for each number of users: the seconds from a request to the end
of its run (median, 95th percentile, longest), those until its first thing is on screen (95th percentile), what went
wrong (error pages, exceptions, lost connections, no answer within 120 s, tracebacks in the server's log), the server's
memory at its peak, its processor time per run, and the share of one core that the users themselves took, without the
browsers.

--cold TIMES starts a cold server for each row, to which all come in the same moment. --kill-every SECONDS ends the
server again and again, in turn by SIGKILL and SIGTERM, and starts it anew: who comes back by URL must see what was
there. --churn has every user leave after a few choices, and another one come: prints the memory as it goes on, and how
much it grew from the second quarter of the time to the last. --app, a folder or a commit, may be given more than once:
then the rows of all take turns, and the users open only those pages that all of them have; with @2 behind its name it
is served by `python -m deploy`, two processes behind nginx.
--url has the users visit a server that runs already, whose processes --pid names. --dear SHARE: so many of the users,
the same ones each time, open no other pages than those where passes are worked out beside the page: Where from, Patch,
Compare.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from served import ROOT, Server, checked_out, cpu_ms, list_family, measure_memory, serving
from users import THINK_S, Tally, User

CHOICES_OF_A_VISIT = 5  # under churn
_FIRST = "overview"  # the page that has no name in its URL
DEAR = ("where_from", "patch", "compare")
_LOOK_S = 1.0  # between two looks at the memory
_SAY_S = 30.0  # between two lines about it, under churn
_MB = 1_000_000
TRACEBACK, _LONGEST = "Traceback ", 4_000  # plain or coloured, as the log has it; characters of one that are printed
_HEAD = (
    f"{'app':14s}{'users':>6}{'runs':>7}{'median':>8}{'95th':>7}{'longest':>8}{'first':>7}{'errors':>7}{'back':>6}"
    f"{'MB':>7}{'ms/run':>8}{'client':>8}"
)


@dataclass(frozen=True)
class Plan:
    """What the users of a row do. cold: they come to a server that has drawn nothing yet, in the same moment; dear: the
    share of those who open only the pages where passes are worked out beside the page; pages: what the others open, all
    where none are named."""

    users: int
    seconds: float
    cold: bool = False
    kill_every: float = 0.0
    churn: bool = False
    browsers: int = 0
    disturbed: bool = False
    seed: int = 0
    dear: float = 0.0
    pages: tuple[str, ...] = ()

    def choose_pages(self, user: int) -> tuple[str, ...]:
        """The only pages of one of the users; those of dear pages are spread evenly among all."""
        return DEAR if int((user + 1) * self.dear) > int(user * self.dear) else self.pages


@dataclass
class Row:
    """What was measured. memory: (second, bytes); spent_ms: processor time of the server; own: share of a core."""

    tally: Tally = field(default_factory=Tally)
    browsers: Tally = field(default_factory=Tally)
    memory: list[tuple[float, int]] = field(default_factory=list)
    spent_ms: float = 0.0
    own: float = 0.0

    @property
    def trouble(self) -> Counter[str]:
        return self.tally.trouble + Counter({f"browser: {key}": n for key, n in self.browsers.trouble.items()})


@dataclass(frozen=True)
class App:
    """An app that is measured, by its name in the table. processes: behind nginx; 0 for Streamlit by itself."""

    name: str
    folder: Path
    processes: int


class Outside:
    """A server that somebody else runs: only its processes are known, if at all."""

    def __init__(self, url: str, pids: Sequence[int]) -> None:
        self.url, self._pids = url, list(pids)

    @property
    def pids(self) -> list[int]:
        return list_family(self._pids)

    def cpu_ms(self) -> float:
        total = 0.0
        for pid in self.pids:
            with suppress(OSError):
                total += cpu_ms(pid)
        return total


async def hold_class(server: Server | Outside, plan: Plan) -> Row:
    """Have the users of a plan visit a server, and measure."""
    row, began, own = Row(), time.monotonic(), time.process_time()
    spent, until = server.cpu_ms(), began + plan.seconds
    disturbed, choices = plan.disturbed or bool(plan.kill_every), CHOICES_OF_A_VISIT if plan.churn else 0
    users = [
        User(server.url, plan.seed * 1000 + i, until, row.tally, choices, disturbed, pages=plan.choose_pages(i))
        for i in range(plan.users)
    ]
    around = [asyncio.create_task(watch(server, plan, row, began))]
    if plan.kill_every:
        around.append(asyncio.create_task(kill_again(server, plan.kill_every, until)))
    with browsing(server.url, plan) as browsers:
        spread = 0.0 if plan.cold else THINK_S[1] / plan.users
        ends = await asyncio.gather(*(user.attend(i * spread) for i, user in enumerate(users)), return_exceptions=True)
        row.tally.trouble.update(f"a user gave up: {end!r}" for end in ends if end is not None)
        row.own = (time.process_time() - own) / (time.monotonic() - began)
        while any(browser.poll() is None for browser in browsers):
            await asyncio.sleep(0.1)
    for task in around:
        task.cancel()
    for browser in browsers:
        add_browser(row.browsers, *browser.communicate())
    row.spent_ms = server.cpu_ms() - spent
    return row


async def watch(server: Server | Outside, plan: Plan, row: Row, began: float) -> None:
    """Look at the server's memory now and then."""
    said = 0.0
    while True:
        row.memory.append((time.monotonic() - began, measure_memory(server.pids)))
        second, held = row.memory[-1]
        if plan.churn and second - said >= _SAY_S:
            said = second
            print(f"  after {second:5.0f} s and {row.tally.visits:5d} visits: {held / _MB:6.0f} MB", flush=True)
        await asyncio.sleep(_LOOK_S)


async def kill_again(server: Server | Outside, every: float, until: float) -> None:
    """End the server and start it anew, until shortly before the users leave."""
    assert isinstance(server, Server)
    for how in [signal.SIGKILL, signal.SIGTERM] * 1000:
        await asyncio.sleep(every)
        if time.monotonic() + every / 2 > until:
            return
        await asyncio.to_thread(server.stop, how)
        await asyncio.to_thread(server.start)


@contextmanager
def browsing(url: str, plan: Plan) -> Iterator[list[subprocess.Popen[str]]]:
    """Real browsers that visit the app for a plan's time, each with a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("browsers.py")), url, str(plan.seconds)]
    browsers = [
        subprocess.Popen(
            [*command, str(plan.seed * 1000 + i)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(plan.browsers)
    ]
    try:
        yield browsers
    finally:
        for browser in browsers:
            if browser.poll() is None:
                browser.terminate()


def add_browser(tally: Tally, said: str, wrong: str) -> None:
    """What a browser printed, added to what all met."""
    try:
        met = json.loads(said)
    except ValueError:
        tally.trouble[f"ended: {wrong.strip()[-200:]}"] += 1
        return
    tally.times += met["times"]
    tally.trouble.update(met["trouble"])


def find_percentile(times: Sequence[float], percent: int) -> float:
    """The time that so many percent of all do not exceed; of few times the nearest ones are weighed."""
    if len(times) < 2:
        return times[0] if times else 0.0
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def find_growth(memory: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Bytes: the median of the second quarter of the time, and how much larger that of the last one is."""
    quarter = len(memory) // 4
    before, after = (
        statistics.median([held for _, held in part]) for part in (memory[quarter : 2 * quarter], memory[-quarter:])
    )
    return before, after - before


def print_row(name: str, users: int, row: Row, log: str) -> None:
    """A line of the table; below it what went wrong, how often, and the first traceback of the server's log."""
    tally, (_, *tracebacks) = row.tally, log.split(TRACEBACK)
    runs = len(tally.times) + len(tally.back)
    errors, peak = sum(row.trouble.values()) + len(tracebacks), max((held for _, held in row.memory), default=0)
    spent = row.spent_ms / max(1, runs + len(row.browsers.times))
    times = [find_percentile(tally.times, percent) for percent in (50, 95)]
    print(
        f"{name[:13]:14s}{users:6d}{runs:7d}{times[0]:8.2f}{times[1]:7.2f}{max(tally.times, default=0):8.2f}"
        f"{find_percentile(tally.first, 95):7.2f}{errors:7d}{len(tally.back):6d}{peak / _MB:7.0f}{spent:8.0f}"
        f"{row.own:8.0%}",
        flush=True,
    )
    if tally.back:
        print(
            f"  came back by URL: {len(tally.back)} times, after {find_percentile(tally.back, 50):.1f} s (median), "
            f"{max(tally.back):.1f} s at most; {tally.changed} saw something else than before"
        )
    if row.browsers.times:
        times = [find_percentile(row.browsers.times, percent) for percent in (50, 95)]
        print(
            f"  in the browsers, until all was drawn: {len(row.browsers.times)} choices, median {times[0]:.2f} s, "
            f"95th percentile {times[1]:.2f} s"
        )
    for what, count in row.trouble.most_common(8):
        print(f"  {count} x {what}")
    if tracebacks:
        print(f"  {len(tracebacks)} x tracebacks in the log; the first: {tracebacks[0].strip()[:_LONGEST]}")


def hold_and_print(app: App, python: str, plan: Plan) -> Row:
    """A row of the table, on a server of its own."""
    with serving(app.folder, python, app.processes) as server:
        if not plan.cold:  # each page once
            asyncio.run(hold_class(server, Plan(users=4, seconds=20.0, seed=999)))
        row = asyncio.run(hold_class(server, plan))
        server.stop()
        print_row(app.name, plan.users, row, server.log.read_text(errors="replace"))
    return row


def find_app(named: str, stack: ExitStack) -> App:
    """What --app names; a commit is checked out until the stack is closed."""
    place, _, processes = named.partition("@")
    folder = Path(place).resolve() if Path(place).is_dir() else stack.enter_context(checked_out(place))
    return App(f"{Path(place).resolve().name}@{processes}".rstrip("@"), folder, int(processes or 0))


def list_common(apps: Sequence[App]) -> tuple[str, ...]:
    """The pages that all of several apps have, by their names in URLs; of one app none are named, and all are open."""
    if len(apps) < 2:
        return ()
    common = set.intersection(*({path.stem for path in app.folder.glob("pages/*.py")} for app in apps))
    return tuple(sorted("" if name == _FIRST else name for name in common))


def print_growth(row: Row) -> None:
    before, growth = find_growth(row.memory)
    print(
        f"  memory: {before / _MB:.0f} MB in the second quarter of the time, {growth / _MB:+.0f} MB in the last; "
        f"{row.tally.visits} visits"
    )


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--users", type=int, nargs="+", default=[12, 30, 40])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--browsers", type=int, default=3)
    parser.add_argument("--cold", type=int, default=0, metavar="TIMES")
    parser.add_argument("--kill-every", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--churn", action="store_true")
    parser.add_argument("--dear", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--app", action="append", metavar="FOLDER|COMMIT[@PROCESSES]", help="instead of this tree")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the app")
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--pid", type=int, nargs="+", default=[], help="its processes; their children are found")
    parser.add_argument("--disturbed", action="store_true", help="somebody kills that server, or parts of it")
    return parser.parse_args()


def main() -> None:
    asked = read_arguments()
    with suppress(PermissionError):  # who waits for a core measures that
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    print(_HEAD)
    with ExitStack() as stack:
        apps = [find_app(name, stack) for name in asked.app or [str(ROOT)]]
        pages = list_common(apps)
        for seed in range(asked.cold or asked.rounds):
            for users in asked.users:
                plan = Plan(
                    users,
                    asked.seconds,
                    bool(asked.cold),
                    asked.kill_every,
                    asked.churn,
                    asked.browsers,
                    asked.disturbed,
                    seed,
                    asked.dear,
                    pages,
                )
                if asked.url:
                    row = asyncio.run(hold_class(Outside(asked.url, asked.pid), plan))
                    print_row(asked.url.partition("//")[2], users, row, "")
                    continue
                for app in apps:
                    row = hold_and_print(app, asked.python, plan)
                    if asked.churn:
                        print_growth(row)


if __name__ == "__main__":
    main()
