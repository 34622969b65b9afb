"""What the server says before Streamlit does: headers and cookies on every answer, and what is refused.

It wraps the app of both servers, `streamlit run` and the processes of `python -m deploy`.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edge.classes import FILES as CLASS_FILES
from edge.classes import JOIN, LARGEST_SAID, LEAD, SAID
from edge.connections import accept_few, bound_server
from edge.headers import CLOSED_TEXT, Frames, list_headers, read_frames, write_cookie_rules
from edge.inside import tell_if_gone
from edge.kept import Kept
from edge.line import TOO_MUCH, Sockets, hear_wanted
from edge.pace import Pace
from edge.streamlit_files import CLOSED, FILES
from edge.turns import Turns

VISITOR = "bertviz_visitor"  # the cookie by which the requests of one browser are known to be of one
# Bytes of one message on a web socket from a browser. The longest that the app's own pages send was 86 KB: both
# sentences and those of a training full of Chinese characters by chance, in their fields and, compressed, in the URL.
LARGEST_MESSAGE = 1 << 18
METHODS = ("GET", "HEAD", "OPTIONS")  # that are let through, beside POST where something is sent
_CLOSED = re.compile(rf"/({'|'.join(CLOSED)})(/|$)")
_FILES = re.compile(rf"/({'|'.join(FILES)})/")
_PAGE = re.compile("[a-z_]+")
_KNOWN = re.compile(rf"(^|;\s*){VISITOR}=([0-9a-f]{{32}})(;|$)")
_UNHEARD = (b"range", b"if-range")  # parts of a file, any number of them in one answer: no page of ours asks for any
_PART = 1 << 16  # bytes of an answer that are handed on at a time: the server keeps no more for who reads slowly
_RULES = re.compile(r";\s*(samesite=\w*|secure|partitioned)(?=;|$)", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_PLACE = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?")
LOCAL = ("localhost", "127.0.0.1", "::1")


class Guard:
    """The app behind its edge, as an ASGI application. hosts: by which names alone it answers; empty: by any."""

    def __init__(self, app: ASGIApp, frames: Frames, hosts: Collection[str] = ()) -> None:
        self._app, self._frames, self._hosts, self._sockets = app, frames, hosts, Sockets()
        self._kept, self._pace = Kept(app, st.get_option("server.baseUrlPath")), Pace()
        self._sessions = Turns()
        self._headers = [(name.lower().encode(), value.encode()) for name, value in list_headers(frames).items()]
        self._named = {name for name, _ in self._headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, self._dress(scope, send))
        elif scope["type"] == "websocket":
            await self._talk(scope, receive, send)
        else:
            bound_server(receive, LARGEST_MESSAGE, list_headers(self._frames))
            accept_few(asyncio.get_running_loop())
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with a sentence where it is refused and also where the app fails."""
        begun = False

        async def note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        in_time = await self._pace.keep(find_client(scope))
        refused = None if in_time else _refuse_more()
        refused = refused or self._refuse_name(scope) or refuse(scope) or lead_back(scope)
        if refused:
            await refused(scope, receive, send)
            return
        try:
            await self._kept(_leave_out(scope, _UNHEARD), receive, note)
        except Exception:
            if not begun:
                await PlainTextResponse("The server failed. Load the page again.\n", 500)(scope, receive, send)
            raise  # the server logs it

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a page have its web socket, if its visitor has not too many."""
        heard = Headers(scope=scope)
        origin = find_origin(heard, is_encrypted(scope, heard))
        visitor, address = read_visitor(heard), find_client(scope)
        with self._sockets.hold(visitor) as held:
            said = tell_if_gone(send)
            admitted = held and await self._may_begin(address, visitor)
            if admitted and origin is not None and not self._refuse_name(scope):
                told = [(b"origin", origin.encode("latin-1"))] if origin else []
                scope = _leave_out(scope, (b"origin",))
                scope = {**scope, "headers": [*scope["headers"], *told]}
                with self._sessions.note_end(address):
                    await self._app(scope, hear_wanted(receive, said), said)
            else:
                if not held:
                    await self._sockets.keep_waiting()
                with suppress(OSError):  # gone meanwhile
                    await said({"type": "websocket.close", "code": TOO_MUCH})

    async def _may_begin(self, address: str, visitor: str) -> bool:
        """Wait until one more session of a visitor may begin; False where that is too long, or the server ends."""
        try:
            return await self._sessions.keep(address, visitor)
        except asyncio.CancelledError:  # uvicorn would log it as a mistake of the app
            return False

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
                    if name.lower() not in (*self._named, b"accept-ranges")
                ]
                message = {**message, "headers": [*told, *given, *self._headers]}
            await send_in_parts(message, send)

        return send_dressed


def find_client(scope: Scope) -> str:
    """Where a request comes from; "" where nobody says."""
    return (scope.get("client") or ("",))[0]


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
    elif SAID.search(scope["path"]) and scope["method"] == "POST":
        length = heard.get("content-length", "")
        if is_from_elsewhere(heard, is_encrypted(scope, heard)):
            return PlainTextResponse("A class hears its own pages alone.\n", 403, {"Connection": "close"})
        if "transfer-encoding" not in heard and length.isascii() and length.isdigit() and int(length) <= LARGEST_SAID:
            return None
        status, text = 413, f"What is sent here has at most {LARGEST_SAID} bytes, and says how many."
    elif scope["method"] not in METHODS:
        status, text = 405, f"The app answers {', '.join(METHODS)}; it was asked to {scope['method']}."
    elif "transfer-encoding" in heard or heard.get("content-length", "0") != "0":
        status, text = 413, "The app takes requests without a body; this one has one."
    else:
        return None
    refused = PlainTextResponse(f"{text}\n", status, {"Connection": "close"})  # nobody reads what may still come
    if status == 405:
        refused.headers["Allow"] = ", ".join(METHODS)
    return refused


def _refuse_more() -> Response:
    text = "Too many requests come from your address. Load the page again in a few seconds.\n"
    return PlainTextResponse(text, 429, {"Connection": "close", "Retry-After": "5"})


def lead_back(scope: Scope) -> Response | None:
    """The way from an address below a page to that page: there Streamlit's own page looks in vain for its scripts.

    The way is a relative one, as whoever stands in front may serve the app below a path of theirs.
    """
    path, base = scope["path"], st.get_option("server.baseUrlPath").strip("/")
    page, *below = path.removeprefix(f"/{base}/" if base else "/").split("/")
    if not any(below) or not _PAGE.fullmatch(page) or _FILES.search(path) or page in (JOIN, LEAD, CLASS_FILES):
        return None
    asked = scope["query_string"].decode("latin-1")
    return RedirectResponse("../" * len(below) + page + (f"?{asked}" if asked else ""))


async def send_in_parts(message: Message, send: Send) -> None:
    """Send what may be a large file so that no more than a part of it waits for who reads it."""
    body = message.get("body", b"")
    for start in range(_PART, len(body), _PART):
        await send({**message, "body": body[start - _PART : start], "more_body": True})
    last = (len(body) - 1) // _PART * _PART
    await send({**message, "body": body[last:]} if last > 0 else message)


def _leave_out(scope: Scope, names: Collection[bytes]) -> Scope:
    """A request without headers of these names, in small letters."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name.lower() not in names]}


