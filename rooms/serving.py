"""The routes of a class, beside the app in the same process: a page for phones, one for the projector, what they ask.

Phones need no session of the app and load no more than these few files. Every answer to them is one small message.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qs

import segno
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.responses import StreamingResponse as Stream
from starlette.routing import BaseRoute, Route

from edge.classes import FILES, JOIN, LARGEST_SAID, LEAD, LINK
from edge.guard import LOCAL, METHODS, find_origin, is_encrypted, read_visitor
from edge.pace import Pace, name_network
from rooms.codes import SECRET, is_code
from rooms.course import go
from rooms.errors import RefusedError, StoreError
from rooms.files import Files
from rooms.follow import Follower
from rooms.opening import open_rooms
from rooms.reach import find_address
from rooms.state import tell_lead, tell_phones
from rooms.store import NO_ROOM, Room, Rooms, Votes
from rooms.tally import write_table

LOG = logging.getLogger(__name__)
_NEVER = {"Cache-Control": "no-store"}
_LONGEST_ADDRESS = 200
_SAID_S = 10.0  # for the rest of what is sent, some hundred bytes
_CALL_S = 7.0  # for the database; a phone waits for eight seconds
_CODES_A_SECOND, _CODES_AT_ONCE = 0.5, 10  # that are drawn for one room at one address: each takes 30 ms
_TRIED_A_SECOND, _TRIED_AT_ONCE = 1.0, 40  # codes that are new at an address: a class shares one
_KNOWN = 2_000  # codes, each with an address where it was right, that are remembered
_ANSWERS_A_SECOND, _ANSWERS_AT_ONCE = 1.0, 15  # of one phone
_ENTRIES_A_SECOND, _ENTRIES_AT_ONCE = 1 / 60, 3  # of one browser, which is one phone and keeps its number
_CAME_A_SECOND, _CAME_AT_ONCE = 2.0, 300  # phones in a room, of one address: a large class at once, not made-up ones
_BASE = re.compile(r"https?://[^\s\"'<>#?]+/")

Handler = Callable[[Request], Awaitable[Response]]
Life = Callable[[Any], AbstractAsyncContextManager[None]]  # of an app: begun as it starts, ended as it ends


class Serving:
    """What answers a class in a process. make: opens the store, when it is first asked for; alone: whether the server
    is for this machine alone, so that no phone reaches it; clock: seconds, by which too many requests are known.
    """

    def __init__(
        self,
        make: Callable[[], Rooms] = open_rooms,
        alone: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make, self._alone = make, alone
        self._rooms: Rooms | None = None
        self._thread = ThreadPoolExecutor(1, "rooms")  # the database has one connection
        self._follower = Follower(self._call)
        self._tried = Pace(clock, per_second=_TRIED_A_SECOND, burst=_TRIED_AT_ONCE)
        self._known = OrderedDict[tuple[str, str], None]()  # the codes that were right, by the address of who said so
        self._answers = Pace(clock, per_second=_ANSWERS_A_SECOND, burst=_ANSWERS_AT_ONCE)
        self._codes = Pace(clock, per_second=_CODES_A_SECOND, burst=_CODES_AT_ONCE)
        self._entries = Pace(clock, per_second=_ENTRIES_A_SECOND, burst=_ENTRIES_AT_ONCE)
        self._came = Pace(clock, per_second=_CAME_A_SECOND, burst=_CAME_AT_ONCE)

    def list_routes(self, base: str = "") -> list[BaseRoute]:
        """base: the path below which the app is served."""
        root = f"/{base.strip('/')}" if base.strip("/") else ""
        told: list[tuple[str, Handler, str]] = [
            (f"/{JOIN}/{{code}}/state", self._tell_phone, "GET"),
            (f"/{JOIN}/{{code}}/events", self._stream, "GET"),
            (f"/{JOIN}/{{code}}/enter", self._enter, "POST"),
            (f"/{JOIN}/{{code}}/answer", self._answer, "POST"),
            (f"/{LEAD}/{{code}}/state", self._tell_lead, "GET"),
            (f"/{LEAD}/{{code}}/table", self._write_table, "GET"),
            (f"/{LEAD}/{{code}}/code.svg", self._draw_code, "GET"),
            (f"/{LEAD}/{{code}}/act", self._act, "POST"),
        ]
        give = Files().give
        pages: list[tuple[str, Handler]] = [
            (f"/{JOIN}", _lead_on),
            (f"/{JOIN}/", partial(give, name="join.html")),
            (f"/{JOIN}/{LINK}", partial(give, name="go.html")),
            (f"/{JOIN}/{{code}}", partial(give, name="join.html")),
            (f"/{LEAD}/{{code}}", partial(give, name="lead.html")),
            (f"/{FILES}/{{name}}", give),
        ]
        return [
            *(Route(f"{root}{path}", self._guard(handler), methods=[method]) for path, handler, method in told),
            *(Route(f"{root}{path}", handler) for path, handler in pages),
            # What is left: else the app beside these routes would answer with its page.
            *(Route(f"{root}{path}", _refuse_method, methods=METHODS) for path, _, method in told if method == "POST"),
            *(Route(f"{root}/{page}/{{code}}/{{rest:path}}", _find_nothing) for page in (JOIN, LEAD)),
        ]

    def keep(self, lifespan: Life) -> Life:
        """The app's own beginning and end, with what goes on between: rooms whose time is over are taken out, also
        where nobody asks for any.
        """

        @asynccontextmanager
        async def live(app: Any) -> AsyncGenerator[None]:
            self._follower.begin()
            async with lifespan(app):
                yield

        return live

    def _guard(self, handler: Handler) -> Handler:
        """What is refused is told as a sentence; whoever tries one code after the other waits, and learns nothing of
        the next ones meanwhile.
        """

        async def answer(request: Request) -> Response:
            self._follower.begin()
            try:
                return await self._hear(handler, request)
            except RefusedError as error:
                return JSONResponse({"error": str(error)}, error.status, _NEVER)
            except StoreError as error:
                LOG.warning("The store of classes does not answer: %s.", error)
                return JSONResponse({"error": "The server cannot reach its classes just now. Try again."}, 503, _NEVER)

        return answer

    async def _hear(self, handler: Handler, request: Request) -> Response:
        """The answer to who says a code. A class that is held at an address goes on there, whoever tries codes beside
        it: its code is known there, from when whoever leads it has asked. Raises RefusedError, also where the code is
        that of no room.
        """
        code, client = request.path_params["code"], _name_client(request)
        said = name_network(client), code
        if said not in self._known and not await self._is_leader(request, code) and not await self._is_let(said):
            raise RefusedError("Too many codes were tried. Wait a minute.", 429)
        try:
            if not is_code(code):
                raise RefusedError(NO_ROOM, 404)
            answer = await handler(request)
        except RefusedError as error:
            self._remember(said, there=error.status != 404)
            raise
        self._remember(said, there=True)
        return answer

    async def _is_let(self, said: tuple[str, str]) -> bool:
        """Whether an address may try a code more, or knows it by the time that it would have to wait no longer."""
        return await self._tried.keep(said[0]) or said in self._known

    async def _is_leader(self, request: Request, code: str) -> bool:
        """Whether the secret of who leads this room comes with the request, which nobody finds by trying."""
        secret = _read_secret(request)
        if not secret or not is_code(code):
            return False
        try:
            await self._call(Rooms.look, code, secret)
        except RefusedError:
            return False
        return True

    def _remember(self, said: tuple[str, str], there: bool) -> None:
        """Which codes an address knows; there: whether there is such a room."""
        self._known.pop(said, None)
        if there:
            self._known[said] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    async def _call(self, method: Callable[..., Any], *given: object) -> Any:
        """A method of Rooms, in the thread that has the database; who waits too long is told so."""
        doing = asyncio.get_running_loop().run_in_executor(self._thread, partial(self._do, method, *given))
        try:
            return await asyncio.wait_for(doing, _CALL_S)  # what has not begun by then is left undone
        except TimeoutError as error:
            raise StoreError("it has not answered for long") from error

    def _do(self, method: Callable[..., Any], *given: object) -> Any:
        self._rooms = self._rooms or self._make()
        return method(self._rooms, *given)

    async def _tell_phone(self, request: Request) -> Response:
        return JSONResponse(tell_phones(await self._call(Rooms.read, request.path_params["code"])), headers=_NEVER)

    async def _stream(self, request: Request) -> Response:
        code = request.path_params["code"]
        await self._call(Rooms.read, code)
        told = {**_NEVER, "X-Accel-Buffering": "no"}  # what stands between passes each event on at once
        heard = self._follower.listen(code, name_network(_name_client(request)))
        return Stream(heard, media_type="text/event-stream", headers=told)

    async def _enter(self, request: Request) -> Response:
        # Whoever comes without the cookie that every page gives is one with all such of their address.
        code, client, visitor = request.path_params["code"], _name_client(request), read_visitor(request.headers)
        phone = await self._call(Rooms.find_phone, code, visitor)
        return JSONResponse({"phone": phone or await self._let_in(code, client, visitor)}, headers=_NEVER)

    async def _let_in(self, code: str, client: str, visitor: str) -> str:
        """A phone that is not in yet. Who is refused is not counted among those who came: they may come again."""
        address = name_network(client)
        if not self._entries.has_room(visitor or client):
            raise RefusedError("This browser has come in more than once. Wait a minute.", 429)
        if not await self._came.keep(_name_place(address, code)):  # a browser can say to be any number of them
            raise RefusedError("Many phones come in from your address. Try again in a minute.", 429)
        phone = await self._call(Rooms.enter, code, address, visitor)
        self._entries.count(visitor or client)
        return phone

    async def _answer(self, request: Request) -> Response:
        said = await _read_body(request)
        phone, at = said.get("phone"), (said.get("question"), said.get("vote"))
        if not (isinstance(phone, str) and SECRET.fullmatch(phone)) or not all(type(each) is int for each in at):
            raise RefusedError("That is no answer to this question.", 400)
        if not await self._answers.keep(phone):
            raise RefusedError("You answer too fast. Wait a moment.", 429)
        told = await self._call(Rooms.answer, request.path_params["code"], phone, at, said.get("answer"))
        return JSONResponse(dict(zip(("kept", "answered", "phones"), told, strict=True)), headers=_NEVER)

    async def _tell_lead(self, request: Request) -> Response:
        seen = await self._call(Rooms.look, request.path_params["code"], _read_secret(request))
        return self._show(request, *seen)

    async def _act(self, request: Request) -> Response:
        code, secret, said = request.path_params["code"], _read_secret(request), await _read_body(request)
        act, version, to = said.get("do"), said.get("version"), said.get("to", 0)
        if not isinstance(act, str) or not isinstance(version, int) or not isinstance(to, int):
            raise RefusedError("There is no such button.", 400)
        if act == "end":
            await self._call(Rooms.end, code, secret)
            await self._follower.refresh(code)
            return JSONResponse({"gone": True}, headers=_NEVER)
        seen = await self._call(Rooms.move, code, secret, version, lambda course: go(course, act, to))
        await self._follower.refresh(code)
        return self._show(request, *seen)

    def _show(self, request: Request, room: Room, phones: int, votes: Votes) -> Response:
        reach = find_address() if _is_at_machine(request) else ""
        told = {**tell_lead(room, phones, votes), "alone": self._alone, "reach": reach}
        return JSONResponse(told, headers=_NEVER)

    async def _write_table(self, request: Request) -> Response:
        room, _, votes = await self._call(Rooms.look, request.path_params["code"], _read_secret(request))
        return PlainTextResponse(write_table(room.plan, votes), media_type="text/csv", headers=_NEVER)

    async def _draw_code(self, request: Request) -> Response:
        """The address of a room as a code for cameras. at: below which address of this server the app is served."""
        base, code = parse_qs(request.url.query).get("at", [""])[0], request.path_params["code"]
        fits = len(base) <= _LONGEST_ADDRESS and _BASE.fullmatch(base) and is_code(code)
        if not (fits and _is_own(request, base)):
            return PlainTextResponse("There is no such code.\n", 404)
        await self._call(Rooms.read, code)
        if not await self._codes.keep(_name_place(name_network(_name_client(request)), code)):
            return PlainTextResponse("Too many codes were drawn. Wait a moment.\n", 429)
        drawn = await asyncio.to_thread(_draw_code, f"{base}{JOIN}/{code}")
        return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": "private, max-age=86400"})


def _read_secret(request: Request) -> str:
    """The secret of who leads a room, which no URL and no log holds; "" where there is none."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret if scheme.lower() == "bearer" and SECRET.fullmatch(secret) else ""


