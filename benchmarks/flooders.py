"""Floods of connections, from another address than visitors'. The first line of each says what is done."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from urllib.parse import urlsplit

from stranger import Stranger
from takers import ELSEWHERE

_RESET = struct.pack("ii", 1, 0)  # whoever closes says no word of farewell
_PAUSE_S = 0.002


async def churn(stranger: Stranger) -> None:
    """Open 5,000 connections a second, say nothing on any, and reset the oldest where 600 are open."""
    await flood(stranger, 5000.0, 600, b"")


async def begin_to_ask(stranger: Stranger) -> None:
    """Begin 1,000 requests a second, go on with none, and open another connection for each that is closed."""
    await flood(stranger, 1000.0, 14_000, b"GET / HTTP/1.1\r\nHost: x\r\n")


async def flood(stranger: Stranger, a_second: float, most: int, said: bytes) -> None:
    """Open so many connections a second, begin on each as is said, and reset the oldest of more than so many."""
    place = urlsplit(stranger.url)
    start, lines, silent = time.monotonic(), deque[socket.socket](), deque[socket.socket]()
    while stranger.left:
        while stranger.done["connections"] < (time.monotonic() - start) * a_second and stranger.left:
            with suppress(OSError):  # no room for more: the oldest go
                lines.append(connect(place.hostname or "", place.port or 80))
                silent.append(lines[-1])
            stranger.done["connections"] += 1
            if len(lines) > most:
                lines.popleft().close()
        await asyncio.sleep(_PAUSE_S)
        while said and silent:
            with suppress(OSError):
                silent.popleft().send(said)
        silent.clear()
    for line in lines:
        line.close()


def connect(host: str, port: int) -> socket.socket:
    """A connection from ELSEWHERE, which is made while nobody waits for it."""
    line = socket.socket()
    line.setblocking(False)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    try:
        line.bind((ELSEWHERE, 0))
        line.connect((host, port))
    except BlockingIOError:
        pass
    except OSError:
        line.close()
        raise
    return line