def find_origin(heard: Headers, encrypted: bool) -> str | None:
    """Where the page is from that asks for a web socket, in the words of its Host header; "" where no browser asks.

    None where it is not a page of this server: of the same name and port, and over TLS where this connection is.
    Streamlit lets in pages of any server of this machine; of others it first asks a server elsewhere for this machine's
    address, and answers nobody meanwhile. It compares letter by letter, and so is told the same words. Pages of
    `server.corsAllowedOrigins` are left to it.
    """
    origins, hosts = heard.getlist("origin"), heard.getlist("host")
    if not origins:
        return ""
    if len(origins) > 1 or len(hosts) != 1:  # one of them is somebody's who would be taken for another
        return None
    if origins[0] in st.get_option("server.corsAllowedOrigins"):
        return origins[0]
    scheme, _, place = origins[0].partition("://")
    scheme = scheme.lower()
    if scheme not in _PORTS or (encrypted and scheme != "https"):
        return None
    asked = read_place(place, scheme)
    return f"{scheme}://{hosts[0]}" if asked is not None and asked == read_place(hosts[0], scheme) else None


def is_from_elsewhere(heard: Headers, encrypted: bool) -> bool:
    """Whether it is another site's page that has a browser send something, as the browser says.

    Browsers of a few years ago say of a page that keeps its address to itself, as ours do, that it is from "null".
    """
    if heard.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    return heard.getlist("origin") != ["null"] and find_origin(heard, encrypted) is None


def read_place(place: str, scheme: str) -> tuple[str, int] | None:
    """The name and the port of `name:port`; without one it is the scheme's. None where it is anything else."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    port = int(found["port"] or _PORTS[scheme])
    return (found["name"].lower(), port) if port < 1 << 16 else None


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
