"""A class on phones beside visitors of the app: `python benchmarks/class_room.py [--phones 300] [--visitors 20]`.

For `streamlit run app.py` and for `python -m deploy` with two processes: visitors open pages and choose for a while,
the same ones in the same order each time, and a first time that does not count, so that each time the server has worked
out as much before. They do so by themselves; then a room is opened, phones come in, listen and answer every question
within ten seconds, while who leads it goes on and the visitors are there; then as many phones are in a class elsewhere,
which costs the app nothing (benchmarks/elsewhere.py), beside the visitors of the app. Prints the seconds (median, 95th
percentile, longest) until an answer was confirmed and until an act of who leads was heard of, those for which visitors
waited without phones, with the class, and with phones elsewhere: what these are more than without is the phones' own
doing, which take of the same machine what they take; the seconds of the processor that phones and visitors took of it,
what went wrong, whether the counts are those of the answers that were confirmed, the kilobytes of the phone's page as
they come, the milliseconds until Chromium has drawn it first beside the visitors (median), the megabytes that the
server's processes grew by, visitors included, and the kilobytes of the store.

Bounds: 0.3 s for the 95th percentile of answers, 30 kB, 500 ms, and no wrong count. Ends with status 1 where one is
broken.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import statistics
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from elsewhere import CODE, serving_elsewhere
from phones import Heard, Phone, ask
from playwright.async_api import async_playwright
from served import ROOT, Server, measure_memory, serving
from users import Tally, User

sys.path.insert(0, str(ROOT))

from rooms.opening import WHERE, open_rooms
from rooms.plan import PICK, Answer, Plan, Question

SERVERS = {"run": 0, "deploy": 2}  # processes behind nginx; 0 is Streamlit's one by itself
MOST_S, MOST_KB, MOST_MS = 0.3, 30.0, 500.0
THINK_S, QUESTIONS, SHOWN_S = 10.0, 4, 2.0
LASTS_S = 6 + QUESTIONS * (THINK_S + 2 + 2 * SHOWN_S)  # a class; visitors are without one as long
_SEED, _COLD_S = 200, 15.0  # of the first visitor; in which a server works out what it does once
_TOKENS = ("[CLS]", "when", "in", "rome", ",", "do", "as", "the", "[MASK]", "do", ".", "[SEP]")
_SAYS = "Without it the word keeps less than half of what it had; another token costs more, which is not a noun. " * 2


@dataclass
class Row:
    """What came of a class beside visitors; see above."""

    server: str
    heard: Heard
    alone: Tally
    beside: Tally
    elsewhere: Tally
    counts: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    kilobytes: float = 0.0
    paints: list[float] = field(default_factory=list)
    driven: float = 0.0
    grown: float = 0.0
    kept: float = 0.0

    def list_broken(self) -> list[str]:
        """The bounds that do not hold."""
        answers, paint = find_percentile(self.heard.confirmed), statistics.median(self.paints or [0.0])
        told = {
            f"95th percentile of answers {answers:.2f} s, at most {MOST_S} s": answers > MOST_S,
            f"{self.kilobytes:.1f} kB, at most {MOST_KB:.0f}": self.kilobytes > MOST_KB,
            f"first drawn after {paint:.0f} ms, at most {MOST_MS:.0f}": paint > MOST_MS,
            "the counts are not those of the answers that were confirmed": self.counts != self.heard.given,
        }
        return [text for text, broken in told.items() if broken]


def find_percentile(times: Sequence[float]) -> float:
    """The 95th percentile, nearest rank; 0 of none."""
    return sorted(times)[max(0, -(-len(times) * 95 // 100) - 1)] if times else 0.0


def make_plan() -> Plan:
    """Questions as long as the lessons' own."""
    answers = tuple(Answer(f"{i} {token}", _SAYS, f"{i}.5 %", i) for i, token in enumerate(_TOKENS))
    ask_ = "Without which word of the sentence does “people”, now 7.4 %, lose most?"
    return Plan(
        "What if", "a class", (Question("Which word", _SAYS, ask_, PICK, 7, answers, tokens=_TOKENS),) * QUESTIONS
    )


async def visit(url: str, visitors: int) -> Tally:
    """So many visitors of the app, for as long as a class."""
    tally, until = Tally(), time.monotonic() + LASTS_S
    await asyncio.gather(*(User(url, _SEED + i, until, tally).attend(i * 0.2) for i in range(visitors)))
    return tally


async def lead(url: str, code: str, secret: str, acted: dict[int, float]) -> None:
    """Lead a class through all its questions, and look at the counts once a second."""
    version = 1

    async def act() -> None:
        nonlocal version
        acted[version + 1] = time.monotonic()
        status, said = await ask(url, f"/lead/{code}/act", {"do": "next", "version": version}, secret)
        if status != 200:
            raise RuntimeError(f"who leads was refused: {said}")
        version = said["version"]

    await asyncio.sleep(6)
    for _ in range(QUESTIONS):
        await act()
        end = time.monotonic() + THINK_S + 2
        while time.monotonic() < end:
            await ask(url, f"/lead/{code}/state", None, secret)
            await asyncio.sleep(1)
        for _ in range(2):
            await act()
            await asyncio.sleep(SHOWN_S)
    await act()


