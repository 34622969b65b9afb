"""What measures the app under attack: who counts as waiting, when it says that all is well again, and its bounds."""

import asyncio
import math
import os
import subprocess
import sys
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor

import attacks
import pytest
from attackers import ATTACKS
from attacks import Guest, Memory, Row, Wait, find_recovery, hold, render_row, summarize
from classroom import Outside
from hostile import PARAMETERS
from lines import greet
from nuisances import list_servers
from stranger import Stranger
from users import Tally

from bertviz_core.ui.frame.keys import COMMON
from tests.loops import run_alone

SLOW = [Wait(at, at + 3.0) for at in range(10, 20)]  # during an attack that ends at 20
QUICK = [Wait(23 + i / 6, 23.2 + i / 6) for i in range(100)]


def row(**changed):
    calm = (0.1, 0.3)
    return Row("odd", "run", calm, calm, calm, 0.5, Memory(900, 1100, 1300), 0.0, **{"done": {"sent": 5}, **changed})


def test_hostile_addresses_name_all_that_a_page_takes_from_one():
    assert {key.name for key in COMMON} < set(PARAMETERS)
    assert {"patch-word", "numbers", "direction", "story-of"} < set(PARAMETERS)  # of single pages


def test_who_still_waits_counts_with_the_time_so_far():
    waits = [Wait(0.0, 0.5), Wait(2.0, 2.1), Wait(2.5), Wait(9.0, 9.1)]
    assert summarize(waits, 1.0, 6.0, now=8.5) == pytest.approx((3.05, 5.705))  # of 0.1 s and 6 s
    assert summarize(waits, 3.0, 4.0, now=8.5) == (6.0, 6.0)
    assert summarize(waits, 0.6, 1.9, now=8.5) == (0.0, 0.0)


def test_all_is_well_when_nobody_waits_long_for_five_seconds():
    assert find_recovery([*SLOW, *QUICK], 20.0, 40.0) == 1.5  # one answer comes at 21, one at 22
    assert find_recovery(QUICK, 23.0, 40.0) == 0.0
    assert find_recovery([*SLOW, *QUICK], 20.0, 26.0) is None  # five seconds have not passed
    assert find_recovery([*SLOW, Wait(19.5), *QUICK], 20.0, 40.0) == 2.5  # one of many may still wait
    assert find_recovery([Wait(19.5 + i / 10) for i in range(12)], 20.0, 40.0) is None
    assert find_recovery([], 20.0, 40.0) is None  # where nobody is answered, nothing is known


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"tracebacks": 2}, "2 tracebacks"),
        ({"trouble": {"disconnect": 3}}, "3 times something went wrong"),
        ({"done": {"refused": 0}}, "nothing was attacked"),
    ],
)
def test_bounds_of_what_goes_wrong(changed, said):
    broken = row(**changed).list_broken(1200)
    assert len(broken) == bool(said) and said in "".join(broken)


def test_bounds_of_time_and_memory():
    slow = row()
    slow.during, slow.recovery = (0.2, 1.01), None
    assert slow.list_broken(1099) == [
        "95th percentile 1.01 s, at most 1 s",
        "recovery never, at most 5 s",
        "1100 MB, at most 1099 MB",
    ]
    slow.memory.process = 1500
    slow.recovery = 5.1
    assert slow.list_broken(1499)[1:] == ["recovery 5.1 s, at most 5 s", "1500 MB, at most 1499 MB"]
    slow.most = 1.02  # of one that ends server processes
    assert slow.list_broken(1500) == ["recovery 5.1 s, at most 5 s"]


def test_a_row_stands_below_its_head_and_says_what_was_done():
    line, did, *more = render_row(row(done={"sent": 5, "refused": 0}), 1200).splitlines()
    assert len(line) == len(attacks._HEAD) and more == []
    assert did == "  0 answers to visitors during the attack, which did: 5 sent"
    assert line.split() == ["odd", "run", *["0.10", "0.30"] * 3, "0.5", "s", "900", "1100", "1300", "0%", "0", "0"]
    said = render_row(row(trouble={"no answer": 1, "disconnect": 4}), 1000)
    assert said.splitlines()[2:4] == ["  4 x disconnect", "  1 x no answer"]
    assert "BROKEN: 1100 MB, at most 1000 MB" in said


