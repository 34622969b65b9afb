"""What a browser may say on its web socket: what the app's own pages ask for, and no more of it than they would."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# Runs, downloads that are made when they are asked for, rows of long tables. What else Streamlit knows is for who
# develops an app: it empties what all visitors share, runs git meanwhile, or writes files into the app's folder.
WANTED = ("rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk")
PASSED_OVER_S = 0.05  # until the next message is read after one that is not wanted
SMALL_A_SECOND = 60  # pings and continued messages; a browser sends neither
MOST_WIDGETS = 200  # whose values one request for a run may name; a page has 30
LONGEST_QUERY = 1 << 16  # characters; two long sentences, packed, have 50,000 at most
LONGEST_VALUE = 20_000  # characters of what a component says; a long way back has 8,000
MOST_BRACKETS = 200  # in it: each event has one, and each step of a way
LONGEST_NAME = 200  # characters of a page's name
HEAD_S = 15.0  # a browser that connects asks at once, and a connection that it keeps in store it opens anew
SILENT_S = 20.0  # a page asks for its first run at once; who has asked for nothing by then is hung up on
EACH, NAMELESS = 40, 400  # sockets of one visitor in a process at a time; of all together who sent no cookie
KEPT_S = 5.0  # a socket that was hung up on is counted as its visitor's
_SLICE = 4096  # bytes that are taken apart before anybody looks whether they are too many messages
TOO_MUCH = 1008  # the code of one that was closed for what it takes
_HASH = re.compile(r"[0-9a-f]{0,64}")  # what Streamlit calls pages and their parts
_NOT_OURS = 1003  # the code of a socket that was closed for what it said


def hear_wanted(receive: Receive, send: Send) -> Receive:
    """What a browser says, as far as the app has a use for it; who says what no page of ours says is hung up on."""

    asked, end = False, time.monotonic() + SILENT_S

    async def hang_up(code: int) -> Message:
        await send({"type": "websocket.close", "code": code})
        await asyncio.sleep(KEPT_S)  # and is counted as open: who comes back at once does not get round it
        return {"type": "websocket.disconnect", "code": code}

    async def receive_wanted() -> Message:
        nonlocal asked
        while True:
            try:
                message = await asyncio.wait_for(receive(), None if asked else max(0.0, end - time.monotonic()))
            except TimeoutError:
                return await hang_up(TOO_MUCH)
            if message["type"] != "websocket.receive":
                return message
            said = read_message(message.get("bytes"))
            kind = said and name_kind(said)
            if said and asks_too_much(said.rerun_script):
                return await hang_up(TOO_MUCH)
            if kind in WANTED:
                asked = True
                return message
            if kind is None:
                return await hang_up(_NOT_OURS)
            await asyncio.sleep(PASSED_OVER_S)

    return receive_wanted


def read_message(data: bytes | None) -> BackMsg | None:
    """A message of a browser; None where it is none of Streamlit's."""
    try:
        return BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own DecodeError; that package is Streamlit's affair
        return None


def name_kind(said: BackMsg) -> str | None:
    """What a message asks for, by Streamlit's name; None where it asks for nothing."""
    kind = said.WhichOneof("type")
    return said.backend_operation_request.WhichOneof("payload") if kind == "backend_operation_request" else kind


def asks_too_much(request: ClientState) -> bool:
    """Whether a request for a run says more than any page of ours does: each part of that would be worked through."""
    widgets = request.widget_states.widgets
    return (
        len(widgets) > MOST_WIDGETS
        or len(request.page_name) > LONGEST_NAME
        or len(request.query_string) > LONGEST_QUERY
        or not (_HASH.fullmatch(request.fragment_id) and _HASH.fullmatch(request.page_script_hash))
        or any(_is_too_long(value) for one in widgets for value in (one.json_value, one.json_trigger_value))
    )


def _is_too_long(value: str) -> bool:
    """Whether the JSON that a component says is too long, or has too much in it, side by side or nested."""
    return len(value) > LONGEST_VALUE or value.count("[") + value.count("{") > MOST_BRACKETS


class Sockets:
    """The web sockets that visitors of a process have open. Only for the thread of the server's event loop."""

    def __init__(self) -> None:
        self._open = Counter[str]()

    @contextmanager
    def hold(self, visitor: str) -> Iterator[bool]:
        """One more, while inside, if this visitor may have that; "" is whoever has no name."""
        admitted = self._open[visitor] < (EACH if visitor else NAMELESS)
        self._open[visitor] += admitted
        try:
            yield admitted
        finally:
            self._open[visitor] -= admitted
            if not self._open[visitor]:
                del self._open[visitor]


def hurry(protocol: type[asyncio.Protocol]) -> type[asyncio.Protocol]:
    """uvicorn's end of a connection, made to hang up on whoever has not asked for anything within HEAD_S."""

    class Hurried(protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._late = asyncio.get_running_loop().call_later(HEAD_S, self._look, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self._late.cancel()
            super().connection_lost(exc)

        def _look(self, transport: Any) -> None:
            if transport.get_protocol() is self and getattr(self, "cycle", None) is None:  # nor a web socket's
                transport.abort()

    return Hurried


class BoundedProtocol(WebSocketsSansIOProtocol):
    """uvicorn's end of a web socket, which hangs up where small frames come by the thousand.

    They are taken apart and answered before the app hears of them, and nobody else is served meanwhile.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._small, self._since = 0, time.monotonic()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE])

    def handle_ping(self) -> None:
        if self._may_go_on():
            super().handle_ping()

    def handle_cont(self, event: Any) -> None:
        if self._may_go_on():
            super().handle_cont(event)

    def _may_go_on(self) -> bool:
        now = time.monotonic()
        if now - self._since > 1.0:
            self._small, self._since = 0, now
        self._small += 1
        if self._small > SMALL_A_SECOND:
            self.transport.abort()
        return self._small <= SMALL_A_SECOND
