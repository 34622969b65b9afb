"""uvicorn's ends of connections, made to hang up on who dawdles and on who floods.

They lean on the inside of uvicorn, which promises none of it: the names are looked for in the installed version by a
test, and everything says which public thing would do instead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from starlette.types import Receive
from uvicorn import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from edge.log import write_seldom
from edge.resting import HEAD_S, Resting

SMALL_A_SECOND = 60  # pings, pongs and continued messages; a browser sends none but a pong every 20 seconds
MOST_WAITING = 200  # messages taken apart and not heard yet; as one is, no more are read, so they came all at once
READ_S = 15.0  # who takes an answer reads on
END_S = 3  # that a server which ends waits for answers that go on: a phone listens to its class all day
LEAVE_S = 1.0  # until a socket is closed on which the browser was told that it is; that takes a message there and back
MOST_UNHEARD = 1 << 24  # bytes that are still taken meanwhile, and passed over
ACCEPTED_AT_ONCE = 8  # connections, before anybody else is heard: hundreds that come at once make all others wait
GATHERED = 1 << 16  # bytes that wait at most to be written together
_SLICE = 512  # bytes that are taken apart before anybody looks whether they are too many messages


def bound_server(receive: Receive, largest: int, headers: Mapping[str, str]) -> None:
    """Have the server that starts refuse messages of more bytes, and floods of small ones, before it has them in
    memory; and whoever connects and asks for nothing, or asks and does not read; end although somebody listens; and
    write seldom of what is no HTTP.
    receive: what it gives the app at its start; headers: of what it answers by itself, to what is no HTTP.

    `streamlit run` derives its bound from the largest message to a browser, which may be long. uvicorn reads it from
    its configuration whenever a socket is opened; what an app calls at its start is a method of what holds that.
    Instead: options of `streamlit run` for it.
    """
    config = getattr(getattr(receive, "__self__", None), "config", None)
    if not isinstance(config, Config):
        raise RuntimeError("The largest message of a web socket is set on uvicorn, and another server runs the app.")
    config.ws_max_size, config.ws_protocol_class = largest, BoundedProtocol
    config.http_protocol_class = hurry(config.http_protocol_class, headers)
    config.timeout_graceful_shutdown = config.timeout_graceful_shutdown or END_S
    write_seldom("uvicorn.error")


def accept_few(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop take few connections at a time of those that have come; the system keeps the others in line.

    asyncio takes as many as may wait in that line, 2,048 for uvicorn, and each takes some milliseconds until its first
    request is read, while nothing else is done. Another kind of loop is left as it is. Instead: an argument for it.
    """
    accept: Callable[..., None] | None = getattr(loop, "_accept_connection", None)
    if accept is None:
        return

    def accept_some(factory: object, own: object, secure: object, server: object, most: int, *rest: object) -> None:
        accept(factory, own, secure, server, min(most, ACCEPTED_AT_ONCE), *rest)

    setattr(loop, "_accept_connection", accept_some)  # noqa: B010 - no public attribute of a loop


def hurry(protocol: type[asyncio.Protocol], headers: Mapping[str, str] | None = None) -> type[asyncio.Protocol]:
    """uvicorn's end of a connection, made to hang up on who dawdles. headers: of what it answers by itself. Instead:
    options of uvicorn's.
    """
    return type("Hurried", (Hurried, protocol), {"idle": Resting(), "of_answers": headers or {}})


def write_refusal(text: str, headers: Mapping[str, str]) -> bytes:
    """The answer to what is no HTTP; nothing follows it on its connection."""
    own = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), "Connection": "close"}
    lines = [f"{name}: {value}" for name, value in {**headers, **own}.items()]
    return "\r\n".join(["HTTP/1.1 400 Bad Request", *lines, "", text]).encode()


def find_sender(transport: asyncio.Transport) -> str:
    """Where a connection comes from; empty for one that comes through a socket of the file system."""
    other = transport.get_extra_info("peername")
    return str(other[0]) if isinstance(other, tuple) else ""