async def _read_body(request: Request) -> dict[str, Any]:
    """What a page says, as JSON. Who begins and does not end has a connection for a while only."""
    body = b""
    try:
        async with asyncio.timeout(_SAID_S):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_SAID:
                    raise RefusedError("That is too long.", 413)
    except TimeoutError as error:
        raise RefusedError("What was sent did not come whole. Send it again.", 408) from error
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RefusedError("That is no message of this page.", 400)
    return said


def _name_client(request: Request) -> str:
    return request.client.host if request.client else ""


def _name_place(address: str, code: str) -> str:
    """A room as it is seen from an address, by which what is asked of it there is counted apart from all others."""
    return f"{address} {code}"


def _is_at_machine(request: Request) -> bool:
    """Whether who asks sits at this machine, and has opened the app by a name that means another one on a phone."""
    return _name_client(request) in LOCAL and request.url.hostname in LOCAL


def _is_own(request: Request, base: str) -> bool:
    """Whether an address leads to this server: by the name and the port that it was asked by, or, at the machine
    itself, by the machine's address. A code that leads elsewhere would be anybody's, drawn by a site that people trust.
    """
    hosts = request.headers.getlist("host")
    if _is_at_machine(request) and (reach := find_address()):
        port = request.url.port
        hosts += [f"{reach}:{port}" if port else reach]
    scheme, _, place = base.partition("://")
    origin = f"{scheme}://{place.partition('/')[0]}"
    encrypted = is_encrypted(request.scope, request.headers)
    heard = (Headers({"origin": origin, "host": host}) for host in hosts)
    return any(find_origin(each, encrypted) is not None for each in heard)


async def _refuse_method(_: Request) -> Response:
    return JSONResponse({"error": "What is said here is sent by POST."}, 405, {**_NEVER, "Allow": "POST"})


async def _find_nothing(_: Request) -> Response:
    return PlainTextResponse("There is no such page of a class.\n", 404)


async def _lead_on(_: Request) -> Response:
    """To the page, by a way that holds also where the app is served below another path."""
    return RedirectResponse(f"{JOIN}/")


@lru_cache(256)
def _draw_code(address: str) -> bytes:
    out = io.BytesIO()
    segno.make(address, error="m").save(out, kind="svg", border=2, light="#fff", omitsize=True)
    return out.getvalue()
