"""What a browser may say on its web socket: what the app's own pages ask for, and no more of it than they would."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive, Send

from edge.inside import Asked, has_more_parts, name_kind, read_asked, read_message
from edge.pace import Refused
from edge.sizes import LONGEST_QUERY

# Runs, downloads that are made when they are asked for, rows of long tables. What else Streamlit knows is for who
# develops an app: it empties what all visitors share, runs git meanwhile, or writes files into the app's folder.
WANTED = ("rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk")
PASSED_OVER_S = 0.05  # until the next message is read after one that is not wanted
# Parts of a message, one in another: names, values, what a browser keeps. A page of ours has 300 at most, and 20 runs
# leave some 100 names more of what a browser keeps.
MOST_PARTS = 1_000
MOST_WIDGETS = 200  # whose values one request for a run may name; a page has 30
MOST_FIELDS = 200  # in it; a page names 30, and Streamlit logs more than 1,000 as an error, with a traceback
LONGEST_VALUE = 20_000  # characters of what a component says; a long way back has 8,000
MOST_BRACKETS = 200  # in it: each event has one, and each step of a way
LONGEST_NAME = 200  # characters of a page's name
SILENT_S = 20.0  # a page asks for its first run at once; who has asked for nothing by then is hung up on
EACH, NAMELESS = 40, 400  # sockets of one visitor in a process at a time; of all together who sent no cookie
KEPT_S = 5.0  # a socket that was hung up on is counted as its visitor's
REFUSED_S, MOST_REFUSED = 1.0, 200  # who has too many hears so after this time, if not more of them wait for that
TOO_MUCH = 1008  # the code of one that was closed for what it takes
_WIDGET = "$$"  # how Streamlit begins the names of all widgets; it takes any other for a mistake of the app
_HASH = re.compile(r"[0-9a-f]{0,64}")  # what Streamlit calls pages and their parts
_NOT_OURS = 1003  # the code of a socket that was closed for what it said
_PASSED_OVER = 0  # no code: the next message is read


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
            code = judge(message.get("bytes") or b"")
            if code is None:
                asked = True
                return message
            message = {}  # may be long, and its sender is made to wait
            if code != _PASSED_OVER:
                return await hang_up(code)
            await asyncio.sleep(PASSED_OVER_S)

    return receive_wanted


def judge(data: bytes) -> int | None:
    """What is to be done about a message: None: hear it; _PASSED_OVER, or the code with which its socket is closed."""
    if has_more_parts(data, MOST_PARTS):
        return TOO_MUCH
    said = read_message(data)
    kind = said and name_kind(said)
    if said is None or kind is None:
        return _NOT_OURS
    asks = read_asked(said)
    if asks_too_much(asks):
        return TOO_MUCH
    if not is_of_a_page(asks):
        return _NOT_OURS
    return None if kind in WANTED else _PASSED_OVER


def asks_too_much(asked: Asked) -> bool:
    """Whether a request for a run says more than any page of ours does: each part of that would be worked through."""
    return (
        len(asked.widgets) > MOST_WIDGETS
        or len(asked.page) > LONGEST_NAME
        or len(asked.query) > LONGEST_QUERY
        or asked.query.count("&") >= MOST_FIELDS
        or not all(map(_HASH.fullmatch, asked.hashes))
        or any(map(_is_too_long, asked.values))
    )


def is_of_a_page(asked: Asked) -> bool:
    """Whether a request for a run names widgets and says JSON: Streamlit logs what is neither as an error of the app,
    with a traceback each time.
    """
    return all(name.startswith(_WIDGET) for name in asked.widgets) and all(map(_is_json, asked.values))


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _is_too_long(value: str) -> bool:
    """Whether the JSON that a component says is too long, or has too much in it, side by side or nested."""
    return len(value) > LONGEST_VALUE or value.count("[") + value.count("{") > MOST_BRACKETS


class Sockets:
    """The web sockets that visitors of a process have open. Only for the thread of the server's event loop."""

    def __init__(self) -> None:
        self._open = Counter[str]()
        self._refused = Refused(MOST_REFUSED)

    async def keep_waiting(self) -> None:
        """Before one is refused."""
        await self._refused.wait(REFUSED_S)

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
