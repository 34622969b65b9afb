"""What the server says before Streamlit does: headers and cookies on every answer, and what is refused.

It wraps the app of both servers, `streamlit run` and the processes of `python -m deploy`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edge.headers import CLOSED_TEXT, Frames, list_headers, read_frames, write_cookie_rules
from edge.inside import bound_server, tell_if_gone
from edge.line import TOO_MUCH, Sockets, hear_wanted
from edge.streamlit_files import CLOSED, FILES

VISITOR = "bertviz_visitor"  # the cookie by which the requests of one browser are known to be of one
# Bytes of one message on a web socket from a browser. The longest that the app's own pages send was 86 KB: both
# sentences and those of a training full of Chinese characters by chance, in their fields and, compressed, in the URL.
LARGEST_MESSAGE = 1 << 18
_METHODS = ("GET", "HEAD", "OPTIONS")
_CLOSED = re.compile(rf"/({'|'.join(CLOSED)})(/|$)")
_FILES = re.compile(rf"/({'|'.join(FILES)})/")
_KNOWN = re.compile(rf"(^|;\s*){VISITOR}=([0-9a-f]{{32}})(;|$)")
_RULES = re.compile(r";\s*(samesite=\w*|secure|partitioned)(?=;|$)", re.IGNORECASE)
LOCAL = ("localhost", "127.0.0.1", "::1")


class Guard:
    """The app behind its edge, as an ASGI application. hosts: by which names alone it answers; empty: by any."""

    def __init__(self, app: ASGIApp, frames: Frames, hosts: Collection[str] = ()) -> None:
        self._app, self._frames, self._hosts, self._sockets = app, frames, hosts, Sockets()
        self._headers = [(name.lower().encode(), value.encode()) for name, value in list_headers(frames).items()]
        self._named = {name for name, _ in self._headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, self._dress(scope, send))
        elif scope["type"] == "websocket":
            await self._talk(scope, receive, send)
        else:
            bound_server(receive, LARGEST_MESSAGE)
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with a sentence where it is refused and also where the app fails."""
        begun = False

        async def note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        refused = self._refuse_name(scope) or refuse(scope)
        if refused:
            await refused(scope, receive, send)
            return
        try:
            await self._app(scope, receive, note)
        except Exception:
            if not begun:
                await PlainTextResponse("The server failed. Load the page again.\n", 500)(scope, receive, send)
            raise  # the server logs it

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a page have its web socket, if its visitor has not too many."""
        heard = Headers(scope=scope)
        with self._sockets.hold(read_visitor(heard)) as admitted:
            if admitted and is_own_page(heard) and not self._refuse_name(scope):
                said = tell_if_gone(send)
                await self._app(scope, hear_wanted(receive, said), said)
            else:
                await send({"type": "websocket.close", "code": TOO_MUCH})

    def _refuse_name(self, scope: Scope) -> Response | None:
        """The answer to who asks by a name that is not ours: a page elsewhere may have its own name lead here."""
        asked = Headers(scope=scope).get("host")
        if not self._hosts or asked is None or read_host(asked) in self._hosts:
            return None
        return PlainTextResponse(
            "This server answers this machine alone, at http://localhost. If you have given it another name, start it "
            "with --browser.serverAddress=NAME; for other machines, with --server.address=0.0.0.0.\n",
            421,
        )

    def _dress(self, scope: Scope, send: Send) -> Send:
        """What sends an answer with our headers, and cookies with our attributes."""
        heard = Headers(scope=scope)
        rules = write_cookie_rules(self._frames, is_encrypted(scope, heard))
        given = [(b"set-cookie", _write_visitor(rules))] if needs_visitor(scope, heard) else []

        async def send_dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = [
                    (name, _rewrite_cookie(value, rules) if name.lower() == b"set-cookie" else value)
                    for name, value in message["headers"]
                    if name.lower() not in self._named
                ]
                message = {**message, "headers": [*told, *given, *self._headers]}
            await send(message)

        return send_dressed


def list_middleware(hosts: Collection[str] = ()) -> list[Middleware]:
    """The edge, as `st.App` takes it. Ends the process where the operator's word about frames cannot be read.

    hosts: as `Guard` has them.
    """
    try:
        return [Middleware(Guard, frames=read_frames(), hosts=hosts)]
    except ValueError as error:
        raise SystemExit(str(error)) from error


def refuse(scope: Scope) -> Response | None:
    """The answer to a request that the app has no use for: an upload, anything with a body, an operator's question."""
    heard = Headers(scope=scope)
    if _CLOSED.search(scope["path"]):
        status, text = 404, CLOSED_TEXT
    elif scope["method"] not in _METHODS:
        status, text = 405, f"The app answers {', '.join(_METHODS)}; it was asked to {scope['method']}."
    elif "transfer-encoding" in heard or heard.get("content-length", "0") != "0":
        status, text = 413, "The app takes requests without a body; this one has one."
    else:
        return None
    refused = PlainTextResponse(f"{text}\n", status, {"Connection": "close"})  # nobody reads what may still come
    if status == 405:
        refused.headers["Allow"] = ", ".join(_METHODS)
    return refused


def is_own_page(heard: Headers) -> bool:
    """Whether a web socket was asked for by a page of this server, or by no browser.

    Streamlit lets in pages of any server of this machine; of others it first asks a server elsewhere for this machine's
    address, and answers nobody meanwhile. Pages of `server.corsAllowedOrigins` are left to it.
    """
    origin = heard.get("origin")
    if origin is None:
        return True
    try:
        own = urlsplit(origin)
    except ValueError:  # no address at all
        return False
    return own.netloc == heard.get("host") or origin in st.get_option("server.corsAllowedOrigins")


def list_hosts() -> frozenset[str]:
    """The names by which a server that is for this machine alone answers; none where it is for others too."""
    if st.get_option("server.address") not in LOCAL:
        return frozenset()
    origins = (read_host(urlsplit(each).netloc) for each in st.get_option("server.corsAllowedOrigins"))
    return frozenset({*LOCAL, *filter(None, (st.get_option("browser.serverAddress"), *origins))})


def read_host(host: str) -> str | None:
    """The name in a Host header, without the port; None where that cannot be read."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def is_encrypted(scope: Scope, heard: Headers) -> bool:
    """Whether a visitor's connection is, as the server or what stands in front of it says."""
    told = heard.get("x-forwarded-proto", "").split(",")[0].strip().lower()
    return (told or scope["scheme"]) in ("https", "wss")


def read_visitor(heard: Headers) -> str:
    """The visitor's name, of the form that we give; "" without one."""
    found = next(filter(None, map(_KNOWN.search, heard.getlist("cookie"))), None)
    return found[2] if found else ""


def needs_visitor(scope: Scope, heard: Headers) -> bool:
    """Whether a page is asked for by somebody who has no cookie of their own, of the form that we give."""
    page = scope["method"] == "GET" and not _FILES.search(scope["path"])
    return page and not read_visitor(heard)


def _write_visitor(rules: str) -> bytes:
    """A new cookie, which nobody can guess."""
    return f"{VISITOR}={secrets.token_hex(16)}; Path=/; HttpOnly; {rules}".encode()


def _rewrite_cookie(value: bytes, rules: str) -> bytes:
    """Another's cookie with our attributes for where it is sent."""
    return f"{_RULES.sub('', value.decode('latin-1'))}; {rules}".encode("latin-1")
