"""Requests that come too fast."""

import asyncio
import socket

import pytest

from edge import connections, pace, turns
from edge.guard import Guard
from edge.headers import Frames
from tests.edge import answer, tells
from tests.loops import run_alone


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def reserve(kept, address, count):
    return [kept._reserve(address) for _ in range(count)]


def test_requests_of_one_address_wait_in_line_and_no_other_address_does(monkeypatch):
    monkeypatch.setattr(pace, "PER_SECOND", 10.0)
    monkeypatch.setattr(pace, "BURST", 5)
    monkeypatch.setattr(pace, "LONGEST_S", 0.3)
    clock = Clock()
    kept = pace.Pace(clock)
    waits = reserve(kept, "ann", 12)
    assert waits == [*[pytest.approx(0)] * 6, *map(pytest.approx, (0.1, 0.2, 0.3)), None, None, None]
    assert reserve(kept, "bob", 3) == [0, 0, 0]
    clock.now += 0.2  # what was refused is not waited for
    assert reserve(kept, "ann", 3) == [pytest.approx(0.2), pytest.approx(0.3), None]
    clock.now += 60
    assert reserve(kept, "ann", 6) == [pytest.approx(0)] * 6


def test_addresses_that_rest_are_forgotten(monkeypatch):
    monkeypatch.setattr(pace, "KNOWN", 10)
    clock = Clock()
    kept = pace.Pace(clock)
    for number in range(100):
        kept._reserve(str(number))
        clock.now += 1
    assert len(kept._free) <= 10


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("unknown", "", False),
    ],
)
def test_a_network_of_the_sixth_version_counts_as_one_address(one, other, same):
    assert (pace.name_network(one) == pace.name_network(other)) == same


def test_who_asks_for_too_much_is_told_so_and_others_are_answered(monkeypatch):
    monkeypatch.setattr(pace, "BURST", 2)
    monkeypatch.setattr(pace, "LONGEST_S", 0.0)
    monkeypatch.setattr(pace, "PER_SECOND", 0.01)
    monkeypatch.setattr(pace, "MOST_REFUSED", 0)
    statuses = []

    async def note(message):
        if message["type"] == "http.response.start":
            statuses.append((message["status"], tells(Told(message["headers"]))))

    async def ask(guard, address):
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], "scheme": "http"}
        await guard({**scope, "client": (address, 1)}, None, note)

    async def ask_all():
        guard = Guard(answer, Frames())
        for address in ("10.0.0.1",) * 4 + ("10.0.0.2",):
            await ask(guard, address)

    run_alone(ask_all())
    assert statuses == [(204, True)] * 3 + [(429, True), (204, True)]


class Told(dict):
    """Headers as `tells` reads them."""

    def __init__(self, pairs):
        super().__init__()
        for name, value in pairs:
            self.setdefault(name.decode().lower(), []).append(value.decode())

    def get_all(self, name):
        return self.get(name.lower())


async def open_sockets(guard, addresses):
    """What is said first on each of some web sockets, all of which come at once, by the order in which it is said."""
    said = []

    async def open_one(address):
        async def send(message):
            said.append((address, message["type"]))

        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": (address, 1), "scheme": "ws"}
        await guard(scope, None, send)

    await asyncio.gather(*map(open_one, addresses))
    return said


async def accept(scope, receive, send):
    await send({"type": "websocket.accept"})


def test_sessions_of_one_address_begin_at_a_pace_and_those_of_others_at_once(monkeypatch):
    monkeypatch.setattr(turns, "SOON_S", 0.0)
    guard = Guard(accept, Frames())
    guard._sessions = turns.Turns(per_second=10.0, burst=2, longest=60.0, refused=1.0, clock=Clock())
    guard._sessions._most = 2
    said = run_alone(open_sockets(guard, [*["192.0.2.1"] * 6, "192.0.2.2"]))
    begun = [address for address, what in said if what == "websocket.accept"]
    assert begun == [*["192.0.2.1"] * 3, "192.0.2.2", *["192.0.2.1"] * 2]
    assert said[6:] == [("192.0.2.1", "websocket.close")], "who would wait longer is told to come again"


async def begin_all(kept, visitors):
    """Who begins, and who is told that the line is too long, of sockets of one address that come at once, in order."""
    begun, refused = [], []

    async def come(visitor):
        (begun if await kept.keep("192.0.2.1", visitor) else refused).append(visitor)

    await asyncio.gather(*map(come, visitors))
    return begun, refused


