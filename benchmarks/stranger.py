"""Somebody who means no good: goes on until the time is over, whatever the server says, and counts what came of it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lines import greet
from users import WORDS
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from wire import Conversation

REFUSALS = (OSError, InvalidHandshake, ConnectionClosed, TimeoutError, EOFError)
AGAIN_S = 0.2  # after a refusal
_PIECES = [word for word in WORDS if word not in ("[MASK]", "forgets")]  # each is one token
_SAID = 100  # characters of what a page says to a stranger


@dataclass
class Stranger:
    """Who attacks a URL until a time on the monotonic clock.

    pid: the server's first process, for who can end some; bad: folders of bad checkpoints, for who can name them.
    """

    url: str
    until: float
    pid: int = 0
    bad: Sequence[Path] = ()
    done: Counter[str] = field(default_factory=Counter)
    random: Random = field(default_factory=lambda: Random(0))

    @property
    def left(self) -> float:
        return max(0.0, self.until - time.monotonic())

    async def come(self) -> dict[str, str]:
        """Open the page, as often as it takes. Returns the cookies that were given."""
        while True:
            with suppress(*REFUSALS):
                return await greet(self.url)
            self.done["refused (page)"] += 1
            await asyncio.sleep(AGAIN_S)

    async def insist(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do something again and again, also where the server ends it."""
        while self.left:
            try:
                async with asyncio.timeout(self.left):
                    await act()
            except REFUSALS as refused:
                if self.left:
                    self.done[f"refused ({type(refused).__name__})"] += 1
                    await asyncio.sleep(min(AGAIN_S, self.left))

    async def together(self, acts: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Insist on several things at once."""
        await asyncio.gather(*(self.insist(act) for act in acts))

    async def ask(self, line: ClientConnection, talk: Conversation, request: bytes) -> None:
        """Send something and wait until its run is over."""
        await line.send(request)
        while not talk.take(await line.recv(decode=False)):
            pass
        self.done["answers"] += 1
        self.done.update(f"told: {trouble[:_SAID]}" for trouble in talk.trouble)
        talk.trouble.clear()

    def write(self, words: int) -> str:
        """A sentence that nobody has written before, of as many tokens as words."""
        return " ".join(self.random.choices(_PIECES, k=words))


async def drain(line: ClientConnection) -> None:
    """Take what comes, and forget it."""
    with suppress(ConnectionClosed):
        async for _ in line:
            pass
