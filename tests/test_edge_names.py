"""By which names a server answers, and to pages of which names."""

from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.datastructures import Headers
from websockets.exceptions import InvalidStatus

from edge.guard import LOCAL, Guard, find_origin, list_hosts
from edge.headers import Frames
from tests.edge import ask, open_line
from tests.loops import run_alone


def finds(origin, host, encrypted=False):
    """Whether a socket is opened for a page of this origin."""
    return find_origin(Headers({"origin": origin, "host": host}), encrypted) is not None


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8501", "localhost:8501"), ("https://localhost:8501", "localhost:8501"),
        ("http://bert.example", "bert.example:80"), ("https://bert.example", "bert.example:443"),
        ("https://bert.example:443", "bert.example"), ("HTTP://Bert.Example", "bert.EXAMPLE"),
        ("http://[::1]:8501", "[::1]:8501"), ("http://[FE80::1]", "[fe80::1]:80"),
    ],
)  # fmt: skip
def test_a_socket_is_for_pages_of_the_same_name_and_port(origin, host):
    assert finds(origin, host)
    assert find_origin(Headers({"origin": origin, "host": host}), False).endswith(f"://{host}")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:3000", "localhost:8501"), ("http://127.0.0.1:8501", "localhost:8501"),
        ("http://elsewhere.example:8501", "localhost:8501"), ("null", "localhost"), ("", "localhost"),
        ("http://bert.example", "bert.example:443"), ("https://bert.example", "bert.example:80"),
        ("http://bert.example:99999", "bert.example:99999"), ("http://bert.example:", "bert.example"),
        ("http://bert.example:80x", "bert.example"), ("ftp://bert.example", "bert.example"),
        ("file://", ""), ("http://", ""), ("http://a@bert.example", "a@bert.example"),
        ("http://bert.example/", "bert.example/"), ("http://bert.example?x", "bert.example?x"),
        ("http://bert.example.", "bert.example"), ("http://::1", "::1"), ("http://[::1", "[::1"),
        ("http://bert.example, http://elsewhere.example", "bert.example"), ("nonsense", "localhost"),
        ("http://bert.example\x85", "bert.example\x85"),
    ],
)  # fmt: skip
def test_a_page_of_any_other_place_and_what_is_no_place_are_refused(origin, host):
    assert not finds(origin, host)


def test_over_tls_only_a_page_that_came_over_tls_has_a_socket():
    assert finds("https://bert.example", "bert.example", encrypted=True)
    assert not finds("http://bert.example", "bert.example", encrypted=True)


def test_who_names_two_places_is_refused_and_no_browser_needs_to_name_one():
    twice = [(b"origin", b"http://a.example"), (b"origin", b"http://b.example"), (b"host", b"a.example")]
    assert find_origin(Headers(raw=twice), False) is None
    hosts = [(b"origin", b"http://a.example"), (b"host", b"a.example"), (b"host", b"b.example")]
    assert find_origin(Headers(raw=hosts), False) is None
    assert find_origin(Headers({"origin": "http://a.example", "x-forwarded-host": "a.example"}), False) is None
    assert find_origin(Headers({"host": "a.example"}), False) == ""


def test_the_app_is_told_of_the_origin_in_the_words_of_the_host():
    """It compares them letter by letter, and of another one it asks a server elsewhere who this machine is."""
    told = []

    async def note(scope, receive, send):
        told.extend(scope["headers"])

    heard = [(b"origin", b"https://bert.example"), (b"host", b"Bert.example:443")]
    run_alone(Guard(note, Frames())({"type": "websocket", "scheme": "ws", "headers": heard}, None, None))
    assert sorted(told) == [(b"host", b"Bert.example:443"), (b"origin", b"https://Bert.example:443")]


def test_a_server_for_this_machine_answers_by_its_own_names_alone(server):
    port = urlsplit(server).port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", "localhost", f"[::1]:{port}"):
        assert ask(server, "/", Host=host)[0] == 200
    for host in (f"elsewhere.example:{port}", "127.0.0.1.elsewhere.example", "[", ""):
        status, _, said = ask(server, "/", Host=host)
        assert status == 421 and said.startswith("This server answers this machine alone"), host
    with pytest.raises(InvalidStatus):
        open_line(server, Host=f"elsewhere.example:{port}", Origin=f"http://elsewhere.example:{port}")


def test_a_server_for_others_answers_by_any_name_and_one_for_this_machine_also_by_the_one_it_was_given(monkeypatch):
    told = {
        "server.address": "0.0.0.0",
        "browser.serverAddress": "bert.example",
        "server.corsAllowedOrigins": ["https://course.example:444"],
    }
    monkeypatch.setattr(st, "get_option", told.get)
    assert list_hosts() == frozenset()
    told["server.address"] = "localhost"
    assert list_hosts() == {*LOCAL, "bert.example", "course.example"}
