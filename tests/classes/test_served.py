"""A class of thirty on a real server: two processes behind nginx of which one is killed, and Streamlit by itself."""

import asyncio
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from nuisances import list_servers
from phones import Heard, Phone
from served import ROOT, serving

from rooms.opening import WHERE, open_rooms
from tests.classes.plans import PLAN, run_postgres
from tests.edge import ask
from tests.loops import run_alone
from tests.nginx import need_nginx
from tests.often import often

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("class")]
PHONES = 30
KINDS = {"nginx, SQLite": (2, False), "nginx, PostgreSQL": (2, True), "streamlit run": (0, False)}


@pytest.fixture(params=often(KINDS.items(), ["nginx, PostgreSQL"], lambda kind: kind[0]))
def served(request, tmp_path):
    """A server, and the rooms that its processes share."""
    _, (processes, in_postgres) = request.param
    if processes:
        need_nginx()
    database = run_postgres(tmp_path) if in_postgres else nullcontext(str(tmp_path / "kept" / "rooms.sqlite"))
    with database as where, _serve(processes, where) as server, closing(open_rooms(where)) as rooms:
        warm = time.monotonic() + 120
        while ask(server.url, "/_stcore/health")[0] != 200:
            assert time.monotonic() < warm, server.log.read_text()
            time.sleep(0.2)
        yield server, rooms


def _serve(processes, where):
    return serving(ROOT, processes=processes, environment={WHERE: where, "BERTVIZ_MEMORY_MB": "1500"})


class Lead:
    """Who leads a room, over the wire."""

    def __init__(self, url, opened):
        self.url, self.code, self.headers = url, opened.code, {"Authorization": f"Bearer {opened.secret}"}
        self.version = 1

    def look(self):
        return json.loads(ask(self.url, f"/lead/{self.code}/state", **self.headers)[2])

    def act(self, act):
        said = json.dumps({"do": act, "version": self.version, "to": 0})
        status, _, told = ask(self.url, f"/lead/{self.code}/act", "POST", said, **self.headers)
        assert status == 200, told
        self.version = json.loads(told)["version"]
        return json.loads(told)


async def hold_class(server, lead, heard):
    """Thirty phones answer every question; in the middle of the first one a process is killed, where there are two."""
    phones = [Phone(server.url, lead.code, i, heard, {}, 3.0) for i in range(PHONES)]
    taking = asyncio.gather(*(phone.take_part() for phone in phones))
    with ThreadPoolExecutor(1) as pool:
        call = lambda *given: asyncio.get_running_loop().run_in_executor(pool, *given)  # noqa: E731
        await until(call, lead, lambda told: told["phones"] == PHONES)
        for question in range(len(PLAN.questions) - 1):
            await call(lead.act, "next")
            if not question and server.processes:
                await until(call, lead, lambda told: told["answered"] > 5)
                os.kill(list_servers(server.pids[0])[0], signal.SIGKILL)
            await until(call, lead, lambda told: told["answered"] == PHONES)
            await call(lead.act, "next")
            told = await call(lead.act, "next")
            assert sum(told["counts"]) == PHONES
        ended = await call(end, lead)
        await asyncio.wait_for(taking, 30)
    return ended


def end(lead):
    """Pass the last question over, which asks for a number."""
    for _ in range(4):
        told = lead.act("next")
    return told


async def until(call, lead, holds):
    for _ in range(300):
        try:
            if holds(await call(lead.look)):
                return
        except (OSError, KeyError, ValueError):  # while nginx finds that a process is gone
            pass
        await asyncio.sleep(0.1)
    raise AssertionError(f"it never came: {lead.look()}")


def test_no_answer_of_thirty_phones_is_lost_or_counted_twice(served):
    server, rooms = served
    opened = rooms.open(PLAN, "", 4e9)
    lead, heard = Lead(server.url, opened), Heard()
    told = run_alone(hold_class(server, lead, heard))
    phones, votes = rooms.count(opened.code)
    assert phones == PHONES and told["over"] and len(told["after"]) == 2
    counted = {(*at, answer): times for at, each in votes.items() for answer, times in each.items()}
    assert counted == dict(heard.given) and sum(counted.values()) == 2 * PHONES
    log = Path(server.log).read_text(encoding="utf-8", errors="replace")
    assert opened.code not in log and opened.secret not in log and "Traceback" not in log