def test_every_attack_says_what_a_stranger_does():
    assert all((attack.act.__doc__ or "").strip() for attack in ATTACKS.values())
    assert len({attack.act for attack in ATTACKS.values()}) == len(ATTACKS)


def test_memory_of_a_process_and_of_what_it_has_started():
    idle = "import time; held = bytes(range(256)) * 400_000; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", idle], stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdout.readline()
        memory = Memory()
        memory.look(os.getpid())
        child.kill()
    assert list_servers(os.getpid()) == [os.getpid()]
    assert memory.family > 100 and memory.family - attacks.read_memory(os.getpid()) > 90
    assert memory.process >= attacks.read_memory(os.getpid()) * 0.9
    assert attacks.read_memory(child.pid) == 0.0


def test_a_visitor_is_counted_from_the_wish_to_the_answer_also_over_a_broken_connection(monkeypatch):
    guest = Guest("http://127.0.0.1:9", 0, math.inf, Tally())

    async def visit():
        first = guest._begin()
        assert guest._begin() is first  # reaching the server is a part of it
        await guest._try(None, lambda: b"")  # type: ignore[arg-type]
        return first

    async def answer(self, line, decide):
        return line

    monkeypatch.setattr(attacks.User, "_try", answer)
    wait = run_alone(visit())
    assert guest.waits == [wait] and wait.end < math.inf


@pytest.mark.slow
def test_a_visitor_beside_an_attack(server, monkeypatch):
    async def attack(*_):
        return {"sent": 1}

    monkeypatch.setattr(attacks, "be_attacked", attack)
    monkeypatch.setattr(attacks, "PATIENCE_S", 0.0)
    asked = Namespace(visitors=1, seconds=0.0)
    beside = hold(Outside(server, [os.getpid()]), "slow-heads", ATTACKS["slow-heads"], "run", asked)
    with ThreadPoolExecutor(1) as own:  # in this thread Playwright may have a loop running
        met = own.submit(asyncio.run, beside).result()
    assert met.done == {"sent": 1} and met.trouble == {} and met.recovery is None and met.memory.process > 100


async def attack_silence():
    """A stranger at a server that says nothing. Returns the lines that came first, and how many connections it made."""
    taken, enough = [], asyncio.Event()

    async def take(reader, writer):
        taken.append(await reader.readline())
        if len(taken) == 100:
            enough.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        stranger = Stranger(f"http://127.0.0.1:{port}", time.monotonic() + 600)
        attacking = asyncio.create_task(ATTACKS["slow-heads"].act(stranger))
        await enough.wait()
        attacking.cancel()
        await asyncio.gather(attacking, return_exceptions=True)
    return taken, stranger.done["connections"]


def test_a_stranger_begins_a_hundred_requests_and_ends_none():
    with ThreadPoolExecutor(1) as own:
        taken, made = own.submit(asyncio.run, attack_silence()).result()
    assert taken == [b"GET / HTTP/1.1\r\n"] * 100 and made >= 100


def test_a_stranger_tries_again_where_it_is_refused(monkeypatch):
    monkeypatch.setattr("stranger.AGAIN_S", 0.0)
    stranger, tries = Stranger("", time.monotonic() + 600), iter([ConnectionError, EOFError, TimeoutError, None])

    async def act():
        if refused := next(tries):
            raise refused
        stranger.until = 0.0

    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, stranger.insist(act)).result()
    assert [*stranger.done] == [f"refused ({name})" for name in ("ConnectionError", "EOFError", "TimeoutError")]


def test_a_stranger_is_let_in_with_the_cookies_of_a_browser(server):
    stranger = Stranger(server, math.inf)
    with ThreadPoolExecutor(1) as own:
        assert (
            own.submit(asyncio.run, stranger.come()).result().keys()
            == own.submit(asyncio.run, greet(server)).result().keys()
            != set()
        )