async def look_at_page(url: str, paints: list[float], times: int = 5) -> None:
    """How long Chromium takes until the phone's page is drawn first, in fresh windows, once the server is warm."""
    await asyncio.sleep(_COLD_S)
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(times):
            page = await browser.new_page(viewport={"width": 390, "height": 844})
            await page.goto(f"{url}/join/")
            await page.wait_for_selector("h1")
            paints.append(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            await page.close()
            await asyncio.sleep(1)
        await browser.close()


def measure_page(url: str) -> float:
    """Kilobytes of the phone's page with all that it loads."""
    sizes: dict[str, int] = {}
    waiting = ["/join/"]
    while waiting:
        path = waiting.pop()
        with urllib.request.urlopen(url + path, timeout=20) as answer:
            text = answer.read().decode()
        sizes[path] = len(text.encode())
        waiting += [f"/{each}" for each in re.findall(r'"\.\./(rooms/[a-z.]+)"', text)]
        waiting += [f"/rooms/{each}" for each in re.findall(r'from "\./([a-z]+\.js)"', text)]
        waiting = [each for each in waiting if each not in sizes]
    return sum(sizes.values()) / 1000


async def hold_class(
    url: str, app: str, code: str, secret: str, heard: Heard, asked: argparse.Namespace
) -> tuple[Tally, float]:
    """A class at `url`, and beside it visitors of the app: what these met, and the seconds of the processor that all
    of them took.
    """
    acted: dict[int, float] = {}
    phones = [Phone(url, code, i, heard, acted, THINK_S) for i in range(asked.phones)]
    driven = time.process_time()
    visiting = asyncio.create_task(visit(app, asked.visitors))
    await asyncio.gather(lead(url, code, secret, acted), *(phone.take_part() for phone in phones))
    return await visiting, time.process_time() - driven


async def measure(server: Server, name: str, asked: argparse.Namespace, rooms: str) -> Row:
    """A class on a server that has just started."""
    url, store = server.url, open_rooms(rooms)
    paints: list[float] = []
    await asyncio.gather(visit(url, asked.visitors), look_at_page(url, paints))
    alone = await visit(url, asked.visitors)
    before = measure_memory(server.pids)
    opened = store.open(make_plan(), "", time.time() + 3600)
    row = Row(name, Heard(), alone, Tally(), Tally(), kilobytes=measure_page(url), paints=paints)
    row.beside, row.driven = await hold_class(url, url, opened.code, opened.secret, row.heard, asked)
    row.grown = (measure_memory(server.pids) - before) / 1e6
    row.kept = sum(each.stat().st_size for each in Path(rooms).parent.iterdir()) / 1000
    _, votes = store.count(opened.code)
    row.counts = Counter({(*at, kept): times for at, each in votes.items() for kept, times in each.items()})
    with serving_elsewhere(make_plan()) as other:
        row.elsewhere, _ = await hold_class(other, url, CODE, "", Heard(), asked)
    return row


def render_row(row: Row) -> str:
    """A row as it is printed."""

    def tell(times: list[float]) -> str:
        return f"{statistics.median(times):.2f} {find_percentile(times):.2f} {max(times):.2f}" if times else "none"

    heard = row.heard
    lines = [
        f"{row.server}: {len(heard.entered)} phones, {len(heard.confirmed)} answers: {tell(heard.confirmed)} s; an act "
        f"heard of: {tell(heard.told)} s; come in: {tell(heard.entered)} s",
        f"  visitors without: {tell(row.alone.times)} s; with: {tell(row.beside.times)} s; with phones elsewhere: "
        f"{tell(row.elsewhere.times)} s; phones and visitors took {row.driven:.1f} s of the processor",
        f"  page {row.kilobytes:.1f} kB, first drawn {statistics.median(row.paints or [0.0]):.0f} ms; server grown "
        f"by {row.grown:.0f} MB, store {row.kept:.0f} kB",
        f"  trouble: {dict(heard.trouble + row.beside.trouble) or 'none'}",
    ]
    return "\n".join([*lines, *(f"  BROKEN: {each}" for each in row.list_broken())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--servers", nargs="+", choices=list(SERVERS), default=list(SERVERS))
    asked = parser.parse_args()
    broken = False
    for name in asked.servers:
        with TemporaryDirectory() as folder:
            rooms = str(Path(folder) / "rooms.sqlite")
            with (
                suppress(KeyboardInterrupt),
                serving(ROOT, processes=SERVERS[name], environment={WHERE: rooms}) as server,
            ):
                row = asyncio.run(measure(server, name, asked, rooms))
                print(render_row(row), flush=True)
                broken |= bool(row.list_broken())
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
