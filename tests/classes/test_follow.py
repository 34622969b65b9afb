"""Who listens to a room: hears each change once, in turn with others' requests, and so many of one address may."""

import asyncio
from contextlib import aclosing

import pytest

from rooms import follow
from rooms.errors import RefusedError
from rooms.follow import AT_ONCE, Follower
from rooms.opening import open_rooms
from rooms.places import list_held
from rooms.store import Rooms
from tests.classes.plans import PLAN
from tests.loops import run_alone


class Store:
    """A room of which only the version changes."""

    def __init__(self, rooms):
        self._rooms, self.code = rooms, rooms.open(PLAN, "", 4e9).code
        self.version = 1

    async def call(self, method, *given):
        if method is Rooms.read_versions:
            return dict.fromkeys(*given, self.version)
        room = method(self._rooms, *given)
        return type(room)(room.code, room.plan, room.course, self.version, room.ends)


@pytest.fixture
def store(tmp_path):
    return Store(open_rooms(str(tmp_path / "rooms.sqlite")))


def test_what_changes_while_something_is_sent_is_heard_as_well(store):
    async def listen():
        follower = Follower(store.call)
        async with aclosing(follower.listen(store.code)) as heard:
            first = await anext(heard)  # and while a slow line takes that:
            store.version = 2
            await follower.refresh(store.code)
            return first, await asyncio.wait_for(anext(heard), 60)

    first, second = run_alone(listen())
    assert b'"version":1' in first and b'"version":2' in second


def test_others_have_their_turn_while_many_are_told(store):
    async def listen():
        follower, order, listening = Follower(store.call), [], []

        async def hear():
            async with aclosing(follower.listen(store.code)) as heard:
                listening.append(await anext(heard))
                while b'"version":2' not in await anext(heard):
                    pass
                order.append("told")

        async def work():
            while order.count("told") < 100:
                order.append("another")
                await asyncio.sleep(0)

        hearing = [asyncio.create_task(hear()) for _ in range(100)]
        while len(listening) < len(hearing):
            await asyncio.sleep(0.001)
        store.version = 2
        await asyncio.gather(follower.refresh(store.code), work(), *hearing)
        return order

    order = run_alone(listen())
    runs = "".join(each[0] for each in order).split("a")
    assert order.count("told") == 100 and max(map(len, runs)) <= 2 * AT_ONCE


def test_who_goes_on_without_a_pause_has_them_told_now_and_then_and_of_the_last_change(store, monkeypatch):
    """Else one who leads a room of their own by a program, with hundreds who listen, takes all others' time."""
    monkeypatch.setattr(follow, "PAUSE_S", 0.1)

    async def listen():
        follower, said = Follower(store.call), []

        async def hear():
            async with aclosing(follower.listen(store.code)) as heard:
                async for each in heard:
                    said.append(each)
                    if b'"version":60' in each:
                        return

        hearing = asyncio.create_task(hear())
        while not said:
            await asyncio.sleep(0)
        begun = asyncio.get_running_loop().time()
        for store.version in range(2, 61):
            await follower.refresh(store.code)
            await asyncio.sleep(0.005)
        await asyncio.wait_for(hearing, 60)
        return len(said), (asyncio.get_running_loop().time() - begun) / 0.1

    times, pauses = run_alone(listen())
    assert times <= pauses + 3


def test_who_listens_hears_a_sign_of_life_and_the_end(store, monkeypatch):
    monkeypatch.setattr(follow, "BEAT_S", 0.05)
    monkeypatch.setattr(follow, "LOOK_S", 0.02)

    async def listen():
        follower = Follower(store.call)
        follower.begin()
        async with aclosing(follower.listen(store.code)) as heard:
            said = [await anext(heard), await asyncio.wait_for(anext(heard), 60)]
            store._rooms._clock = lambda: 5e9
            store.version = None
            said += [each async for each in heard]
            return said, follower._channels

    said, left = run_alone(listen())
    assert b'"version":1' in said[0] and said[1] == b": still here\n\n" and b'"gone":true' in said[-1]
    assert left == {}


def test_one_address_leaves_room_for_listeners_of_others(store, monkeypatch):
    monkeypatch.setattr(follow, "MOST_LISTENERS", 4)
    monkeypatch.setattr(follow, "MOST_OF_ONE", 3)

    async def listen():
        follower, open_ = Follower(store.call), []
        for address in ("a", "a", "a", "b"):
            open_.append(follower.listen(store.code, address))
            await anext(open_[-1])
            if address == "a" and len(open_) == 3:
                with pytest.raises(RefusedError, match="Ask instead"):
                    follower.listen(store.code, "a")
        with pytest.raises(RefusedError, match="Ask instead"):
            follower.listen(store.code, "c")
        await open_[0].aclose()
        again = follower.listen(store.code, "c")
        await anext(again)
        for each in (*open_, again):
            await each.aclose()
        return follower._listeners

    assert not run_alone(listen())


def test_who_leads_is_noted_where_other_processes_see_it(store, monkeypatch):
    monkeypatch.setattr(follow, "NOTE_S", 0.02)
    monkeypatch.setattr(follow, "LOOK_S", 0.01)
    opened = store._rooms.open(PLAN, "", 4e9)

    def list_led():
        with store._rooms._database.look() as cursor:
            return [room.code for room in list_held(cursor) if room.seen is not None]

    async def lead():
        async def call(method, *given):
            return method(store._rooms, *given)

        Follower(call).begin()
        store._rooms.look(opened.code, opened.secret)
        for _ in range(500):
            await asyncio.sleep(0.01)
            if list_led():
                break
        return list_led()

    assert run_alone(lead()) == [opened.code]
