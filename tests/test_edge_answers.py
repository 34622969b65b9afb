"""How answers go out: whole, in parts that wait for who reads them, and not for long."""

import asyncio
import logging

import pytest
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from edge import connections, guard
from edge.headers import Frames, list_headers
from tests.edge import ask
from tests.loops import run_alone
from tests.test_edge import SCRIPT


def test_a_file_is_given_whole_however_many_parts_of_it_are_asked_for(server):
    path = f"/static/js/{SCRIPT}"
    whole = ask(server, path)
    for parts in ("0-0,2-2,4-4", "0-", "-5", "5-1", "x", ",".join(f"{i}-{i}" for i in range(0, 180, 2))):
        status, headers, text = ask(server, path, Range=f"bytes={parts}", If_Range=whole[1]["ETag"] or "x")
        assert (status, headers["Content-Type"], text) == (200, whole[1]["Content-Type"], whole[2])
        assert "Accept-Ranges" not in headers
    assert ask(server, "/media/none.csv", Range="bytes=9-1")[0] == 404


@pytest.mark.parametrize("reads", [False, True])
def test_who_asks_and_does_not_read_the_answer_is_hung_up_on(monkeypatch, reads):
    monkeypatch.setattr(connections, "READ_S", 0.2)
    left = asyncio.Event()

    class Sender(asyncio.Protocol):
        """Sends 20 MB, as uvicorn does: on, wherever there is room."""

        cycle, paused, rest = object(), False, 200

        def connection_made(self, transport):
            self.transport = transport
            asyncio.get_running_loop().call_soon(self.go_on)

        def go_on(self):
            while self.rest and not self.paused:
                self.rest -= 1
                self.transport.write(bytes(100_000))
            if not self.rest:
                self.transport.close()

        def pause_writing(self):
            self.paused = True

        def resume_writing(self):
            self.paused = False
            self.go_on()

        def connection_lost(self, exc):
            left.set()

    async def take():
        service = await asyncio.get_running_loop().create_server(connections.hurry(Sender), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
        read = 0
        try:
            if not reads:
                await asyncio.wait_for(left.wait(), 20)
            while part := await reader.read(1_000_000):
                read += len(part)
        except ConnectionResetError:
            pass
        finally:
            writer.close()
            service.close()
        return read

    assert (run_alone(take()) == 20_000_000) == reads


def test_a_large_answer_is_handed_on_in_parts():
    sent = []

    async def keep(message):
        sent.append(message)

    content = bytes(range(256)) * 1000
    for body, more in ((content, False), (content[: 1 << 16], False), (content[: 2 << 16], True), (b"", False)):
        sent.clear()
        run_alone(guard.send_in_parts({"type": "http.response.body", "body": body, "more_body": more}, keep))
        assert b"".join(message["body"] for message in sent) == body
        assert max(len(message["body"]) for message in sent) <= 1 << 16
        assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [more]
    sent.clear()
    run_alone(guard.send_in_parts({"type": "http.response.start", "status": 204}, keep))
    assert sent == [{"type": "http.response.start", "status": 204}]


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
NO_HTTP = {  # what comes, before and behind what is no HTTP, and which answers it has
    "at once": ([b"\x16\x03\x01\r\n\r\n"], [400]),
    "without a name of the server": ([b"GET / HTTP/1.1\r\n\r\n"], [400]),
    "after an answer": ([b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\r\n\r\n"], [204, 400]),
    "for a body that is waited for": ([HEAD, b"none\r\n"], [400]),
    "for the rest of one that is passed over": ([HEAD.replace(b"POST /", b"POST /begun"), b"none\r\n"], [200]),
}


@pytest.mark.parametrize(("parts", "statuses"), NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_http_is_refused_with_the_headers_of_every_answer(parts, statuses, caplog):
    told, said = list_headers(Frames()), run_alone(say_in_parts(parts))
    answers = said.split(b"HTTP/1.1 ")[1:]
    assert [int(each[:3]) for each in answers] == statuses, said
    if 400 in statuses:
        lines = answers[-1].decode().partition("\r\n\r\n")[0].splitlines()
        assert {f"{name}: {value}" for name, value in told.items()} <= set(lines)
        assert answers[-1].endswith(b"\r\n\r\nInvalid HTTP request received.\n")
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR], caplog.text


async def say_in_parts(parts):
    """What uvicorn answers to parts of a request that come one after the other, on a connection of ours."""

    async def serve(scope, receive, send):
        begun = scope["path"] == "/begun"
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        while (await receive()).get("more_body"):
            pass
        if not begun:
            await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b"ab" if begun else b""})

    config, hurried = Config(serve, log_config=None), connections.hurry(H11Protocol, list_headers(Frames()))
    service = await asyncio.get_running_loop().create_server(lambda: hurried(config, ServerState(), {}), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
    try:
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.05)
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        service.close()


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ({}, True),  # no browser
        ({"origin": "http://bert.test:8501"}, True),
        ({"origin": "http://bert.test:8501", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "null"}, True),  # a browser of some years ago, of our own page
        ({"origin": "https://bert.test:8501"}, True),  # what stands in front does not say that it is over TLS
        ({"origin": "null", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "http://elsewhere.test"}, False),
        ({"origin": "http://bert.test"}, False),
        ({"origin": "http://bert.test:8501", "sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
    ],
)
@pytest.mark.parametrize("path", ["/join/AB23/enter", "/join/AB23/answer", "/lead/AB23/act"])
def test_a_page_of_another_site_sends_nothing_to_a_class(path, said, heard):
    """Its visitor's browser would come in as one more phone, as often as that page has it ask."""
    told = {"host": "bert.test:8501", "content-length": "2", **said}
    headers = [(name.encode(), value.encode()) for name, value in told.items()]
    refused = guard.refuse({"type": "http", "method": "POST", "scheme": "http", "path": path, "headers": headers})
    assert (refused and refused.status_code) == (None if heard else 403)


def test_a_body_whose_length_is_told_twice_is_not_read():
    """By its size and by its parts: what stands in front may have read the other one."""
    said = {"type": "http", "method": "POST", "scheme": "http", "path": "/join/AB23/answer"}
    said["headers"] = [(b"content-length", b"5")]
    assert guard.refuse(said) is None
    twice = guard.refuse({**said, "headers": [*said["headers"], (b"transfer-encoding", b"chunked")]})
    assert twice is not None and twice.status_code == 413


@pytest.mark.parametrize(
    ("path", "leads"),
    [
        ("/attention/attention", "../attention"),
        ("/attention/a/b/?text=a%20b&layer=2", "../../../attention?text=a%20b&layer=2"),
        ("/javascript:alert(1)/x", None),
        ("//elsewhere.test/..", None),
        ("/attention/", None),
        ("/attention", None),
        ("/", None),
        ("/attention/static/js/none.js", None),
    ],
)
def test_below_a_page_there_is_nothing_but_the_way_back_to_it(path, leads):
    place, _, query = path.partition("?")
    found = guard.lead_back({"type": "http", "path": place, "query_string": query.encode()})
    assert (found and found.headers["location"]) == leads


@pytest.mark.rare
def test_an_address_below_a_page_opens_that_page(app):
    app.page.goto(f"{app.url}/layers/layers/?layer=3")
    app.settle()
    assert app.title == "Layers" and app.query["layer"] == "3"
