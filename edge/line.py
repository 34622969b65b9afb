"""What a browser may say on its web socket: what the app's own pages ask for, and no more of it than they would."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# Runs, downloads that are made when they are asked for, rows of long tables. What else Streamlit knows is for who
# develops an app: it empties what all visitors share, runs git meanwhile, or writes files into the app's folder.
WANTED = ("rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk")
PASSED_OVER_S = 0.05  # until the next message is read after one that is not wanted
SMALL_A_SECOND = 60  # pings and continued messages; a browser sends neither
_SLICE = 4096  # bytes that are taken apart before anybody looks whether they are too many messages
_NOT_OURS = 1003  # the code of a socket that was closed for what it said


def hear_wanted(receive: Receive, send: Send) -> Receive:
    """What a browser says, as far as the app has a use for it; who says what no page of ours says is hung up on."""

    async def receive_wanted() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            kind = read_kind(message.get("bytes"))
            if kind in WANTED:
                return message
            if kind is None:
                await send({"type": "websocket.close", "code": _NOT_OURS})
                return {"type": "websocket.disconnect", "code": _NOT_OURS}
            await asyncio.sleep(PASSED_OVER_S)

    return receive_wanted


def read_kind(data: bytes | None) -> str | None:
    """What a message asks for, by Streamlit's name; None where it is none of Streamlit's."""
    try:
        said = BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own DecodeError; that package is Streamlit's affair
        return None
    kind = said.WhichOneof("type")
    return said.backend_operation_request.WhichOneof("payload") if kind == "backend_operation_request" else kind


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
