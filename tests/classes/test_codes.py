"""Codes for cameras, which lead phones into a class."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from rooms import serving
from tests.classes.test_serving import Class


def test_codes_for_cameras_are_drawn_at_a_pace(room):
    """Each takes 30 ms, in which nobody else is served. Another class at the same address has a pace of its own."""
    other = Class(room.web, room.rooms)
    draw = lambda one, i: one.web.get(f"/lead/{one.code}/code.svg", params={"at": f"http://testserver/{i}/"})  # noqa: E731
    with ThreadPoolExecutor(40) as pool:
        found = Counter(each.status_code for each in pool.map(lambda i: draw(room, i), range(40)))
    assert found[200] >= 10 and found[429] >= 20
    assert draw(other, 0).status_code == 200
    assert room.web.get("/lead/AB23/code.svg", params={"at": "http://testserver/"}).status_code == 404  # no such class


def test_the_code_for_cameras_holds_the_address_of_the_room(room):
    web, path = room.web, f"/lead/{room.code}/code.svg"
    drawn = web.get(path, params={"at": "http://testserver/"})
    assert drawn.headers["content-type"] == "image/svg+xml" and "http://www.w3.org/2000/svg" in drawn.text
    for at in ("", "javascript:alert(1)/", "https://x", "http://a b/", f"https://{'x' * 300}/"):
        assert web.get(path, params={"at": at}).status_code == 404


OWN = {
    "as it was asked": ("bert.example.org", "https://bert.example.org/", 200),
    "below a path, with a port": ("Bert.example.org:8080", "http://bert.example.org:8080/bert/", 200),
    "the port of the scheme": ("bert.example.org:443", "https://bert.example.org/", 200),
    "another site": ("bert.example.org", "https://elsewhere.example.org/", 404),
    "another port": ("bert.example.org", "http://bert.example.org:8080/", 404),
    "a name for another": ("bert.example.org", "https://bert.example.org@elsewhere.example.org/", 404),
    "the machine's, from elsewhere": ("bert.example.org", "http://10.0.0.7/", 404),
    "the machine's, at the machine": ("localhost:8501", "http://10.0.0.7:8501/", 200),
    "another machine's, at the machine": ("localhost:8501", "http://10.0.0.8:8501/", 404),
}


@pytest.mark.parametrize(("host", "at", "status"), OWN.values(), ids=OWN)
def test_a_code_for_cameras_leads_to_this_server_alone(room, monkeypatch, host, at, status):
    """Anybody's address as a code, drawn by a site that people trust, would be a gift to who lures them."""
    monkeypatch.setattr(serving, "find_address", lambda: "10.0.0.7")
    monkeypatch.setattr(serving, "LOCAL", (*serving.LOCAL, "testclient"))
    found = room.web.get(f"/lead/{room.code}/code.svg", params={"at": at}, headers={"Host": host})
    assert found.status_code == status


def test_codes_of_classes_are_not_found_by_asking_for_their_pictures(room):
    """Who tries many is told to wait, whether there is such a class or not."""
    ask = lambda code: room.web.get(f"/lead/{code}/code.svg", params={"at": "http://testserver/"}).status_code  # noqa: E731
    codes = [f"AB{a}{b}" for a in "23456789" for b in "23456789"]
    with ThreadPoolExecutor(len(codes)) as pool:
        found = Counter(pool.map(ask, codes))
    assert found[404] >= 40 and found[429] >= 10 and ask(room.code) == 429
    assert room.state().status_code == 200 and ask(room.code) == 200
