"""Attacks on a server's sockets, memory and processes. The first line of each says what the stranger does."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from lines import dial, greet, write_cookies
from served import list_family
from stranger import Stranger, drain
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from wire import Conversation

MEGABYTE = 1_000_000


async def upload(stranger: Stranger) -> None:
    """Put 600 files of 0.95 MB to Streamlit's upload endpoint, with a session and a cookie that anybody gets."""
    cookies = await stranger.come()
    line, talk = await dial(stranger.url, cookies), Conversation()
    await stranger.ask(line, talk, talk.open())
    said = {
        "Cookie": write_cookies(cookies),
        "X-Xsrftoken": cookies.get("_streamlit_xsrf", ""),
        "Content-Type": "multipart/form-data; boundary=cut",
    }
    numbers = iter(range(600))

    async def put() -> None:
        for number in numbers:
            where = f"{stranger.url}/_stcore/upload_file/{talk.session}/{number}"
            stranger.done[f"status {await asyncio.to_thread(put_file, where, said)}"] += 1
        await asyncio.sleep(stranger.left)

    await stranger.together([put] * 4)
    await line.close()


def put_file(where: str, said: dict[str, str]) -> int:
    """Upload a file that does not shrink. Returns the answer's status."""
    named = b'--cut\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\n'
    body = named + os.urandom(950_000) + b"\r\n--cut--\r\n"
    try:
        with urlopen(Request(where, body, said, method="PUT"), timeout=30) as answer:
            return answer.status
    except HTTPError as refused:
        return refused.code


async def send_big(stranger: Stranger) -> None:
    """Send messages of 1, 10 and 50 MB over web sockets, as fast as they are taken."""

    async def send() -> None:
        line, talk = await dial(stranger.url, {}), Conversation()
        await stranger.ask(line, talk, talk.open())
        for size in (1, 10, 50):
            message = BackMsg()
            message.rerun_script.widget_states.widgets.append(
                WidgetState(id="$$ID-0-none", string_value="x" * size * MEGABYTE)
            )
            await stranger.ask(line, talk, message.SerializeToString())
            stranger.done[f"{size} MB taken"] += 1

    await stranger.together([send] * 4)


async def hold_open(stranger: Stranger) -> None:
    """Open 200 connections, half of them as web sockets, and never say a word."""
    place = urlsplit(stranger.url)

    async def keep_quiet() -> None:
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        stranger.done["connections"] += 1
        await asyncio.sleep(stranger.left)
        writer.close()

    async def keep_socket() -> None:
        line = await dial(stranger.url, {})
        stranger.done["sockets"] += 1
        await drain(line)
        raise ConnectionError

    await stranger.together([keep_quiet] * 100 + [keep_socket] * 100)


async def stay_silent(stranger: Stranger) -> None:
    """Open 500 web sockets, a fifth of them with one cookie, ask for nothing, and open anew what is hung up on."""
    cookies = await stranger.come()

    def keep(carried: dict[str, str]) -> Callable[[], Awaitable[None]]:
        async def stay() -> None:
            line = await dial(stranger.url, carried)
            stranger.done["sockets"] += 1
            await drain(line)
            raise ConnectionError

        return stay

    await stranger.together([keep({})] * 400 + [keep(cookies)] * 100)


async def drip(stranger: Stranger) -> None:
    """Send the head of a request over each of 100 connections, a line every two seconds, to no end."""
    place = urlsplit(stranger.url)

    async def send() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\n".encode())
            stranger.done["connections"] += 1
            for number in count():
                with suppress(TimeoutError):
                    if not await asyncio.wait_for(reader.read(1000), 2.0):
                        raise ConnectionError
                writer.write(f"X-{number}: x\r\n".encode())
                await writer.drain()
                stranger.done["lines"] += 1
        finally:
            writer.close()

    await stranger.together([send] * 100)


async def crowd(stranger: Stranger, cookies: dict[str, str]) -> None:
    """Be a hundred sessions, each of which goes to another page as soon as it was answered."""

    async def wander() -> None:
        line, talk = await dial(stranger.url, cookies), Conversation()
        stranger.done["sockets"] += 1
        await stranger.ask(line, talk, talk.open())
        while True:
            await stranger.ask(line, talk, talk.open(stranger.random.choice(["attention", "heads", "predictions"])))

    await stranger.together([wander] * 100)


async def crowd_alike(stranger: Stranger) -> None:
    """A hundred greedy sessions that carry one cookie."""
    await crowd(stranger, await stranger.come())


async def crowd_without(stranger: Stranger) -> None:
    """A hundred greedy sessions without cookies."""
    await crowd(stranger, {})


async def reload(stranger: Stranger) -> None:
    """Open a page twenty times a second, each time as somebody else, and be gone before it is there."""

    async def come_and_go() -> None:
        line = await dial(stranger.url, await greet(stranger.url))
        await line.send(Conversation().open(stranger.random.choice(["", "attention", "heads", "documents"])))
        stranger.done["sessions"] += 1
        await asyncio.sleep(0.1)
        line.transport.abort()

    async def every_second() -> None:
        start = time.monotonic()
        await come_and_go()
        await asyncio.sleep(max(0.0, 1.0 - (time.monotonic() - start)))

    await stranger.together([every_second] * 20)


async def kill_replica(stranger: Stranger) -> None:
    """End a server process by SIGKILL, one every ten seconds; its visitors come back by themselves."""

    async def kill() -> None:
        await asyncio.sleep(2.0)
        if servers := list_servers(stranger.pid):
            os.kill(stranger.random.choice(servers), signal.SIGKILL)
            stranger.done["killed"] += 1
        await asyncio.sleep(8.0)

    await stranger.insist(kill)


def list_servers(pid: int) -> list[int]:
    """The processes that answer visitors: the replicas that a service has started, or the one process itself."""
    replicas = []
    for child in list_family([pid])[1:]:
        with suppress(OSError):
            if b"deploy.replica" in Path(f"/proc/{child}/cmdline").read_bytes():
                replicas.append(child)
    return replicas or [pid]
