"""A server of classes, and a class on it."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rooms.opening import open_rooms
from rooms.serving import Serving
from tests.classes.test_serving import Class


@pytest.fixture
def rooms(tmp_path):
    return open_rooms(str(tmp_path / "rooms.sqlite"))


@pytest.fixture
def web(rooms):
    """A server whose clock stands: how many it lets through does not rest on how fast they come."""
    with TestClient(Starlette(routes=Serving(lambda: rooms, clock=lambda: 0.0).list_routes())) as web:
        yield web


@pytest.fixture
def room(web, rooms):
    return Class(web, rooms)