class Hurried(asyncio.Protocol):
    """Hangs up on whoever has not asked for anything within HEAD_S of connecting or of beginning to ask, on whoever has
    not read anything of an answer for READ_S, and, where too many are not being answered, on one of those.

    uvicorn waits for ever for the first request, for the rest of one that has begun, and for room for the rest of an
    answer; connections take descriptors and memory. idle: the connections that are not being answered; of_answers: the
    headers of what it answers by itself.
    """

    idle: ClassVar[Resting]
    of_answers: ClassVar[Mapping[str, str]]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._own, self._unread, self._late = transport, None, None
        self._sender = find_sender(transport)
        self._rest()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_resting()
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_resting():
            self._stop_resting()
        elif self._late is None:  # the first of another request, at which uvicorn waits no longer for one
            self._await_head()

    def on_response_complete(self) -> None:
        self._rest()
        super().on_response_complete()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        if not self._is_resting():  # another request had come already
            self._stop_resting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = asyncio.get_running_loop().call_later(READ_S, self.hang_up)

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as uvicorn does, with the headers of every answer. Of a request that is being
        answered it is the rest: what the app still says goes nowhere, and into an answer that has begun nothing is.
        """
        cycle = None if self._is_resting() else getattr(self, "cycle", None)
        if cycle is None or not cycle.response_started:
            self._own.write(write_refusal(f"{msg}\n", self.of_answers))
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self._own.close()

    def hang_up(self) -> None:
        self._own.abort()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _is_resting(self) -> bool:
        """Whether nothing of it is being answered; a web socket is another's affair."""
        cycle = getattr(self, "cycle", None)
        answered = cycle is None or getattr(cycle, "response_complete", False)
        return answered and self._own.get_protocol() is self

    def _rest(self) -> None:
        self.idle.add(self, self._sender)

    def _stop_resting(self) -> None:
        self.idle.remove(self)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _await_head(self) -> None:
        self._late = asyncio.get_running_loop().call_later(HEAD_S, self._look)

    def _look(self) -> None:
        if self._is_resting():
            self.hang_up()


class Gathering:
    """A transport that writes together what is written until the loop goes on, or until it is GATHERED bytes.

    A page is 150 messages. Each is a call of the system, around which Python's lock is given up; where pages are being
    worked out, the loop has it back only after the time for which a thread may keep it, and everybody waits as often.
    """

    def __init__(self, own: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._own, self._loop = own, loop
        self._said, self._waits = bytearray(), False

    def write(self, data: bytes) -> None:
        self._said += data
        if len(self._said) >= GATHERED:
            self._write_out()
        elif not self._waits:
            self._waits = True
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Once all is written."""
        self._write_out()
        self._own.close()

    def abort(self) -> None:
        self._said.clear()
        self._own.abort()

    def get_write_buffer_size(self) -> int:
        return self._own.get_write_buffer_size() + len(self._said)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def _flush(self) -> None:
        self._waits = False
        self._write_out()

    def _write_out(self) -> None:
        if self._said and not self._own.is_closing():
            self._own.write(bytes(self._said))
        self._said.clear()


class BoundedProtocol(WebSocketsSansIOProtocol):
    """uvicorn's end of a web socket, which hangs up where small frames come by the thousand, where the head cannot be
    read, and, once it is closed, where nothing is read of the rest for READ_S, and says why it does where a message is
    too long.

    Small frames are taken apart and answered before the app hears of them, and nobody else is served meanwhile. As for
    the word that says why, uvicorn closes the socket together with it, while the browser is sending: nginx, which
    cannot pass on the rest, then drops that word. Who does not read does not hear its pings either: it closes the
    socket then, but only once all is read that was sent, and the page's session stays until then. And it writes
    together what the app says at once. Instead: options of uvicorn's.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._small, self._since, self._unheard = 0, time.monotonic(), 0
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing pauses wherever something waits to be read
        self.transport: Any = Gathering(transport, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):
            if self.conn.parser_exc is not None:
                self._pass_over(len(data) - start)
                return
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE])
            if self.conn.handshake_exc is not None and not self.handshake_initiated:
                self._refuse_head()

    def handle_parser_exception(self) -> None:
        """Say why the socket will be closed, and leave time until it is."""
        told = self.conn.close_sent
        assert told is not None
        self.queue.put_nowait({"type": "websocket.disconnect", "code": told.code, "reason": told.reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(LEAVE_S, self.transport.close)
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _await_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._reading = self.loop.call_later(READ_S, self._look_whether_read, unread)

    def _look_whether_read(self, unread: int) -> None:
        if not self.close_sent or self.transport.get_write_buffer_size() < unread:
            self._await_reading()  # a slow line, with much of ours in it, takes nothing for longer than that
        else:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _pass_over(self, count: int) -> None:
        self._unheard += count
        if self._unheard > MOST_UNHEARD:
            self.transport.abort()

    def handle_text(self, event: Any) -> None:
        """No page sends a text; uvicorn decodes it, and logs what is no UTF-8 with a traceback."""
        self.handle_bytes(event)

    def handle_ping(self) -> None:
        if self._may_go_on():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        if self._may_go_on():
            super().handle_pong(event)

    def handle_cont(self, event: Any) -> None:
        if self._may_go_on():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        if self.queue.qsize() >= MOST_WAITING:
            self.transport.abort()
        else:
            super().send_receive_event_to_app()

    def _refuse_head(self) -> None:
        """Refuse a head that HTTP allows and web sockets do not: uvicorn neither answers it nor closes."""
        self.handshake_complete = True
        self.transport.write(write_refusal("", {}))
        self.transport.close()

    def _may_go_on(self) -> bool:
        now = time.monotonic()
        if now - self._since > 1.0:
            self._small, self._since = 0, now
        self._small += 1
        if self._small > SMALL_A_SECOND:
            self.transport.abort()
        return self._small <= SMALL_A_SECOND
