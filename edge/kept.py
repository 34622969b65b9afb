"""Answers that are the same for everybody, given from memory: the app's page, and the small files that it loads.

Streamlit looks for a file anew for each request, in threads that pages at work want as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edge.classes import FILES as CLASS_FILES
from edge.classes import JOIN, LEAD
from edge.streamlit_files import FILES

LARGEST = 1 << 16  # bytes of one: as many as are handed on at a time, so that a slow reader makes nobody hold it twice
MOST_BYTES = 1 << 24  # of all
_PAGE = re.compile(r"/([a-z_]*)")
_STATIC = re.compile(r"/static/[\w./-]+")
_OTHERS = (JOIN, LEAD, CLASS_FILES, *FILES)  # what is called as a page could be, and is none
_FOR_EVER = "immutable"  # of a file under whose name there will never be another one; where there is none, a page is

_Key = tuple[str, bool]  # of the file, "" for the page; and whether the browser takes it compressed


@dataclass
class _Answer:
    start: Message
    body: bytes = b""


class Kept:
    """The answers of an app that are kept, each as it was first given. Only for the thread of the server's event loop.

    base: the path below which the app is served. Of several who ask for the same at first, one answer is noted.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app, self._base = app, f"/{base.strip('/')}".rstrip("/")
        self._answers: dict[_Key, _Answer] = {}
        self._noting: set[_Key] = set()
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = self._name(scope)
        answer = self._answers.get(key) if key else None
        if answer is not None:
            await send(answer.start)
            await send({"type": "http.response.body", "body": answer.body})
        elif key is None or key in self._noting:
            await self._app(scope, receive, send)
        else:
            self._noting.add(key)
            try:
                await self._app(scope, receive, self._note(key, send))
            finally:
                self._noting.discard(key)

    def _name(self, scope: Scope) -> _Key | None:
        """What is asked for, if it is the same for everybody."""
        path = scope["path"].removeprefix(self._base) if scope["path"].startswith(f"{self._base}/") else ""
        page = _PAGE.fullmatch(path)
        if scope["method"] != "GET" or (not _STATIC.fullmatch(path) if page is None else page[1] in _OTHERS):
            return None
        return ("" if page else path), "gzip" in Headers(scope=scope).get("accept-encoding", "")

    def _note(self, key: _Key, send: Send) -> Send:
        """What sends an answer, and keeps it where it is whole, small, and the same the next time."""
        noted: _Answer | None = None

        async def send_noted(message: Message) -> None:
            nonlocal noted
            if message["type"] == "http.response.start":
                noted = _Answer(message) if self._may_keep(key, message) else None
            elif noted is not None:
                noted.body += message.get("body", b"")
                if len(noted.body) > LARGEST or self._bytes + len(noted.body) > MOST_BYTES:
                    noted = None
                elif not message.get("more_body"):
                    self._answers[key], self._bytes = noted, self._bytes + len(noted.body)
            await send(message)

        return send_noted

    def _may_keep(self, key: _Key, start: Message) -> bool:
        told = Headers(raw=start["headers"])
        return (
            start["status"] == 200
            and "set-cookie" not in told
            and int(told.get("content-length", "0")) <= LARGEST
            and (not key[0] or _FOR_EVER in told.get("cache-control", ""))
        )
