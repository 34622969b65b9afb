"""What nginx says and refuses, before the replicas are asked and where none is there."""

import logging
import socket

import pytest

from deploy import proxy, replica
from deploy.proxy import HEALTH, PROXIES, read_proxies, render_config
from edge.headers import ANCESTORS
from edge.sizes import LONGEST_ADDRESS
from tests.edge import tells
from tests.nginx import Stub, ask, stub


def test_every_answer_has_the_headers_once_also_where_nginx_gives_it_by_itself(nginx):
    """Whatever the replicas say of it: on pages, files, refusals, and where no process is warm."""
    paths = (
        "/",
        "/attention?text=x",
        "/static/js/index.abc.js",
        "/static/js/index.old.js",
        HEALTH,
        "/_stcore/stream",
        "/media/0",
        "/media/2",
        "/_stcore/metrics",
        "/" + "x" * LONGEST_ADDRESS,
    )
    cold = {path: ask(nginx, path)[:2] for path in paths}
    with stub(nginx, 0), stub(nginx, 1):
        warm = {path: ask(nginx, path)[:2] for path in paths}
        large = ask(nginx, "/", "POST", b"x" * 2000)[:2]
    assert [status for status, _ in cold.values()] == [503, 503, 200, 404, 503, 503, 503, 503, 404, 414]
    assert [status for status, _ in warm.values()] == [200, 200, 200, 404, 200, 200, 200, 404, 404, 414]
    assert large[0] == 413
    assert [path for path, (_, headers) in [*cold.items(), *warm.items(), ("large", large)] if not tells(headers)] == []


def test_nginx_refuses_uploads_and_what_is_for_the_operator(nginx):
    with stub(nginx, 0):
        for path in (
            "upload_file/a/b",
            "upload_file/../upload_file/a/b",
            "metrics",
            "script-health-check",
            "agent/mcp",
        ):
            for method in ("GET", "PUT"):
                status, _, said = ask(nginx, f"/_stcore/{path}", method)
                assert status == 404 and said.startswith(b"The app takes no files")
        assert ask(nginx, "/_stcore/upload_file/a/b", "PUT", b"x" * 1025)[0] == 413


def test_a_page_of_another_site_shows_the_service_where_the_operator_says_so(place, monkeypatch):
    monkeypatch.setenv(ANCESTORS, "'self' https://course.example.org")
    config = render_config(place, 1)
    assert config.count("frame-ancestors 'self' https://course.example.org") >= 4
    assert 'https "SameSite=None; Secure; Partitioned"' in config and 'default "SameSite=Lax"' in config
    monkeypatch.delenv(ANCESTORS)
    assert 'https "SameSite=Lax; Secure"' in render_config(place, 1)
    monkeypatch.setenv(ANCESTORS, 'https://a.test"; add_header X y')
    with pytest.raises(ValueError, match="separated by spaces"):
        render_config(place, 1)


def test_nginx_writes_nothing_to_the_disk_and_gives_files_whole(nginx):
    """Not of a long answer that nobody reads, nor of a request's body; and no parts of a file, of which one may ask
    for any number."""
    with stub(nginx, 0):
        for path, long in (("/static/js/index.abc.js", 1), ("/media/0", 0)):
            whole, parts = ask(nginx, path), ask(nginx, path, Range=f"bytes={','.join(['0-', '1-2', '4-'] * 30)}")
            assert (whole[0], parts[0], parts[2]) == (200, 200, whole[2]) and len(whole[2]) > long
        assert ask(nginx, "/media/range", Range="bytes=0-0", If_Range="x")[2] == b"None None"
        with socket.create_connection((nginx.address, nginx.port)) as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.sendall(b"GET /media/long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert slow.recv(100).startswith(b"HTTP/1.1 200")
            assert Stub.taken.get(timeout=30) is False  # 40 MB: there is room for a part of it on the way


def test_a_process_logs_what_fails_and_not_who_comes_nor_what_they_ask(monkeypatch):
    said = {name: logging.getLogger(name) for name in ("uvicorn.access", "uvicorn.error")}
    heard: list[str] = []
    ear = logging.Handler()
    monkeypatch.setattr(ear, "emit", lambda record: heard.append(record.getMessage()))

    def come(*_, **__):
        for log in said.values():
            log.setLevel(logging.INFO)  # as Streamlit does when it starts
            log.info('192.0.2.1:0 - "WebSocket /_stcore/stream?text=My+secret" [accepted]')
        said["uvicorn.error"].error("It failed")

    monkeypatch.setattr(replica.uvicorn, "run", come)
    usual = {"disabled": False, "handlers": [ear], "propagate": False}
    for log in said.values():
        for name, value in {**usual, "filters": [], "level": log.level}.items():  # a list of its own
            monkeypatch.setattr(log, name, value)
    replica.serve("nowhere.sock")
    assert heard == ["It failed"]


def test_whose_request_it_is_no_visitor_says(nginx):
    """Who could would take another one's pace away, or all of them, or that of whoever asks how a process is."""
    with stub(nginx, 0):
        for said in ("203.0.113.7", ",", "", "127.0.0.1, 203.0.113.7", "[::1]:5, x"):
            assert ask(nginx, "/whose", X_Forwarded_For=said)[2] == b"['127.0.0.1']"


def test_who_stands_in_front_says_whose_request_it_is_where_the_operator_names_them(monkeypatch, request):
    """Otherwise all visitors are one address, which one of them can keep busy."""
    monkeypatch.setenv(PROXIES, "127.0.0.0/8, 10.0.0.0/8")
    place = request.getfixturevalue("nginx")
    with stub(place, 0):
        for said, whose in (
            ("203.0.113.7", "203.0.113.7"),
            ("198.51.100.1, 203.0.113.7", "203.0.113.7"),  # the first one is the visitor's own word
            ("198.51.100.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"),
            ("nonsense", "127.0.0.1"),
        ):
            assert ask(place, "/whose", X_Forwarded_For=said)[2] == f"['{whose}']".encode()


def test_of_many_visitors_behind_one_address_each_has_their_own_pace(monkeypatch, request):
    monkeypatch.setenv(PROXIES, "127.0.0.1")
    monkeypatch.setattr(proxy, "A_SECOND", 1)
    monkeypatch.setattr(proxy, "AT_ONCE", 2)
    monkeypatch.setattr(proxy, "IN_LINE", 2)
    place = request.getfixturevalue("nginx")
    with stub(place, 0):
        statuses = [ask(place, HEALTH, X_Forwarded_For="203.0.113.7")[0] for _ in range(6)]
        assert statuses.count(200) >= 2 and statuses[-1] == 429
        assert ask(place, HEALTH, X_Forwarded_For="203.0.113.8")[0] == 200


def test_what_is_no_network_does_not_stand_in_front(monkeypatch):
    for wrong in ("10.0.0.0/99", "example.org", "10.0.0.0/8; deny all"):
        monkeypatch.setenv(PROXIES, wrong)
        with pytest.raises(ValueError, match=PROXIES):
            read_proxies()
    monkeypatch.setenv(PROXIES, " 10.0.0.0/8,fd00::/8 ")
    assert read_proxies() == ["10.0.0.0/8", "fd00::/8"]
    monkeypatch.delenv(PROXIES)
    assert read_proxies() == []
