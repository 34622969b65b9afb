"""Phones of a class, as a server meets them: each comes in, listens, thinks, and answers what is asked."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 20.0


@dataclass
class Heard:
    """What phones met, all together: seconds until an answer was confirmed, and from an act until it was heard of; what
    each phone had confirmed, by question and vote; what went wrong, by kind."""

    confirmed: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    entered: list[float] = field(default_factory=list)
    given: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    trouble: Counter[str] = field(default_factory=Counter)


async def ask(
    url: str, path: str, body: object = None, secret: str = "", visitor: str = "", sender: str = ""
) -> tuple[int, Any]:
    """The status and the data of an answer, on a connection of its own. visitor: by its cookie, if it has one; sender:
    the address it comes from, of several of ours."""
    place = urlsplit(url)
    local = (sender, 0) if sender else None
    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=local)
    try:
        said = b"" if body is None else json.dumps(body).encode()
        head = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", f"Host: {place.netloc}", "Connection: close"]
        head += [f"Authorization: Bearer {secret}"] if secret else []
        head += [f"Cookie: bertviz_visitor={visitor}"] if visitor else []
        head += [] if body is None else [f"Content-Length: {len(said)}", "Content-Type: application/json"]
        writer.write("\r\n".join([*head, "", ""]).encode() + said)
        answer = await asyncio.wait_for(reader.read(), PATIENCE_S)
    finally:
        writer.close()
    head_, _, content = answer.partition(b"\r\n\r\n")
    if b"chunked" in head_.lower():
        content = _join_chunks(content)
    with suppress(ValueError):
        return int(head_.split()[1]), json.loads(content)
    return int(head_.split()[1]), content


def _join_chunks(content: bytes) -> bytes:
    parts = []
    while content:
        size, _, rest = content.partition(b"\r\n")
        length = int(size or b"0", 16)
        parts.append(rest[:length])
        content = rest[length + 2 :] if length else b""
    return b"".join(parts)


@dataclass
class Phone:
    """One phone in a class. acted: when who leads has last gone on, by version, on the monotonic clock; think: the
    seconds within which it answers."""

    url: str
    code: str
    seed: int
    heard: Heard
    acted: dict[int, float]
    think: float
    number: str = ""
    answered: set[tuple[int, int]] = field(default_factory=set)

    async def take_part(self) -> None:
        """Come in, and stay until the class is over."""
        self._random = Random(self.seed)
        await asyncio.sleep(self._random.uniform(0, 3))
        begun = time.monotonic()
        status, said = await ask(self.url, f"/join/{self.code}/enter", {}, visitor=token_hex(16))
        if status != 200:
            self.heard.trouble[f"enter {status}"] += 1
            return
        self.heard.entered.append(time.monotonic() - begun)
        self.number = said["phone"]
        answering: set[asyncio.Task[None]] = set()
        while not await self._listen(answering):
            self.heard.trouble["broken stream"] += 1
            await asyncio.sleep(0.5)
        await asyncio.gather(*answering)

    async def _listen(self, answering: set[asyncio.Task[None]]) -> bool:
        """Hear what becomes of the room; whether it is over."""
        place = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(f"GET /join/{self.code}/events HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
            while line := await asyncio.wait_for(reader.readline(), PATIENCE_S):
                if not line.startswith(b"data: "):
                    continue
                room = json.loads(line[6:])
                if room.get("gone") or room["over"]:
                    return True
                if room["version"] in self.acted:
                    self.heard.told.append(time.monotonic() - self.acted[room["version"]])
                asked = room["place"], room["vote"]
                if room["stage"] == "ask" and room.get("question", {}).get("answers") and asked not in self.answered:
                    self.answered.add(asked)
                    answering.add(asyncio.create_task(self._answer(room)))
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()
        return False

    async def _answer(self, room: dict[str, Any]) -> None:
        """Answer within the time to think; once more where the server did not say that it has it."""
        await asyncio.sleep(self._random.uniform(0, self.think))
        answer = self._random.randrange(len(room["question"]["answers"]))
        said = {"phone": self.number, "question": room["place"], "vote": room["vote"], "answer": answer}
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE_S:
            with suppress(OSError, TimeoutError, IndexError):
                status, _ = await ask(self.url, f"/join/{self.code}/answer", said)
                if status == 200:
                    self.heard.confirmed.append(time.monotonic() - begun)
                    self.heard.given[room["place"], room["vote"], str(answer)] += 1
                    return
                self.heard.trouble[f"answer {status}"] += 1
                if status < 500 and status != 429:
                    return
            await asyncio.sleep(0.3)
        self.heard.trouble["not answered"] += 1
