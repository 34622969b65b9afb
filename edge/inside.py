"""All of the edge that leans on the inside of Streamlit and of uvicorn, which promise none of it.

Every function says why it is needed, and which public thing would do instead. The names are looked for in the installed
versions by a test. What needs nothing of Streamlit imported stands in streamlit_files.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, NamedTuple

from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import get_script_run_ctx
from uvicorn import Config
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# What uvicorn raises where the app answers on a connection on which, after the head, no HTTP came: it has said so and
# closed. Instead: that the answer goes nowhere, as where the browser has gone.
NotHttp = h11_impl.h11.LocalProtocolError  # pyright: ignore[reportPrivateImportUsage]
SMALL_A_SECOND = 60  # pings, pongs and continued messages; a browser sends none but a pong every 20 seconds
MOST_WAITING = 200  # messages taken apart and not heard yet; as one is, no more are read, so they came all at once
HEAD_S = 15.0  # a browser that connects asks at once, and a connection that it keeps in store it opens anew
MOST_IDLE = 400  # connections of all, on which nothing is being answered; a browser opens anew what was closed
READ_S = 15.0  # who takes an answer reads on
LEAVE_S = 1.0  # until a socket is closed on which the browser was told that it is; that takes a message there and back
MOST_UNHEARD = 1 << 24  # bytes that are still taken meanwhile, and passed over
_LONGEST_NUMBER = 10  # bytes, as protobuf writes it
_FIXED_BYTES = {1: 8, 5: 4}  # of numbers that protobuf writes with so many, by the form of their tags
_SLICE = 512  # bytes that are taken apart before anybody looks whether they are too many messages


def is_run_of_visitor() -> bool:
    """Whether app.py is run for a visitor's session, and not looked through by a server that starts.

    Instead: a file for the server that is not the one for sessions.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


# What a browser says.


def read_message(data: bytes | None) -> BackMsg | None:
    """A message of a browser; None where it is none of Streamlit's. Instead: a list of kinds that the app allows."""
    try:
        return BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own DecodeError; that package is Streamlit's affair
        return None


def name_kind(said: BackMsg) -> str | None:
    """What a message asks for, by Streamlit's name; None where it asks for nothing. Instead: as for `read_message`."""
    kind = said.WhichOneof("type")
    return said.backend_operation_request.WhichOneof("payload") if kind == "backend_operation_request" else kind


def has_more_parts(data: bytes, most: int) -> bool:
    """Whether a message of a browser has more parts than that, counted before it is taken apart.

    Each takes the memory of an object, and the shortest two bytes: of one message there are hundreds of thousands.
    Instead: bounds of protobuf's own.
    """
    try:
        return _count_left(memoryview(data), BackMsg.DESCRIPTOR, most) < 0
    except IndexError:  # it is cut; whoever takes it apart refuses it
        return False


def _count_left(data: memoryview, kind: Any, left: int) -> int:
    """How many parts fewer than `left` a message of this kind has, negative where it has more; a number in a row of
    them counts as one for each of its bytes.
    """
    at = 0
    while at < len(data) and left >= 0:
        tag, at = _read_varint(data, at)
        left -= 1
        match tag & 7:
            case 0:
                _, at = _read_varint(data, at)
            case 1 | 5 as form:
                at += _FIXED_BYTES[form]
            case 2:
                size, at = _read_varint(data, at)
                part, at = data[at : at + size], at + size
                field = kind.fields_by_number.get(tag >> 3)
                if field is not None and field.message_type is not None:
                    left = _count_left(part, field.message_type, left)
                elif field is not None and field.type not in (field.TYPE_STRING, field.TYPE_BYTES):
                    left -= len(part)
            case _:  # a group: no message of Streamlit's has one
                return -1
    return left


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number as protobuf writes it, and where it ends. Raises IndexError where it does not."""
    value = 0
    for i, byte in enumerate(data[at : at + _LONGEST_NUMBER]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise IndexError


class Asked(NamedTuple):
    """What a request for a run says: of which widgets something; values: the JSON of components; query: of the URL;
    page: its name; hashes: what Streamlit calls the page, and the part of it that is to run.
    """

    widgets: tuple[str, ...]
    values: tuple[str, ...]
    query: str
    page: str
    hashes: tuple[str, str]


def read_asked(said: BackMsg) -> Asked:
    """The parts of a request for a run that have a bound here. Instead: bounds of Streamlit's own."""
    asked = said.rerun_script
    widgets = asked.widget_states.widgets
    fields = ("json_value", "json_trigger_value")
    values = tuple(getattr(one, field) for one in widgets for field in fields if one.HasField(field))
    names, hashes = tuple(one.id for one in widgets), (asked.page_script_hash, asked.fragment_id)
    return Asked(names, values, asked.query_string, asked.page_name, hashes)


