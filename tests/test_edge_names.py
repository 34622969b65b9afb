"""By which names a server answers, and to pages of which names."""

from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.datastructures import Headers
from websockets.exceptions import InvalidStatus

from edge.guard import LOCAL, is_own_page, list_hosts
from tests.edge import ask, open_line


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("http://localhost:8501", True), ("https://localhost:8501", True), ("http://localhost:3000", False),
        ("http://127.0.0.1:8501", False), ("http://elsewhere.example:8501", False), ("null", False), (None, True),
    ],
)  # fmt: skip
def test_a_socket_is_for_pages_of_the_same_name_and_port(origin, own):
    told = {} if origin is None else {"origin": origin}
    assert is_own_page(Headers({**told, "host": "localhost:8501"})) == own


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
    told = {"server.address": "0.0.0.0", "browser.serverAddress": "bert.example",
            "server.corsAllowedOrigins": ["https://course.example:444"]}  # fmt: skip
    monkeypatch.setattr(st, "get_option", told.get)
    assert list_hosts() == frozenset()
    told["server.address"] = "localhost"
    assert list_hosts() == {*LOCAL, "bert.example", "course.example"}


@pytest.mark.parametrize("origin", ["http://[::1", "http://", "nonsense"])
def test_an_origin_that_is_no_address_is_refused(origin):
    assert not is_own_page(Headers({"origin": origin, "host": "localhost"}))
