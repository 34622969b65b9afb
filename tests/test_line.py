"""The line of those who wait for a forward pass: they are told how many are before them, and are free to leave."""

import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.sharing import line as line_module
from bertviz_core.sharing.threads import CORES
from bertviz_core.tracing import store as store_module
from bertviz_core.ui.frame import ready, resources
from tests import test_store

models, slow_run = test_store.models, test_store.slow_run


class Shown:
    """What those who wait are told, by thread; `leave` has one of them leave, as a script does that is to stop."""

    def __init__(self):
        self.told, self.leave, self._lock = {}, set(), threading.Lock()

    @contextmanager
    def __call__(self, before):
        with self._lock:
            self.told.setdefault(threading.current_thread().name, []).append(before)
        yield
        if threading.current_thread().name in self.leave:
            raise KeyboardInterrupt


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setattr(line_module, "LOOK_S", 0.02)
    return Shown()


def get_in_thread(store, name, *call):
    """Begin a call of `get` in a thread of this name; gives the thread, and a list for what comes of it."""
    found = []

    def work():
        try:
            found.append(store.get(*call))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, name=name)
    thread.start()
    return thread, found


def wait_until(true):
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_who_waits_is_told_how_many_are_before_and_goes_on_in_order(models, slow_run, shown):
    store, threads = bv.TraceStore(at_once=1, show=shown), []
    for i, text in enumerate(["cat", "mat", "rome", "the cat", "mat"]):  # the last one waits for another's pass
        threads.append(get_in_thread(store, str(i), models[0], text))
        wait_until(lambda i=i: shown.told.get(str(i)))
    assert {name: told[-1] for name, told in shown.told.items()} == {"0": 0, "1": 1, "2": 2, "3": 3, "4": 1}
    slow_run.go.set()
    for thread, _ in threads:
        thread.join(10)
    assert all(isinstance(found[0], bv.Trace) for _, found in threads) and store.runs == 4
    assert all(told == sorted(told, reverse=True) for told in shown.told.values())


def test_who_leaves_the_line_takes_nobody_along(models, slow_run, shown):
    store = bv.TraceStore(at_once=1, show=shown)
    first, _ = get_in_thread(store, "first", models[0], "cat")
    wait_until(lambda: shown.told.get("first"))
    leaver, left = get_in_thread(store, "leaver", models[0], "mat")
    wait_until(lambda: shown.told.get("leaver"))
    heir, inherited = get_in_thread(store, "heir", models[0], "mat")
    wait_until(lambda: shown.told.get("heir"))
    shown.leave.add("leaver")
    slow_run.go.set()
    for thread in (first, leaver, heir):
        thread.join(10)
    assert isinstance(left[0], KeyboardInterrupt) and isinstance(inherited[0], bv.Trace)
    assert isinstance(store.get(models[0], "rome"), bv.Trace)  # nobody holds the line up


def test_a_line_that_is_too_long_is_refused_in_words(models, slow_run, shown, monkeypatch):
    monkeypatch.setattr(store_module, "LONGEST_LINE", 1)
    store = bv.TraceStore(at_once=1, show=shown)
    waiting = []
    for i, text in enumerate(["cat", "mat"]):
        waiting.append(get_in_thread(store, str(i), models[0], text))
        wait_until(lambda i=i: shown.told.get(str(i)))
    with pytest.raises(bv.BusyError, match="1 others wait already"):
        store.get(models[0], "rome")
    slow_run.go.set()
    for thread, found in waiting:
        thread.join(10)
        assert isinstance(found[0], bv.Trace)
    assert isinstance(store.get(models[0], "rome"), bv.Trace)


def test_a_pause_lets_others_have_their_turn_and_whoever_cannot_come_back_owes_none(shown):
    line, order = line_module.Line(1, 1, shown), []
    begun, go = threading.Event(), threading.Event()

    def work():
        with line.turn():
            order.append("other")
            begun.set()
            go.wait(60)

    other = threading.Thread(target=work)
    with pytest.raises(KeyboardInterrupt), line.turn():
        with line.pause():
            other.start()
            assert begun.wait(60)
            order.append("paused")
            shown.leave.add(threading.current_thread().name)
            threading.Timer(0.2, go.set).start()
        order.append("never")
    other.join(60)
    shown.leave.clear()
    assert order == ["other", "paused"]
    with line.turn():  # one turn at a time is still one
        third = threading.Thread(target=lambda: line.turn().__enter__(), daemon=True, name="third")
        third.start()
        wait_until(lambda: shown.told.get("third") == [1])


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


def test_costly_work_that_ends_lets_others_into_the_lane_and_keeps_its_turn(shown):
    line = line_module.Line(2, 9, shown)
    with line.turn():
        with line.costly(), line.costly(), line.pause():
            assert (line._busy, line._costly) == (0, 0)
        assert (line._busy, line._costly) == (1, 0)
    assert (line._busy, line._costly) == (0, 0)
    with line.costly(), line.pause():  # without a turn there is nothing to give back
        assert (line._busy, line._costly) == (0, 0)


@pytest.mark.parametrize("program", ["bert", "definition"])
def test_long_passes_leave_room_for_short_ones(models, slow_run, shown, program):
    """Also for those of documents: whose they are does not make them costly."""
    pages = line_module.Line(4, 9, shown)
    store, long = bv.TraceStore(at_once=2, show=shown, callers=pages), "cat " * 60
    store_module_long = store_module.LONG
    try:
        store_module.LONG = 20
        threads = []
        for name, text in (("long", long), ("longer", f"mat {long}"), ("short", "cat")):
            threads.append(get_in_thread(store, name, models[0], text, None, None, (), program))
            wait_until(lambda name=name: shown.told.get(name))
        assert slow_run.started.acquire(timeout=60) and slow_run.started.acquire(timeout=60)
        assert shown.told["short"][-1] == 0 and shown.told["longer"][-1] > 0
    finally:
        slow_run.go.set()
        store_module.LONG = store_module_long
    for thread, found in threads:
        thread.join(60)
        assert isinstance(found[0], bv.Trace)


@pytest.mark.parametrize("what", ["forward pass", "page"])
def test_a_page_says_how_many_are_before_it_and_goes_on_by_itself(monkeypatch, what):
    said = []
    monkeypatch.setattr(resources, "_RUNS_AT_ONCE", 1)
    resources.get_line.clear()

    @contextmanager
    def spin(text, **_):
        said.append(text)
        yield

    ready.prepare_process()
    monkeypatch.setattr(resources.st, "spinner", spin)
    at = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=60)
    at.query_params["text"] = f"Nobody else reads this {what}."
    line, turns = (resources.get_store(), CORES) if what == "forward pass" else (resources.get_line(), 1)
    with ExitStack() as taken:
        for _ in range(turns):
            taken.enter_context(line.turn())
        page = threading.Thread(target=at.run)
        page.start()
        wait_until(lambda: any(f"{turns} before you" in text for text in said))
    page.join(60)
    resources.get_line.clear()
    assert not at.exception and "Nobody else reads this" in at.title[0].value


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