def test_visitors_of_one_address_take_turns_to_begin():
    kept = turns.Turns(per_second=200.0, burst=1, longest=60.0)
    begun, refused = run_alone(begin_all(kept, [*["", "one"] * 20, "ann", "bob", "ann"]))
    assert not refused
    assert sorted(begun[2:6]) == ["", "ann", "bob", "one"], "those who come last with one wait for one of each"
    assert begun.index("ann", begun.index("ann") + 1) <= 9


def test_where_the_line_is_too_long_who_has_the_most_in_it_is_refused():
    kept = turns.Turns(per_second=100.0, burst=1, longest=60.0, refused=0.01, clock=Clock())
    kept._most = 10
    begun, refused = run_alone(begin_all(kept, [*["one"] * 30, "ann", "bob"]))
    assert {"ann", "bob"} < set(begun) and set(refused) == {"one"}
    assert 8 <= len(begun) <= 13


def test_who_leaves_while_it_waits_to_begin_keeps_nobody_waiting():
    async def leave():
        kept = turns.Turns(per_second=20.0, burst=1, longest=60.0)
        await begin_all(kept, ["one", "one"])
        waiting = [asyncio.create_task(begin_all(kept, ["one"])) for _ in range(1000)]
        await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with asyncio.timeout(20.0):  # all of them would take 50 seconds
            assert await begin_all(kept, ["one"]) == (["one"], [])

    run_alone(leave())


@pytest.mark.parametrize(("lasted", "part"), [(0.1, 1 / 3), (5.0, 1.0)])
def test_who_leaves_soon_after_it_began_keeps_others_waiting_for_less(lasted, part):
    clock = Clock()
    kept = turns.Turns(per_second=10.0, burst=50, clock=clock)

    async def come():
        for _ in range(9):
            assert await kept.keep("192.0.2.1", "")
            with kept.note_end("192.0.2.1"):
                clock.now += lasted
            clock.now -= lasted  # all are there at the same time

    run_alone(come())
    assert kept._find("192.0.2.1").free - clock.now == pytest.approx(9 * 0.1 * part)


def test_whoever_waits_begins_when_another_leaves():
    async def leave():
        kept = turns.Turns(per_second=0.01, burst=1, longest=1000.0)
        await begin_all(kept, ["one", "one"])
        waiting = asyncio.create_task(begin_all(kept, ["two"]))
        await asyncio.sleep(0.01)
        for _ in range(3):  # each gives two thirds of its time back
            with kept.note_end("192.0.2.1"):
                pass
        async with asyncio.timeout(20.0):  # of the 100 seconds that it would wait otherwise
            return await waiting

    assert run_alone(leave()) == (["two"], [])


def test_addresses_whose_sockets_rest_are_forgotten(monkeypatch):
    monkeypatch.setattr(turns, "KNOWN", 10)
    clock = Clock()
    kept = turns.Turns(clock=clock)

    async def come():
        for number in range(100):
            await kept.keep(str(number), "")
            clock.now += 1

    run_alone(come())
    assert len(kept._lines) <= 10


def test_who_waits_to_begin_when_the_server_ends_is_told_so(monkeypatch):
    monkeypatch.setattr(turns, "SOON_S", 0.0)

    async def end():
        guard = Guard(accept, Frames())
        guard._sessions = turns.Turns(per_second=0.1, burst=1, longest=60.0)
        await open_sockets(guard, ["192.0.2.1"] * 2)
        waiting = asyncio.create_task(open_sockets(guard, ["192.0.2.1"]))
        await asyncio.sleep(0.02)
        for task in asyncio.all_tasks() - {asyncio.current_task(), waiting}:
            task.cancel()
        return await waiting

    assert run_alone(end()) == [("192.0.2.1", "websocket.close")]


def test_of_many_connections_that_come_at_once_few_are_taken_before_others_are_heard():
    made, taken = [], []

    class Note(asyncio.Protocol):
        def connection_made(self, transport):
            made.append(transport)

    async def take():
        loop = asyncio.get_running_loop()
        connections.accept_few(loop)
        service = await loop.create_server(Note, "127.0.0.1", 0, backlog=100)
        lines = [socket.create_connection(service.sockets[0].getsockname()) for _ in range(30)]
        while len(made) < len(lines):
            before = len(made)
            await asyncio.sleep(0)
            taken.append(len(made) - before)
        for line in (*lines, *made):
            line.close()
        service.close()
        await asyncio.sleep(0.02)

    run_alone(take())
    assert 1 < max(taken) <= connections.ACCEPTED_AT_ONCE
    connections.accept_few(object())  # another kind of loop
