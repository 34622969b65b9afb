"""What a class's routes refuse: codes that are tried, secrets of another kind, phones by the hundred, what is asked for
and only sent."""

import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from edge.pace import LONGEST_S
from rooms import serving, store
from rooms.errors import RefusedError
from rooms.opening import open_rooms
from rooms.serving import Serving
from tests.classes.test_serving import Class


@pytest.fixture
def room(tmp_path, monkeypatch):
    """With a server whose clock stands, so that how many it lets through does not rest on how fast they come."""
    monkeypatch.setattr(serving, "_CAME_AT_ONCE", 4)
    rooms = open_rooms(str(tmp_path / "rooms.sqlite"))
    with TestClient(Starlette(routes=Serving(lambda: rooms, clock=lambda: 0.0).list_routes())) as web:
        yield Class(web, rooms)


def test_codes_are_not_found_by_trying_one_after_the_other(room):
    """Who has tried many learns nothing of the next one, right or wrong; a class that is held at the same address goes
    on.
    """
    other = Class(room.web, room.rooms)
    assert other.state().status_code == 200  # the projector's page
    codes = [f"AB{a}{b}" for a in "23456789" for b in "23456789"]
    with ThreadPoolExecutor(len(codes)) as pool:
        wrong = [pool.submit(room.web.get, f"/join/{code}/state") for code in codes]
        assert other.phone()["code"] == other.code and other.enter() and other.act("next").json()["place"] == 0
        found = Counter(each.result().status_code for each in wrong)
    right = room.web.get(f"/join/{room.code}/state")
    assert found[404] >= 40 and found[429] >= 10 and right.status_code == 429


def test_a_code_that_is_over_is_no_longer_known(room):
    room.state()
    room.act("end")
    assert room.web.get(f"/join/{room.code}/state").status_code == 404  # who asks until this is told knows the code yet
    with ThreadPoolExecutor(50) as pool:
        found = Counter(pool.map(lambda _: room.web.get(f"/join/{room.code}/state").status_code, range(50)))
    assert found[404] >= 40 and found[429] >= 5


def test_whoever_makes_up_browsers_does_not_come_in_by_the_hundred(room):
    """A browser says by its cookie which one it is."""
    with ThreadPoolExecutor(20) as pool:
        found = Counter(pool.map(lambda _: room.come_in(secrets.token_hex(16)).status_code, range(20)))
    waited = serving._CAME_A_SECOND * LONGEST_S  # so many more wait for their turn
    assert 4 <= found[200] <= 4 + waited + 1 and found[200] + found[429] == 20


def test_phones_of_one_address_leave_room_to_others(room, monkeypatch):
    monkeypatch.setattr(store, "MOST_FROM_ADDRESS", 2)
    rooms, other = room.rooms, Class(room.web, room.rooms)
    for _ in range(2):
        rooms.enter(room.code, "there")
    with pytest.raises(RefusedError, match="from your address"):
        rooms.enter(room.code, "there")
    rooms.enter(room.code, "here")
    rooms.enter(other.code, "there")
    assert [rooms.count(each.code)[0] for each in (room, other)] == [3, 1]


def test_what_is_sent_is_not_asked_for_and_below_a_class_there_is_nothing_else(room):
    for path in (f"/join/{room.code}/answer", f"/join/{room.code}/enter", f"/lead/{room.code}/act"):
        for method in ("GET", "HEAD", "OPTIONS"):
            refused = room.web.request(method, path)
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    for path in (
        f"/join/{room.code}/none",
        f"/lead/{room.code}/end",
        f"/join/{room.code}/state/x",
        f"/lead/{room.code}/",
    ):
        assert room.web.get(path, follow_redirects=False).status_code == 404


@pytest.mark.parametrize(
    ("scheme", "status"), [("bearer", 200), ("BEARER", 200), ("Basic", 403), ("Bearer Bearer", 403)]
)
def test_the_scheme_of_a_secret_is_written_in_any_case(room, scheme, status):
    headers = {"Authorization": f"{scheme} {room.secret}"}
    assert room.web.get(f"/lead/{room.code}/state", headers=headers).status_code == status


def test_made_up_phones_of_a_class_keep_nobody_out_of_another_one(room):
    """Also at one address; who was refused has not used up the times that a browser may come in."""
    other, student = Class(room.web, room.rooms), secrets.token_hex(16)
    with ThreadPoolExecutor(20) as pool:
        found = Counter(pool.map(lambda _: room.come_in(secrets.token_hex(16)).status_code, range(20)))
    assert found[429] and other.come_in(secrets.token_hex(16)).status_code == 200
    assert [room.come_in(student).status_code for _ in range(5)] == [429] * 5
    assert other.come_in(student).status_code == 200


def test_a_class_begins_at_an_address_at_which_codes_are_tried(room):
    """Who leads it has its secret; from when they have asked, its code is known there to phones as well."""
    codes = [f"AB{a}{b}" for a in "23456789" for b in "23456789"]
    with ThreadPoolExecutor(len(codes)) as pool:
        tried = [pool.submit(room.web.get, f"/join/{code}/state") for code in codes]
        assert {each.result().status_code for each in tried} == {404, 429}
    assert room.web.get(f"/join/{room.code}/state").status_code == 429
    assert room.state(secrets.token_urlsafe(16)).status_code == 429  # a secret that is not the room's
    assert room.state().status_code == 200 and room.phone()["code"] == room.code and room.enter()
