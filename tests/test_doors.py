"""Who comes to a first run, and in which order: addresses take turns, visitors of each, and a crowd leaves time."""

import pytest

from bertviz_core.ui.frame import doors
from bertviz_core.ui.frame.doors import CROWD, INSIDE_S, LEFT, Doors
from tests.gate import Clock


class House:
    """Doors whose sessions are texts, each busy until it is said to have ended."""

    def __init__(self):
        self.clock, self.ended, self.gone, self.inside = Clock(), set(), set(), {}
        self.doors = Doors(lambda one: one not in self.ended, lambda one: one not in self.gone, self.clock)

    def come(self, *sessions, near="home", visitor="", costly=False):
        for session in sessions:
            self.doors.come(session, near, visitor, costly=costly)

    def end(self, *sessions, after=0.1):
        self.clock.now += after
        self.ended.update(sessions)

    def empty(self, seconds, took):
        """Let all in for so long, each of which takes so many seconds; who came in."""
        until, order = self.clock.now + seconds, []
        while self.clock.now < until:
            self.ended.update(one for one, since in self.inside.items() if self.clock.now - since >= took)
            found = self.doors.let_in()
            self.inside.update(dict.fromkeys(found, self.clock.now))
            order += found
            self.clock.now += 0.01
        return order


@pytest.fixture
def house():
    return House()


def test_visitors_of_an_address_take_turns(house):
    house.come(*(f"flood {i}" for i in range(40)), visitor="flood")
    assert house.doors.let_in() == ["flood 0"]
    house.come("new 0", "new 1", visitor="new")
    house.come("newer", visitor="newer")
    house.end("flood 0")
    order = house.empty(0.9, 0.1)
    assert order.index("new 0") <= 2 and order.index("newer") <= 2 and order.index("new 1") <= 4
    assert [one for one in order if one.startswith("flood")] == [f"flood {i}" for i in range(1, len(order) - 2)]


@pytest.mark.parametrize("costly", [False, True])
def test_two_addresses_with_a_crowd_each_keep_no_third_one_out(house, costly):
    for near in ("there", "elsewhere"):
        for i in range(50):
            house.come(f"{near} {i}", near=near, visitor=f"{near} {i}", costly=costly)
    house.empty(1.0, 0.1)
    house.come("mine", visitor="me", costly=costly)
    assert "mine" in house.empty(0.25, 0.1)


def test_what_takes_long_keeps_nobody_else_out(house):
    house.come("long 0", "long 1", near="there", costly=True)
    house.come("long 2", near="elsewhere", visitor="another", costly=True)
    house.come("short 0", "short 1", near="there")
    assert house.doors.let_in() == ["long 0", "short 0"]
    house.end("short 0")
    assert house.doors.let_in() == ["short 1"]
    house.end("long 0")
    assert house.doors.let_in() == ["long 2"]


@pytest.mark.parametrize(
    ("waiting", "others", "most"), [(CROWD + 90, True, 1 / (1 + LEFT)), (CROWD + 90, False, 1.0), (36, True, 1)]
)
def test_a_crowd_leaves_others_more_time_than_it_takes_and_a_class_need_not(house, waiting, others, most):
    house.come(*(f"student {i}" for i in range(waiting)), near="there")
    before = 0
    for _ in range(10):
        if others:
            house.doors.note("home")
        house.doors.note("there")
        before += len(house.empty(1.0, 0.25))
    assert before == pytest.approx(min(waiting, 40 * most), abs=2)


def test_who_waits_long_inside_lets_the_next_one_in_and_who_has_gone_is_passed_over(house):
    house.come("first", "second", "third", "fourth")
    house.gone.add("second")
    assert house.doors.let_in() == ["first"]
    house.clock.now += INSIDE_S
    assert house.doors.let_in() == ["third"]
    assert house.doors.are_waited_at


def test_visitors_who_no_longer_matter_are_forgotten(house, monkeypatch):
    monkeypatch.setattr(doors, "_KNOWN", 10)
    for i in range(100):
        house.come(f"session {i}", visitor=f"made up {i}")
        house.doors.let_in()
        house.end(f"session {i}")
    assert len(house.doors._next) <= 10
    for i in range(100):
        house.come(f"session of {i}", near=f"{i}")
        house.doors.let_in()
        house.end(f"session of {i}")
    assert len(house.doors._came_in) <= 10
