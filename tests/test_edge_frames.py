"""What is done with a web socket's frames, and with its head, before the app hears of them."""

import asyncio
from contextlib import suppress

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from edge import connections
from tests.loops import run_alone
from tests.test_edge_line import ASKED, accept


async def flood(start, frame):
    """How many frames, of so many that begin with those of a start and arrive at once, the server takes apart."""
    taken = []

    class Counting(connections.BoundedProtocol):
        def handle_pong(self, event):
            taken.append(event)
            super().handle_pong(event)

        def handle_bytes(self, event):
            taken.append(event)
            super().handle_bytes(event)

    def serve():
        return Counting(Config(accept, ws_max_size=100, log_config=None), ServerState(), {})

    service = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
    try:
        writer.write(start + frame * 50_000)
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), 20)
        return len(taken)
    finally:
        writer.close()
        service.close()


@pytest.mark.parametrize("frame", [b"\x8a\x80" + bytes(4), b"\x82\x80" + bytes(4)], ids=["pongs", "messages"])
def test_of_a_flood_of_any_small_frames_few_are_taken_apart(frame):
    assert run_alone(flood(ASKED, frame)) < 500


def test_a_text_that_is_none_leaves_no_traceback(caplog):
    """uvicorn decodes texts, which no page sends."""

    async def talk():
        service = await asyncio.get_running_loop().create_server(
            lambda: connections.BoundedProtocol(Config(accept, log_config=None), ServerState(), {}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
        try:
            writer.write(ASKED + b"\x81\x82" + bytes(4) + b"\xff\xff")
            await reader.readuntil(b"\r\n\r\n")
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(), 0.3)
        finally:
            writer.close()
            service.close()

    run_alone(talk())
    assert "UTF-8" not in caplog.text


def test_a_head_that_is_none_of_a_web_socket_is_refused():
    """A control character, which uvicorn's HTTP lets through: nobody answered, and the connection stayed for ever."""
    assert run_alone(refuse_head(ASKED.replace(b"Host: x", b"Host: x\r\nX-Odd: \x1b[31m"))).startswith(b"HTTP/1.1 400 ")


async def refuse_head(head):
    def serve():
        return connections.BoundedProtocol(Config(accept, log_config=None), ServerState(), {})

    service = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
    try:
        writer.write(head)
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        service.close()


def test_who_does_not_read_what_is_sent_is_hung_up_on(monkeypatch):
    """uvicorn closed the socket when its pings were not answered, but only once all was read: its session stayed."""
    monkeypatch.setattr(connections, "READ_S", 0.1)
    assert run_alone(send_until_gone())


async def send_until_gone():
    """Whether what sends 20 MB to somebody who reads none of it hears that nobody is there."""
    over = asyncio.get_running_loop().create_future()

    async def talk(scope, receive, send):
        await send({"type": "websocket.accept"})
        try:
            for _ in range(20):
                await send({"type": "websocket.send", "bytes": bytes(1_000_000)})
            over.set_result(False)
        except OSError:  # as uvicorn says that nobody is there
            over.set_result(True)

    def serve():
        config = Config(talk, log_config=None, ws_ping_interval=0.05, ws_ping_timeout=0.05)
        return connections.BoundedProtocol(config, ServerState(), {})

    service = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0)
    _, writer = await asyncio.open_connection(*service.sockets[0].getsockname(), limit=1 << 16)
    try:
        writer.write(ASKED)
        return await asyncio.wait_for(over, 20)
    finally:
        writer.close()
        service.close()


class Noting(asyncio.Transport):
    """A transport that notes what is written, and is closed by then or not."""

    def __init__(self):
        super().__init__()
        self.written, self.closed = [], False

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def get_write_buffer_size(self):
        return 7

    def is_closing(self):
        return self.closed

    def write(self, data):
        self.written.append(data)

    def close(self):
        self.closed = True

    abort = close


@pytest.mark.parametrize("end", ["goes on", "closes", "aborts", "is closed"])
def test_what_is_said_at_once_is_written_together(end):
    async def talk():
        own = Noting()
        protocol = connections.BoundedProtocol(Config(accept, log_config=None), ServerState(), {})
        protocol.connection_made(own)
        for part in (b"a", b"bc", b"d"):
            protocol.transport.write(part)
        assert own.written == [] and protocol.transport.get_write_buffer_size() == 7 + 4
        match end:
            case "closes":
                protocol.transport.close()
            case "aborts":
                protocol.transport.abort()
            case "is closed":
                own.closed = True
        await asyncio.sleep(0)
        return own.written

    assert run_alone(talk()) == ([] if end in ("aborts", "is closed") else [b"abcd"])


def test_much_that_is_said_at_once_does_not_wait(monkeypatch):
    monkeypatch.setattr(connections, "GATHERED", 4)

    async def talk():
        own = Noting()
        gathering = connections.Gathering(own, asyncio.get_running_loop())
        for part in (b"abc", b"de", b"f"):
            gathering.write(part)
        before = list(own.written)
        await asyncio.sleep(0)
        gathering.write(b"g")
        await asyncio.sleep(0)
        return before, own.written

    assert run_alone(talk()) == ([b"abcde"], [b"abcde", b"f", b"g"])


class Slow(asyncio.Transport):
    """Somebody who reads more of what waits whenever that is looked at, as far as there is."""

    def __init__(self, unread):
        super().__init__()
        self.unread, self.limit, self.gone = unread, None, False

    def set_write_buffer_limits(self, high=None, low=None):
        self.limit = high

    def get_write_buffer_size(self):
        return self.unread.pop(0) if len(self.unread) > 1 else self.unread[0]

    def abort(self):
        self.gone = True


@pytest.mark.parametrize(("closed", "unread"), [(True, [900_000, 899_999, 899_999, 20, 20, 20]), (False, [9] * 9)])
def test_who_reads_slowly_is_waited_for(monkeypatch, closed, unread):
    """On a socket that is closed as long as something is read, on another one until its pings are not answered."""
    monkeypatch.setattr(connections, "READ_S", 0.01)

    async def wait():
        transport = Slow(unread)
        protocol = connections.BoundedProtocol(Config(accept, log_config=None), ServerState(), {})
        protocol.connection_made(transport)
        protocol.close_sent = closed
        protocol.pause_writing()
        while len(unread) > 1:
            assert not transport.gone
            await asyncio.sleep(0.001)
        protocol.close_sent = True
        async with asyncio.timeout(20):
            while not transport.gone:
                await asyncio.sleep(0.001)
        return transport.limit, transport.gone

    assert run_alone(wait()) == (0, True)