def say_settings_once() -> None:
    """Have the server's settings worked out once, and not for what each run says first.

    Streamlit reads some 200 of them six times over for that, in the thread of the event loop, each time with a lock
    that pages at work want as well: where many begin, nobody is served meanwhile. Instead: that it keeps them.
    """
    for name in ("_populate_config_msg", "_populate_theme_msg"):
        plain = getattr(app_session, name)
        if not hasattr(plain, "__wrapped__"):
            setattr(app_session, name, _fill_once(plain))


def _fill_once(fill: Callable[..., None]) -> Callable[..., None]:
    """What fills in a message, by which section of the settings it is about."""
    filled: dict[tuple[str, ...], Any] = {}

    @wraps(fill)
    def fill_in(message: Any, *section: str) -> None:
        if section not in filled:
            made = type(message)()
            fill(made, *section)
            filled[section] = made
        if filled[section].ListFields():  # else it is to stay as it is: not there
            message.MergeFrom(filled[section])

    return fill_in


def tell_if_gone(send: Send) -> Send:
    """What sends on a web socket, and says that the browser has gone where uvicorn has closed it (too long a message).

    uvicorn takes what the app still says there for a mistake of the app, which Streamlit would log with a traceback.
    Instead: that uvicorn raises what it raises where the browser has closed it.
    """

    async def send_unless_gone(message: Message) -> None:
        try:
            await send(message)
        except RuntimeError as error:
            raise OSError(str(error)) from error

    return send_unless_gone


# What the server does before the app is asked.


def bound_server(receive: Receive, largest: int) -> None:
    """Have the server that starts refuse messages of more bytes, and floods of small ones, before it has them in
    memory; and whoever connects and asks for nothing, or asks and does not read. receive: what it gives the app at
    its start.

    `streamlit run` derives its bound from the largest message to a browser, which may be long. uvicorn reads it from
    its configuration whenever a socket is opened; what an app calls at its start is a method of what holds that.
    Instead: options of `streamlit run` for it.
    """
    config = getattr(getattr(receive, "__self__", None), "config", None)
    if not isinstance(config, Config):
        raise RuntimeError("The largest message of a web socket is set on uvicorn, and another server runs the app.")
    config.ws_max_size, config.ws_protocol_class = largest, BoundedProtocol
    config.http_protocol_class = hurry(config.http_protocol_class)


def hurry(protocol: type[asyncio.Protocol]) -> type[asyncio.Protocol]:
    """uvicorn's end of a connection, made to hang up on who dawdles. Instead: options of uvicorn's."""
    return type("Hurried", (Hurried, protocol), {"idle": {}})


class Hurried(asyncio.Protocol):
    """Hangs up on whoever has not asked for anything within HEAD_S of connecting or of beginning to ask, on whoever has
    not read anything of an answer for READ_S, and, of more than MOST_IDLE that are not being answered, on who has been
    so for longest.

    uvicorn waits for ever for the first request, for the rest of one that has begun, and for room for the rest of an
    answer; connections take descriptors, of which a process has few. idle: the connections that are not being answered,
    in the order in which they became so.
    """

    idle: ClassVar[dict[Hurried, None]]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._own, self._unread, self._late = transport, None, None
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
        self.idle[self] = None
        if len(self.idle) > MOST_IDLE:
            longest = next(iter(self.idle))
            del self.idle[longest]
            longest.hang_up()

    def _stop_resting(self) -> None:
        self.idle.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _await_head(self) -> None:
        self._late = asyncio.get_running_loop().call_later(HEAD_S, self._look)

    def _look(self) -> None:
        if self._is_resting():
            self.hang_up()


class BoundedProtocol(WebSocketsSansIOProtocol):
    """uvicorn's end of a web socket, which hangs up where small frames come by the thousand and where the head cannot
    be read, and says why it does where a message is too long.

    Small frames are taken apart and answered before the app hears of them, and nobody else is served meanwhile. As for
    the word that says why, uvicorn closes the socket together with it, while the browser is sending: nginx, which
    cannot pass on the rest, then drops that word. Instead: options of uvicorn's.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._small, self._since, self._unheard = 0, time.monotonic(), 0

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
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        self.transport.close()

    def _may_go_on(self) -> bool:
        now = time.monotonic()
        if now - self._since > 1.0:
            self._small, self._since = 0, now
        self._small += 1
        if self._small > SMALL_A_SECOND:
            self.transport.abort()
        return self._small <= SMALL_A_SECOND
