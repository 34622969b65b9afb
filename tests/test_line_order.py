"""Who has a turn before whom, of visitors who wait in a line, and of the places that they come from."""

import threading
from contextlib import nullcontext

import pytest

import bertviz_core as bv
from bertviz_core.sharing import line as line_module
from tests.test_line import wait_until


class Visitors:
    """Threads that take turns in a line, each for a visitor, and end them when they may."""

    def __init__(self, at_once, each=None, longest=99):
        self._mine, self.begun, self.order = threading.local(), {}, []
        self.line = line_module.Line(
            at_once, longest, lambda _: nullcontext(), self._get_who, each, lambda: self._get_who().partition("@")[2]
        )
        self._go, self._threads = {}, []

    def _get_who(self):
        return getattr(self._mine, "who", "")

    def come(self, name, costly=None):
        """Somebody comes: "ann@home 1" is the first thread of ann, who is at home.

        costly: from the start, or found out "late".
        """
        self.begun[name], self._go[name] = threading.Event(), threading.Event()
        waiting = len(self.line._waiting)
        self._threads.append(threading.Thread(target=self._work, args=(name, costly), daemon=True))
        self._threads[-1].start()
        wait_until(lambda: self.begun[name].is_set() or len(self.line._waiting) > waiting)

    def _work(self, name, costly):
        self._mine.who = name.split()[0]
        with self.line.turn(costly=costly is True), self.line.costly() if costly == "late" else nullcontext():
            self.order.append(name)
            self.begun[name].set()
            self._go[name].wait(60)  # who is not told to leave has no part in what is tested any more

    def leave(self, *names):
        for name in names:
            assert self.begun[name].wait(60)
            self._go[name].set()
        return self

    def at_work(self):
        return {name for name, begun in self.begun.items() if begun.is_set() and not self._go[name].is_set()}


def test_visitors_take_turns_and_each_ones_own_are_served_as_they_came():
    line = Visitors(1)
    for name in ("ann 1", "ann 2", "ann 3", "ann 4", "bob 1", "bob 2", "cid 1"):
        line.come(name)
    order = ["ann 1", "bob 1", "cid 1", "ann 2", "bob 2", "ann 3", "ann 4"]
    assert line.leave(*order).order == order


def test_one_visitor_has_a_part_of_the_turns_and_others_pass_who_has_it():
    line = Visitors(4, each=2)
    for name in ("bob 1", "ann 1", "ann 2", "ann 3", "ann 4", "cid 1"):
        line.come(name)
    assert line.at_work() == {"bob 1", "ann 1", "ann 2", "cid 1"}
    line.leave("ann 2", "ann 3", "cid 1")
    assert line.begun["ann 4"].wait(60) and line.at_work() == {"bob 1", "ann 1", "ann 4"}
    line.leave("ann 1", "ann 4")
    wait_until(lambda: line.line._busy == 1)
    for name in ("ann 5", "ann 6"):  # what was given back can be had again
        line.come(name)
    assert line.at_work() == {"bob 1", "ann 5", "ann 6"}
    line.leave("bob 1", "ann 5", "ann 6")


def test_who_is_alone_has_all_turns_but_one_and_others_come_first_as_soon_as_they_are_there():
    line = Visitors(3, each=1)
    for name in ("ann 1", "ann 2", "ann 3", "ann 4"):
        line.come(name)
    assert line.at_work() == {"ann 1", "ann 2"}
    line.come("bob 1")
    assert line.at_work() == {"ann 1", "ann 2", "bob 1"}, "who comes has a turn at once"
    line.leave("ann 1", "ann 2")
    assert line.begun["ann 3"].wait(60) and line.at_work() == {"ann 3", "bob 1"}
    line.leave("bob 1")
    assert line.begun["ann 4"].wait(60) and line.at_work() == {"ann 3", "ann 4"}
    line.leave("ann 3", "ann 4")
    wait_until(lambda: line.line.is_idle)
    assert not +line.line._lined and not +line.line._held


def test_who_comes_anew_is_before_others_and_these_are_served_as_they_came():
    line = Visitors(1)
    for name in ("ann 1", "bob 1", "cid 1"):
        line.come(name)
    line.leave("ann 1", "bob 1")
    assert line.begun["cid 1"].wait(60)
    for name in ("ann 2", "bob 2", "dora 1"):  # ann had her turn before bob: that counts for nothing
        line.come(name)
    line.leave("cid 1", "dora 1", "ann 2", "bob 2")
    assert line.order == ["ann 1", "bob 1", "cid 1", "dora 1", "ann 2", "bob 2"]


def test_who_acts_more_often_does_not_wait_for_all_who_act_seldom():
    line = Visitors(1)
    seldom = [f"{name} 1" for name in "abcdef"]
    for name in ("often 1", *seldom):
        line.come(name)
        line.leave(name)
    wait_until(lambda: line.line.is_idle)
    line.come("a 2")
    for name in ("often 2", "b 2", "c 2"):
        line.come(name)
    line.leave("a 2", "often 2")
    assert line.begun["b 2"].wait(60)
    line.come("often 3")
    line.come("d 2")
    line.leave("b 2", "c 2", "often 3", "d 2")
    assert line.order[-6:] == ["a 2", "often 2", "b 2", "c 2", "often 3", "d 2"]


