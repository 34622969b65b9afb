"""A class that costs next to nothing to serve: `python benchmarks/elsewhere.py PORT`.

It answers phones and who leads as the app does (benchmarks/phones.py), without a store, a database or any check. Phones
that are in this class take of the machine what they themselves take: what visitors of the app wait for beside them is
not the app's doing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import Popen
from typing import Any

from served import ROOT, find_port, listens

sys.path.insert(0, str(ROOT))

from rooms.course import begin, go
from rooms.plan import Plan, read_plan
from rooms.state import tell_phones
from rooms.store import Room

CODE = "FREE"
_HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


class Elsewhere:
    """One room in memory, and who listens to it."""

    def __init__(self, plan: Plan) -> None:
        self._room = Room(CODE, plan, begin(len(plan.questions)), 1, time.time() + 3600)
        self._listeners: set[asyncio.StreamWriter] = set()
        self._phones = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, with one request."""
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            path, _, length = head.split()[1], *head.partition("content-length: ")[1:]
            said = json.loads(await reader.readexactly(int(length.split()[0]))) if length else {}
            if path.endswith("/events"):
                await self._listen(reader, writer)
            else:
                writer.write(_HEAD + b"\r\n" + json.dumps(self._answer(path, said)).encode())
                await writer.drain()
        writer.close()

    def _answer(self, path: str, said: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("/enter"):
            self._phones += 1
            return {"phone": f"{self._phones:022d}"}
        if path.endswith("/act"):
            now = self._room
            self._room = Room(CODE, now.plan, go(now.course, said["do"]), now.version + 1, now.ends)
            for each in self._listeners:
                each.write(self._write_event())
        return {"kept": str(said.get("answer")), "version": self._room.version}

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD + b"Content-Type: text/event-stream\r\n\r\n" + self._write_event())
        self._listeners.add(writer)
        try:
            await reader.read()  # until the phone leaves
        finally:
            self._listeners.discard(writer)

    def _write_event(self) -> bytes:
        return b"data: " + json.dumps(tell_phones(self._room)).encode() + b"\n\n"


@contextmanager
def serving_elsewhere(plan: Plan) -> Iterator[str]:
    """Its address, while it runs in a process of its own."""
    port = find_port()
    process = Popen([sys.executable, __file__, str(port), plan.write()])
    try:
        while not listens(port):
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


async def main() -> None:
    server = await asyncio.start_server(Elsewhere(read_plan(sys.argv[2])).serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
