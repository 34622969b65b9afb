"""How a browser comes to its web socket: it fetches the page, keeps the cookies, and connects with them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol
from wire import SPEAKS, STREAM

FIRST = ("/", "/_stcore/health")  # what a browser asks for before it opens a socket
_HEADER_BYTES = 65_536


async def greet(url: str) -> dict[str, str]:
    """Come for the first time: the cookies that whoever opens the page is given, by name."""
    cookies: dict[str, str] = {}
    for path in FIRST:
        for line in await ask_for(url, path, cookies):
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                with suppress(CookieError):
                    cookies.update({key: one.value for key, one in SimpleCookie(value.strip()).items()})
    return cookies


async def ask_for(url: str, path: str, cookies: dict[str, str]) -> list[str]:
    """The head of an answer, line by line. Raises OSError where there is no server."""
    place = urlsplit(url)
    secure = place.scheme == "https"
    reader, writer = await asyncio.open_connection(
        place.hostname, place.port or (443 if secure else 80), ssl=secure or None, limit=_HEADER_BYTES
    )
    try:
        said = f"Cookie: {write_cookies(cookies)}\r\n" if cookies else ""
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {place.netloc}\r\n{said}\r\n".encode())
        lines = []
        while line := (await reader.readline()).decode("latin-1").strip():
            lines.append(line)
        return lines
    finally:
        writer.close()


def write_cookies(cookies: dict[str, str]) -> str:
    """As a request carries them."""
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


async def dial(url: str, cookies: dict[str, str], sender: str = "") -> ClientConnection:
    """The web socket of a session that has these cookies. sender: the address it comes from, of several of ours."""
    address = f"{url.replace('http', 'ws', 1).rstrip('/')}/{STREAM}"
    carried = {"Cookie": write_cookies(cookies)} if cookies else None
    return await connect(
        address,
        subprotocols=[Subprotocol(SPEAKS)],
        max_size=None,
        compression=None,
        additional_headers=carried,
        local_addr=(sender, 0) if sender else None,
    )
