"""The line of those who wait for a forward pass: they are told how many are before them, and are free to leave."""

import threading
import time
from contextlib import ExitStack, contextmanager
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
