"""Attacks on what all visitors share, from another address than theirs. The first line of each says what is done."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from itertools import count
from urllib.parse import urlencode, urlsplit

from lines import dial
from stranger import Stranger, drain
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from wire import Conversation

ELSEWHERE = "127.0.0.2"  # visitors come from another address of this machine
_PARTS = 125_000  # of two bytes each: 250 kB, which is as long as a message may be
_COOKIES, _SESSIONS = 40, 16  # so many of each


async def send_parts(stranger: Stranger) -> None:
    """Send messages of 125,000 empty widgets, or of a widget with as many empty texts, on 400 sockets at once."""
    empty, filled = BackMsg(), BackMsg()
    empty.rerun_script.widget_states.widgets.extend([WidgetState()] * _PARTS)
    filled.rerun_script.widget_states.widgets.add(id="$$ID-0-none").string_array_value.data.extend([""] * _PARTS)
    messages = [empty.SerializeToString(), filled.SerializeToString()]

    async def send() -> None:
        line = await dial(stranger.url, {}, ELSEWHERE)
        await line.send(stranger.random.choice(messages))
        stranger.done["sent"] += 1
        await drain(line)
        raise ConnectionError

    await stranger.together([send] * 400)


async def fill_room(stranger: Stranger) -> None:
    """Make up 40 cookies, open 16 pages with each, and have them stay open."""
    await stay_open(stranger, _COOKIES, lambda: "")


async def hold_long(stranger: Stranger) -> None:
    """Make up 10 cookies, open 16 pages with each, every one of another sentence of 505 words, and let them lie."""
    await stay_open(stranger, 10, lambda: urlencode({"text": stranger.write(505)}), stranger.left / 2)


async def stay_open(stranger: Stranger, visitors: int, write_query: Callable[[], str], seconds: float = 0.0) -> None:
    """Open as many pages as that many visitors may have, over so many seconds, and have them stay open."""

    async def stay(cookie: str) -> None:
        await asyncio.sleep(stranger.random.uniform(0.0, seconds))
        line, talk = await dial(stranger.url, {"bertviz_visitor": cookie}, ELSEWHERE), Conversation()
        await stranger.ask(line, talk, talk.open("notation", write_query()))
        await drain(line)
        raise ConnectionError

    cookies = [secrets.token_hex(16) for _ in range(visitors)]
    await stranger.together([partial(stay, cookie) for cookie in cookies for _ in range(_SESSIONS)])


async def ask_forged(stranger: Stranger) -> None:
    """Ask for pages over 50 connections as fast as they come, each time in the name of a visitor, or of another one."""
    place, numbers = urlsplit(stranger.url), count()

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(ELSEWHERE, 0))
        try:
            said = stranger.random.choice(["127.0.0.1", f"192.0.2.{next(numbers) % 256}", "127.0.0.1, 192.0.2.1", ","])
            head = (
                f"GET /attention HTTP/1.1\r\nHost: {place.netloc}\r\nX-Forwarded-For: {said}\r\nConnection: close\r\n"
            )
            writer.write(f"{head}X-Real-IP: 127.0.0.1\r\n\r\n".encode())
            status = (await reader.readline()).decode("latin-1").split()[1:2]
            stranger.done[f"status {' '.join(status)}"] += 1
            await reader.read()
        finally:
            writer.close()

    async def go_on() -> None:
        while True:
            await ask()

    await stranger.together([go_on] * 50)


async def save_handouts(stranger: Stranger) -> None:
    """Have the handout of a lesson made for a sentence of 500 words, each time another one, on four sockets."""
    cookies = await stranger.come()

    async def save() -> None:
        line, talk = await dial(stranger.url, cookies, ELSEWHERE), Conversation()
        await stranger.ask(line, talk, talk.open("learn", urlencode({"text": stranger.write(500)})))
        await stranger.ask(line, talk, talk.open_menu("For the teacher: handouts with key"))
        for name in filter(None, talk.files.values()):
            asked = BackMsg()
            asked.backend_operation_request.request_id = asked.backend_operation_request.session_id = talk.session
            asked.backend_operation_request.deferred_file.file_id = name
            await line.send(asked.SerializeToString())
            while (told := ForwardMsg.FromString(await line.recv(decode=False))).WhichOneof("type") != (
                "backend_operation_response"
            ):
                pass
            stranger.done["refused" if told.backend_operation_response.error_msg else "handouts"] += 1
        await line.close()

    async def go_on() -> None:
        while True:
            await save()

    await stranger.together([go_on] * 4)
