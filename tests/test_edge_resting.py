"""Connections that only lie there."""

import asyncio
from contextlib import suppress
from functools import partial

import pytest
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from edge import connections, resting
from tests.edge import answer
from tests.loops import run_alone

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def talk(*visits):
    """What each of some visits gives, to a server that hurries; one begins when that before it says that it rests."""
    config = Config(answer, log_config=None, timeout_keep_alive=20)
    hurried = connections.hurry(H11Protocol)
    service = await asyncio.get_running_loop().create_server(lambda: hurried(config, ServerState(), {}), "127.0.0.1", 0)
    place = service.sockets[0].getsockname()
    lines = []

    async def come(visit):
        reader, writer = await asyncio.open_connection(*place)
        lines.append(writer)
        rests = asyncio.Event()
        begun.append(asyncio.create_task(visit(reader, writer, rests.set)))
        await asyncio.wait([begun[-1], asyncio.create_task(rests.wait())], return_when=asyncio.FIRST_COMPLETED)

    begun = []
    try:
        for visit in visits:
            await come(visit)
        return await asyncio.gather(*begun)
    finally:
        for line in lines:
            line.close()
        service.close()
        await asyncio.sleep(0.02)  # until both ends know


async def is_closed(reader, within):
    """Whether the other end closes."""
    with suppress(ConnectionResetError):
        try:
            return await asyncio.wait_for(reader.read(), within) == b""
        except TimeoutError:
            return False
    return True


async def be_answered(reader, writer):
    writer.write(ASK)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")


@pytest.mark.parametrize(("more", "closed"), [(b"G", True), (ASK[:-1], True), (b"", False)], ids=["byte", "head", ""])
def test_who_begins_another_request_and_does_not_end_it_is_hung_up_on(monkeypatch, more, closed):
    """uvicorn waits for another request for some seconds, but for the rest of one for ever."""

    async def begin_another(reader, writer, rests):
        rests()
        await be_answered(reader, writer)
        monkeypatch.setattr(connections, "HEAD_S", 0.1)  # not before: it may take longer to ask for the first time
        await be_answered(reader, writer)
        await asyncio.sleep(0.2)  # who rests longer than it may take to ask is still served
        await be_answered(reader, writer)
        writer.write(more)
        return await is_closed(reader, 20.0 if closed else 1.0)

    assert run_alone(talk(begin_another)) == [closed]


def test_of_many_connections_that_lie_idle_the_oldest_are_hung_up_on(monkeypatch):
    monkeypatch.setattr(resting, "MOST", 3)
    closed = [True, True, False, False, False]

    async def visit(place, reader, writer, rests):
        if place in (1, 3):
            await be_answered(reader, writer)
        rests()
        return await is_closed(reader, 20.0 if closed[place] else 1.0)

    assert run_alone(talk(*(partial(visit, place) for place in range(5)))) == closed


class Line:
    """A connection that says whether it was hung up on."""

    def __init__(self):
        self.open = True

    def hang_up(self):
        self.open = False


def test_who_floods_from_one_address_closes_its_own_connections_and_nobody_elses(monkeypatch):
    monkeypatch.setattr(resting, "MOST", 30)
    kept, others, flood = resting.Resting(), [Line() for _ in range(10)], [Line() for _ in range(500)]
    for number, line in enumerate(others):
        kept.add(line, f"192.0.2.{number}")
    for number, line in enumerate(flood):
        kept.add(line, f"2001:db8:1:2:{number:x}::1")  # one network
    assert all(line.open for line in others)
    assert [line.open for line in flood] == [False] * 480 + [True] * 20
    for line in (*others, *flood, *flood):
        kept.remove(line)
    assert not len(kept)
    assert not kept._lines


@pytest.mark.parametrize(("files", "most"), [(1024, 256), (65_536, 4000), (-1, 4000)])
def test_fewer_connections_rest_where_few_files_may_be_open(monkeypatch, files, most):
    monkeypatch.setattr(resting.resource, "getrlimit", lambda _: (files, files))
    assert resting.count_most() == most