def test_a_turn_that_goes_on_after_a_pause_is_before_who_came_meanwhile():
    line, paused, go_on, order = Visitors(1), threading.Event(), threading.Event(), []

    def pause():
        line._mine.who = "ann"
        with line.line.turn():
            with line.line.pause():
                paused.set()
                go_on.wait(60)
            order.append(list(line.order))

    own = threading.Thread(target=pause, daemon=True)
    own.start()
    assert paused.wait(60)
    for name in ("bob 1", "cid 1"):
        line.come(name)
    line.leave("bob 1")
    assert line.begun["cid 1"].wait(60)
    line.leave("cid 1")
    wait_until(lambda: not line.line._busy)  # else whoever comes may wait for cid, and ann have the turn before bob
    for name in ("bob 2", "cid 2"):
        line.come(name)
    go_on.set()
    wait_until(lambda: any(place.who == "ann" for place in line.line._waiting))
    line.leave("bob 2")
    own.join(60)
    assert order == [["bob 1", "cid 1", "bob 2"]], "before cid, who came during the pause"
    line.leave("cid 2")


def test_who_stays_away_saves_up_no_turns():
    line = Visitors(1)
    for i in range(3):
        line.come(f"ann {i}")
        line.leave(f"ann {i}")
        wait_until(lambda: not line.line._busy)
    line.come("bob 1")
    for name in ("bob 2", "bob 3", "ann 4", "bob 4"):
        line.come(name)
    line.leave("bob 1")
    for _ in range(4):
        wait_until(line.at_work)
        line.leave(*line.at_work())
    assert line.order[4:] in (["bob 2", "ann 4", "bob 3", "bob 4"], ["ann 4", "bob 2", "bob 3", "bob 4"])


@pytest.mark.parametrize("costly", [True, "late"])
def test_costly_work_has_a_quarter_of_the_turns_at_most(costly):
    line = Visitors(8)
    for i in range(4):
        line.come(f"v{i} 1", costly)
    assert line.at_work() == {"v0 1", "v1 1"}
    for i in range(4, 11):
        line.come(f"v{i} 1")
    assert line.at_work() == {"v0 1", "v1 1", *(f"v{i} 1" for i in range(4, 10))}  # and no more than eight in all
    line.leave("v0 1", "v4 1")
    assert line.begun["v10 1"].wait(60) and line.begun["v2 1"].wait(60)
    assert not line.begun["v3 1"].is_set()
    line.leave("v1 1", "v2 1", "v3 1")


def test_where_one_turn_is_all_costly_work_can_have_it():
    line = Visitors(1)
    line.come("ann 1", True)
    line.come("bob 1", "late")
    line.leave("ann 1", "bob 1")
    wait_until(lambda: len(line.order) == 2)


def test_however_many_come_from_one_place_others_have_a_turn_at_once():
    visitors = Visitors(4, each=2)
    crowd = [f"{name}@there 1" for name in "abcdefgh"]
    for name in crowd:
        visitors.come(name)
    assert visitors.order == crowd[:3]
    visitors.come("ann@home 1")
    assert visitors.order == [*crowd[:3], "ann@home 1"], "who came last is first"
    visitors.leave("ann@home 1")
    visitors.come("bob@home 1")
    assert visitors.begun["bob@home 1"].wait(60) and visitors.order[3:] == ["ann@home 1", "bob@home 1"]
    visitors.leave("bob@home 1", *crowd)


def test_places_take_turns_however_many_visitors_there_are_in_each():
    visitors = Visitors(4, each=2)
    crowd = [f"{name}@there 1" for name in "abcdef"]
    for name in crowd:
        visitors.come(name)
    for name in ("ann@home 1", "bob@home 1", "cem@home 1"):
        visitors.come(name)
    assert visitors.order == [*crowd[:3], "ann@home 1"]
    visitors.leave(crowd[0])
    assert visitors.begun["bob@home 1"].wait(60), "three of the others wait longer, and hold two turns to one"
    visitors.leave(crowd[1])
    assert visitors.begun[crowd[3]].wait(60), "and now one to two"
    visitors.leave("ann@home 1")
    assert visitors.begun["cem@home 1"].wait(60) and len(visitors.order) == 7
    visitors.leave("bob@home 1", "cem@home 1", *crowd[2:])


def test_those_from_one_place_do_not_fill_the_line():
    visitors = Visitors(1, longest=4)
    for name in ("a@there 1", "b@there 1", "c@there 1", "d@there 1"):
        visitors.come(name)
    visitors._mine.who = "e@there"
    with pytest.raises(bv.BusyError, match="3 others wait already"), visitors.line.turn():
        pass
    visitors.come("ann@home 1")
    visitors._mine.who = "bob@home"
    with pytest.raises(bv.BusyError, match="4 others wait already"), visitors.line.turn():
        pass
    visitors.leave("a@there 1", "b@there 1", "c@there 1", "d@there 1", "ann@home 1")
