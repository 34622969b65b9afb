"""Who listens to a room hears of each change of it, also of those that came by another process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from rooms.errors import RefusedError, StoreError
from rooms.state import tell_phones
from rooms.store import Rooms

LOOK_S = 0.3  # between two looks at the store
SWEEP_S = 60.0
BEAT_S = 10.0  # of silence at most: what stands between takes a silent connection for a dead one
MOST_LISTENERS = 1_000  # of a process; more are told to ask instead
BUSY = "Too many listen. Ask instead."
GONE: dict[str, Any] = {"gone": True}

Call = Callable[..., Awaitable[Any]]  # does something of Rooms in a thread


class Channel:
    """A room as those of one process hear of it. said: the newest, as it is sent; version: None before the first."""

    def __init__(self) -> None:
        self.listeners, self.said, self.changed = 0, b"", asyncio.Event()
        self.version: int | None = None

    def say(self, version: int | None, told: dict[str, Any]) -> None:
        self.version, self.said = version, write_event(told)
        self.changed.set()
        self.changed = asyncio.Event()


def write_event(told: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


class Follower:
    """All channels of a process. Only for the thread of the server's event loop."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._channels: dict[str, Channel] = {}
        self._task: asyncio.Task[None] | None = None
        self._listeners = 0

    def begin(self) -> None:
        """Look at the store from now on."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def listen(self, code: str) -> AsyncGenerator[bytes]:
        """What is said of a room: how it is, then each change. Raises RefusedError where too many listen."""
        if self._listeners >= MOST_LISTENERS:
            raise RefusedError(BUSY, 503)
        return self._listen(code)

    async def _listen(self, code: str) -> AsyncGenerator[bytes]:
        channel = self._channels.setdefault(code, Channel())
        channel.listeners += 1
        self._listeners += 1
        try:
            if channel.version is None:
                with suppress(StoreError):  # who listens then hears nothing, and comes again
                    await self.refresh(code)
            said = None
            while True:
                changed = channel.changed
                yield channel.said if channel.said is not said else b": still here\n\n"
                said = channel.said
                if channel.version is None:
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), BEAT_S)
        finally:
            channel.listeners -= 1
            self._listeners -= 1
            if not channel.listeners:
                self._channels.pop(code, None)

    async def refresh(self, code: str) -> None:
        """Tell those who listen to a room how it is now."""
        channel = self._channels.get(code)
        if channel is None:
            return
        try:
            room = await self._call(Rooms.read, code)
        except RefusedError:
            channel.say(None, GONE)
        else:
            if room.version != channel.version:
                channel.say(room.version, tell_phones(room))

    async def _look(self) -> None:
        swept = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_S)
            with suppress(StoreError, RefusedError):  # the store may be away for a while; it is asked again
                if self._channels:
                    await self._compare()
                if time.monotonic() - swept > SWEEP_S:
                    swept = time.monotonic()
                    await self._call(Rooms.sweep)

    async def _compare(self) -> None:
        versions = await self._call(Rooms.read_versions, tuple(self._channels))
        for code, channel in list(self._channels.items()):
            if versions.get(code) != channel.version:
                await self.refresh(code)
