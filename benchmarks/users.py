"""Users of a class: each opens the app, thinks, chooses, reads on, comes back after a broken connection, and leaves."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random

from lines import dial, greet
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from wire import Conversation

THINK_S = (2.0, 6.0)
PATIENCE_S = 120.0  # who has no answer by then has none
COME_BACK_S = 0.5  # between two tries to reach a server that is gone
EXAMPLES = (
    "When in Rome, do as the [MASK] do.",
    "She opened the door and [MASK] into the room.",
    "The old man was [MASK] and tired.",
    "The children went to bed.",
    "Unbelievably, tokenizers split electroencephalography.",
)
WORDS = """
the a my our old small quiet happy red broken river teacher dog city window garden night question child paper reads sees
opens forgets likes writes finds brings near under behind with without because while and then slowly often never today
again [MASK]
""".split()  # noqa: SIM905 - read as text
_LENGTHS = (4, 6, 8, 10, 12, 16, 24, 60)  # words of a sentence of one's own
_CELL = "encoder.layer.{}.attention.self.{}[head={},query={},key={}]"


WAITS = "…"  # stands where something is not known yet


@dataclass
class Tally:
    """What users met, all together.

    times: seconds from a request to the end of its run; first: to the first thing of it on screen; back: from a broken
    connection until the page stood there again; changed: how many of these pages showed something else than before;
    visits: sessions; trouble: by kind.
    """

    times: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)
    changed: int = 0
    visits: int = 0
    trouble: Counter[str] = field(default_factory=Counter)


@dataclass
class User:
    """Somebody who visits the app at a URL until a time on the monotonic clock.

    choices: how many a visit has before another user comes in this one's place; 0 for one long visit. disturbed: the
    server is killed now and then, so that a broken connection is no trouble by itself. think: the shortest and the
    longest pause before a choice, in seconds; pages: the only ones that this user opens, all where none are named.
    journey: seconds from a connection to what it asks for.
    """

    url: str
    seed: int
    until: float
    tally: Tally
    choices: int = 0
    disturbed: bool = False
    think: tuple[float, float] = field(default_factory=lambda: THINK_S)
    pages: tuple[str, ...] = ()
    journey: float = 0.0
    _cookies: dict[str, str] = field(default_factory=dict)
    _talk: Conversation = field(default_factory=Conversation)
    _seen: tuple[str, str, list[str]] = ("", "", [])
    _going: list[str] = field(default_factory=list)  # the page to go to, once the menu of pages is open

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    async def attend(self, after: float = 0.0) -> None:
        """Come after some seconds, and stay until the time is over."""
        await asyncio.sleep(after)
        while time.monotonic() < self.until:
            await self._visit()

    async def _visit(self) -> None:
        self._talk, self._seen, self._going = Conversation(), ("", "", []), []
        self._cookies = {}  # another visitor, in another browser
        self.tally.visits += 1
        page = self._random.choice(self.pages or ("", "", "attention", "predictions", "heads", "embeddings"))
        line = await self._reach()
        try:
            line = await self._try(line, lambda: self._talk.open(page))
            done = 0
            while time.monotonic() < self.until and (not self.choices or done < self.choices):
                line = await self._think(line)
                line = await self._try(line, self._decide)
                if self._going:
                    line = await self._try(line, self._go_on)
                done += 1
        finally:
            with suppress(ConnectionClosed, OSError):
                await line.close()

    async def _think(self, line: ClientConnection) -> ClientConnection:
        """Look at the page for a while, which meanwhile asks by itself for what is still worked out."""
        end, looked = time.monotonic() + self._random.uniform(*self.think), Tally(trouble=self.tally.trouble)
        while (left := end - time.monotonic()) > 0:
            if (look := self._talk.find_next_look()) is None or look.after >= left:
                await asyncio.sleep(left)
                break
            await asyncio.sleep(look.after)
            line = await self._do(line, partial(self._talk.look_again, look), looked)
        return line

    async def _try(self, line: ClientConnection, decide: Callable[[], bytes]) -> ClientConnection:
        """Do something and wait for what comes of it."""
        return await self._do(line, decide, self.tally)

    async def _do(self, line: ClientConnection, decide: Callable[[], bytes], tally: Tally) -> ClientConnection:
        """What is done, over another connection if this one breaks; its time is one of this tally's."""
        start = time.perf_counter()
        try:
            await self._ask(line, decide(), tally)
            self._remember()
            return line
        except TimeoutError:
            self.tally.trouble["no answer"] += 1
        except (ConnectionClosed, OSError):
            if not self.disturbed:
                self.tally.trouble["disconnect"] += 1
        await line.close()
        return await self._come_back(start)

    async def _ask(self, line: ClientConnection, request: bytes, tally: Tally) -> None:
        start, first, over = time.perf_counter(), 0.0, False
        async with asyncio.timeout(PATIENCE_S):
            await line.send(request)
            while not over:
                data = await line.recv(decode=False)
                over = self._talk.take(data)
                if not first and self._talk.said:
                    first = time.perf_counter() - start
        tally.times.append(time.perf_counter() - start)
        tally.first.append(first)
        tally.trouble.update(trouble.partition("\n")[0][:200] for trouble in self._talk.trouble)
        self._talk.trouble.clear()

    def _remember(self) -> None:
        talk = self._talk
        page = next((name for name, key in talk.names.items() if key == talk.page), "")
        texts = talk.list_texts()
        # What is worked out meanwhile may be there by then, and an open menu of pages is not.
        complete = not self._going and not any(WAITS in text for text in texts)
        self._seen = page, talk.query, texts if complete else []

    async def _come_back(self, since: float) -> ClientConnection:
        """Open the URL that stood there, in a new session: what was on screen must be there again."""
        page, query, texts = self._seen
        while True:
            line, self._talk = await self._reach(), Conversation()
            try:
                await self._ask(line, self._talk.open(page, query), Tally(trouble=self.tally.trouble))
            except (ConnectionClosed, OSError, TimeoutError):  # killed again, or a proxy has not noticed yet
                continue
            self.tally.back.append(time.perf_counter() - since)
            self.tally.changed += bool(texts) and self._talk.list_texts() != texts
            self._remember()
            return line

    async def _reach(self) -> ClientConnection:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._cookies = self._cookies or await greet(self.url, self.journey)
                return await dial(self.url, self._cookies, journey=self.journey)
            except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
                if time.monotonic() > deadline:
                    self.tally.trouble["no server"] += 1
                    raise
                await asyncio.sleep(COME_BACK_S)

    # What a user may do on any page; a page that lacks what it takes is left for another.

    def _decide(self) -> bytes:
        acts = (self._choose_head, self._choose_token, self._explain, self._turn_fold, self._write, self._go)
        act = self._random.choices(acts, (30, 12, 20, 5, 10, 23))[0]
        return act()

    def _choose_head(self) -> bytes:
        label = self._random.choice([label for label in ("Layer", "Head", "Head") if label in self._talk.menus] or [""])
        return self._talk.choose(label, self._random.choice(self._talk.menus[label][1])) if label else self._go()

    def _choose_token(self) -> bytes:
        tokens = self._talk.tokens
        return self._talk.click("token", self._random.randrange(tokens)) if tokens else self._go()

    def _explain(self) -> bytes:
        tokens, cells = self._talk.tokens, self._talk.cells
        if not tokens:
            return self._go()
        if cells and self._random.random() < 0.5:
            return self._talk.click("cell", self._random.choice(cells))
        query, key = self._random.randrange(tokens), self._random.randrange(tokens)
        quantity = self._random.choice(["probs", "scores", "products"])
        place = self._random.randrange(6), quantity, self._random.randrange(12), query, key
        return self._talk.click("cell", _CELL.format(*place))

    def _turn_fold(self) -> bytes:
        if not self._talk.folds:
            return self._go()
        return self._talk.turn_fold(self._random.choice(self._talk.folds), self._random.random() < 0.7)

    def _write(self) -> bytes:
        if self._random.random() < 0.4:
            return self._talk.type("Sentence", self._random.choice(EXAMPLES))
        words = self._random.choices(WORDS, k=self._random.choice(_LENGTHS))
        return self._talk.type("Sentence", " ".join(words).capitalize() + ".")

    def _go(self) -> bytes:
        page = self._random.choice([name for name in self._talk.names if not self.pages or name in self.pages])
        if not self._talk.must_open_menu(page):
            return self._talk.follow(page)
        self._going = [page]
        return self._talk.open_menu()

    def _go_on(self) -> bytes:
        page = self._going.pop()
        return self._talk.rerun() if self._talk.must_open_menu(page) else self._talk.follow(page)
