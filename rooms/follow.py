"""Who listens to a room hears of each change of it, also of those that came by another process."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from rooms.errors import RefusedError, StoreError
from rooms.state import tell_phones
from rooms.store import Rooms

LOOK_S = 0.3  # between two looks at the store
NOTE_S = 3.0  # between two notes of who leads here
SWEEP_S = 60.0
BEAT_S = 10.0  # of silence at most: what stands between takes a silent connection for a dead one
MOST_LISTENERS, MOST_OF_ONE = 1_000, 750  # of a process, and of one address; more are told to ask instead
PAUSE_S = 0.3  # between two tellings of a room; of what changes meanwhile, who listens hears the last
AT_ONCE = 8  # who are told before others' requests have their turn
BUSY = "Too many listen. Ask instead."
GONE: dict[str, Any] = {"gone": True}

Call = Callable[..., Awaitable[Any]]  # does something of Rooms in a thread


class Channel:
    """A room as those of one process hear of it. said: the newest, as it is sent; version: None before the first;
    listeners: of each what wakes it; spoke: when they were last told something, on the monotonic clock; telling: what
    tells them, until they can be told again; behind: whether something has been said since it began.
    """

    def __init__(self) -> None:
        self.listeners: dict[asyncio.Event, None] = {}
        self.said, self.spoke = b"", time.monotonic()
        self.version: int | None = None
        self.telling: asyncio.Task[None] | None = None
        self.behind = False

    def say(self, version: int | None, told: dict[str, Any]) -> None:
        """Have something said from now on; who listens hears it by `wake`."""
        self.version, self.said = version, write_event(told)

    async def wake(self) -> None:
        """Have all who listen told what is said, or that it is still the same.

        A few at a time: each takes a moment of the thread in which all requests and pages of this process are answered,
        and a longer one where others compute.
        """
        self.spoke = time.monotonic()
        for i, each in enumerate(list(self.listeners), 1):
            each.set()
            if i % AT_ONCE == 0:
                await asyncio.sleep(0)


def write_event(told: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


class Follower:
    """All channels of a process. Only for the thread of the server's event loop."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._channels: dict[str, Channel] = {}
        self._task: asyncio.Task[None] | None = None
        self._listeners = Counter[str]()  # by the address that they come from

    def begin(self) -> None:
        """Look at the store from now on."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def listen(self, code: str, address: str = "") -> AsyncGenerator[bytes]:
        """What is said of a room: how it is, then each change. Raises RefusedError where too many listen."""
        if self._listeners.total() >= MOST_LISTENERS or self._listeners[address] >= MOST_OF_ONE:
            raise RefusedError(BUSY, 503)
        return self._listen(code, address)

    async def _listen(self, code: str, address: str) -> AsyncGenerator[bytes]:
        channel, woken = self._channels.setdefault(code, Channel()), asyncio.Event()
        channel.listeners[woken] = None
        self._listeners[address] += 1
        try:
            if channel.version is None:
                with suppress(StoreError):  # who listens then hears nothing, and comes again
                    await self.refresh(code)
            heard = None
            while True:
                woken.clear()
                said, over = channel.said, channel.version is None  # both may be others by the time that it is sent
                yield said if said is not heard else b": still here\n\n"
                heard = said
                if over:
                    return
                await woken.wait()
        finally:
            del channel.listeners[woken]
            self._listeners[address] -= 1
            if not self._listeners[address]:
                del self._listeners[address]
            if not channel.listeners and self._channels.get(code) is channel:
                del self._channels[code]

    async def refresh(self, code: str) -> None:
        """Have those who listen to a room told how it is now; whoever calls does not wait until they are."""
        channel = self._channels.get(code)
        if channel is None:
            return
        try:
            room = await self._call(Rooms.read, code)
        except RefusedError:
            channel.say(None, GONE)
        else:
            if room.version == channel.version:
                return
            channel.say(room.version, tell_phones(room))
        self._wake(channel)

    def _wake(self, channel: Channel) -> None:
        """Have them told, now or, where they just were, after a pause: who goes on without one takes no more time of
        all others' than a class that is led by hand.
        """
        channel.behind = True
        if channel.telling is None:
            channel.telling = asyncio.create_task(self._tell(channel))

    async def _tell(self, channel: Channel) -> None:
        while channel.behind:
            channel.behind = False
            await channel.wake()
            await asyncio.sleep(PAUSE_S)
        channel.telling = None

    async def _look(self) -> None:
        swept = time.monotonic() - SWEEP_S  # a server that was away may have missed the end of a room
        noted = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_S)
            for channel in self._channels.values():
                if time.monotonic() - channel.spoke > BEAT_S:
                    self._wake(channel)
            with suppress(StoreError, RefusedError):  # the store may be away for a while; it is asked again
                if self._channels:
                    await self._compare()
                if time.monotonic() - noted > NOTE_S:
                    noted = time.monotonic()
                    await self._call(Rooms.note_led)
                if time.monotonic() - swept > SWEEP_S:
                    swept = time.monotonic()
                    await self._call(Rooms.sweep)

    async def _compare(self) -> None:
        versions = await self._call(Rooms.read_versions, tuple(self._channels))
        for code, channel in list(self._channels.items()):
            if versions.get(code) != channel.version:
                await self.refresh(code)
