"""How a browser comes to its web socket: it fetches the page, keeps the cookies, and connects with them."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol
from wire import SPEAKS, STREAM

FIRST = ("/", "/_stcore/health")  # what a browser asks for before it opens a socket
_HEADER_BYTES = 65_536


async def greet(url: str, journey: float = 0.0) -> dict[str, str]:
    """Come for the first time: the cookies that whoever opens the page is given, by name.

    journey: seconds until a connection that is made has asked for something, as over a long line.
    """
    cookies: dict[str, str] = {}
    for path in FIRST:
        for line in await ask_for(url, path, cookies, journey):
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                with suppress(CookieError):
                    cookies.update({key: one.value for key, one in SimpleCookie(value.strip()).items()})
    return cookies


async def ask_for(url: str, path: str, cookies: dict[str, str], journey: float = 0.0) -> list[str]:
    """The head of an answer, line by line. Raises OSError where there is no server, or none that answers."""
    place = urlsplit(url)
    secure = place.scheme == "https"
    reader, writer = await asyncio.open_connection(
        place.hostname, place.port or (443 if secure else 80), ssl=secure or None, limit=_HEADER_BYTES
    )
    try:
        await asyncio.sleep(journey)
        said = f"Cookie: {write_cookies(cookies)}\r\n" if cookies else ""
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {place.netloc}\r\n{said}\r\n".encode())
        lines = []
        while line := (await reader.readline()).decode("latin-1").strip():
            lines.append(line)
        if not lines:
            raise ConnectionResetError
        return lines
    finally:
        writer.close()


def write_cookies(cookies: dict[str, str]) -> str:
    """As a request carries them."""
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


async def dial(url: str, cookies: dict[str, str], sender: str = "", journey: float = 0.0) -> ClientConnection:
    """The web socket of a session that has these cookies. sender: the address it comes from, of several of ours;
    journey: seconds until the connection asks for the socket.
    """
    address = f"{url.replace('http', 'ws', 1).rstrip('/')}/{STREAM}"
    carried = {"Cookie": write_cookies(cookies)} if cookies else None
    return await connect(
        address,
        sock=await _connect(url, journey) if journey else None,
        subprotocols=[Subprotocol(SPEAKS)],
        max_size=None,
        compression=None,
        additional_headers=carried,
        local_addr=(sender, 0) if sender else None,
    )


async def _connect(url: str, journey: float) -> socket.socket:
    place = urlsplit(url)
    line = await asyncio.to_thread(socket.create_connection, (place.hostname, place.port), 10.0)
    await asyncio.sleep(journey)
    line.setblocking(False)
    return line
