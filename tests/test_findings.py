"""What is worked out unasked: once for all, in fair turns, while anybody wants it; and it ends with the app."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import served

import bertviz_core as bv
from bertviz_core.sharing import findings
from bertviz_core.sharing.findings import Findings, Found
from bertviz_core.sharing.line import Line
from bertviz_core.sharing.load import Load
from bertviz_core.tracing.remember import measure_bytes

LONG = 30  # seconds after which a test is stuck


class Room:
    """Findings whose every pass a test lets happen."""

    def __init__(self, **given):
        self.now, self.order, self.free, self.begun = 0.0, [], threading.Semaphore(0), []
        self.there, self.busy, self.crowded = True, False, False
        self.findings = Findings(
            given.pop("max_bytes", 10_000),
            self.turn,
            measure_bytes,
            lambda: self.busy,
            lambda: self.crowded,
            lambda _: self.there,
            lambda: self.now,
            lambda: self.now,
        )

    @contextmanager
    def turn(self):
        assert self.free.acquire(timeout=LONG)
        yield

    def work(self, name, passes=3, fail=None, seconds=0.0):
        self.begun.append(name)
        for i in range(1, passes + 1):
            self.now += seconds
            if fail is not None and i == 2:
                raise fail
            self.order.append(name)
            yield i / passes, np.full(10, float(i))

    def ask(self, name, session="s", visitor="v", near="", **given):
        return self.findings.ask(name, lambda: self.work(name, **given), session, visitor, near)

    def begin(self):
        """Have a pass of somebody else's under way: all that is asked for meanwhile is there when the next begins."""
        self.ask("first", visitor="first", near="first", passes=1)

    def let(self, passes):
        for _ in range(passes):
            self.free.release()

    def await_first(self):
        """Until the first pass has happened."""
        end = time.monotonic() + LONG
        while not self.order:
            assert time.monotonic() < end

    def await_order(self, passes):
        """Until so many passes have happened."""
        end = time.monotonic() + LONG
        while len(self.order) < passes:
            assert time.monotonic() < end
            time.sleep(0.001)

    def settle(self):
        assert self.findings.settle(LONG)


@pytest.fixture
def room():
    made = Room()
    yield made
    made.let(100)
    made.findings.stop()


def test_what_is_asked_for_by_many_is_worked_out_once_and_kept(room):
    assert room.ask("a") == Found() and room.ask("a", "other", "else") == Found()
    room.let(3)
    room.settle()
    found = room.ask("a")
    assert found.whole and found.value.tolist() == [3.0] * 10 and room.begun == ["a"]
    assert room.ask("a", "third") is found


def test_what_is_known_so_far_is_told_before_the_end(room):
    room.ask("a", passes=4)
    room.let(1)
    room.await_first()
    room.let(1)
    end = time.monotonic() + LONG
    while (found := room.ask("a")).done < 0.5:
        assert time.monotonic() < end
    assert found.value.tolist() == [2.0] * 10 and not found.over and not found.whole


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ended_in_a_mistake_is_started_again_by_whoever_asks(room):
    room.findings._is_there = lambda _: 1 / 0
    room.ask("a")
    thread = room.findings._thread
    thread.join(LONG)
    assert not thread.is_alive()
    room.findings._is_there = lambda _: True
    room.ask("a")
    room.let(3)
    room.settle()
    assert room.ask("a").whole


def test_findings_under_way_are_counted(room):
    room.ask("a")
    room.ask("b")
    assert room.findings.count_open() == 2
    room.let(6)
    room.settle()
    assert room.findings.count_open() == 0


def test_visitors_take_turns_and_each_ones_own_come_as_asked(room):
    room.begin()
    for name, visitor in (("a1", "a"), ("a2", "a"), ("b", "b")):
        room.ask(name, visitor=visitor, seconds=0.01)
    room.let(10)
    room.settle()
    assert room.order == ["first", "a1", "b", "a1", "b", "a1", "b", "a2", "a2", "a2"]


def test_addresses_share_the_time_however_many_visitors_come_from_one(room):
    room.begin()
    for i in range(10):
        room.ask(f"crowd {i}", visitor=f"of the crowd {i}", near="there")
    room.ask("alone", visitor="alone", near="here", passes=4)
    room.let(9)
    room.await_order(9)
    assert room.order.count("alone") == 4 and len(set(room.order[1:])) == 5


def test_who_has_short_passes_does_not_wait_for_as_many_long_ones(room):
    room.ask("long", visitor="a", passes=20, seconds=0.5)
    room.ask("short", visitor="b", passes=20, seconds=0.01)
    room.let(22)
    room.await_order(22)
    assert room.order.count("short") == 20


def test_nobody_saves_up_time_while_they_want_nothing(room):
    room.ask("a", visitor="a", passes=100, seconds=0.01)
    room.let(50)
    room.await_order(50)
    room.ask("b", visitor="b", passes=100, seconds=0.01)
    room.let(20)
    room.await_order(70)
    assert 8 <= room.order[50:].count("b") <= 12


def test_what_nobody_wants_any_more_is_left_off(room):
    room.ask("a", passes=50)
    room.let(1)
    room.await_first()
    room.now += findings.WANTED_S + 1
    room.ask("b")
    room.let(5)
    room.settle()
    assert room.order.count("a") <= 2 and room.order.count("b") == 3
    assert not room.ask("a").over, "it would begin again"


def test_whoever_is_gone_wants_nothing(room):
    room.ask("a", passes=50)
    room.let(1)
    room.await_first()
    room.there = False
    room.let(2)
    room.settle()
    assert len(room.order) <= 2


def test_a_visitor_has_a_bounded_number_under_way(room):
    for i in range(findings.MOST_EACH + 5):
        room.ask(f"{i}", passes=1)
    assert len(room.findings._jobs) == findings.MOST_EACH


def test_what_was_found_is_bounded_in_bytes():
    made = Room(max_bytes=1_000)
    made.let(100)
    for i in range(20):
        made.ask(f"{i}", passes=1)
        made.settle()
    assert made.findings._kept.nbytes <= 1_000 and len(made.findings._kept) > 1
    made.findings.clear()
    assert made.findings._kept.nbytes == 0
    made.findings.stop()


def test_an_error_is_a_sentence_and_one_of_a_busy_server_is_not_for_good(room, caplog):
    room.let(100)
    for name, error, said in (
        ("a", bv.InputError("Choose a smaller number."), "Choose a smaller number."),
        ("b", ZeroDivisionError("oh"), findings._FAILED),
        ("c", bv.BusyError("Full."), "Full."),
    ):
        room.ask(name, fail=error)
        room.settle()
        found = room.ask(name)
        assert found.error == said and found.over and not found.whole and found.value.tolist() == [1.0] * 10
    assert "oh" in caplog.text and len(room.begun) == 3
    room.now += findings.WANTED_S + 1
    for name in "abc":
        room.ask(name)
        room.settle()
    room.settle()
    assert room.begun[3:] == ["c"]


def test_what_takes_too_long_ends_with_what_it_has(room, monkeypatch):
    monkeypatch.setattr(findings, "WANTED_S", 10 * findings.MOST_S)

    def slow():
        for i in range(1, 11):
            room.now += findings.MOST_S / 4
            yield i / 10, i

    room.findings.ask("a", slow)
    room.let(10)
    room.settle()
    found = room.findings.ask("a", slow)
    assert found == Found(5, 0.5, over=True) and not found.whole


@pytest.mark.parametrize(("crowded", "seconds"), [(False, 0.1), (True, 0.02), (True, 0.2)])
def test_on_a_busy_server_it_waits_before_each_pass_but_not_for_ever(room, monkeypatch, crowded, seconds):
    waited = []

    def wait(seconds):
        waited.append(seconds)
        room.now += seconds
        return False

    monkeypatch.setattr(room.findings._stopping, "wait", wait)
    room.busy, room.crowded = not crowded, crowded  # a crowd's pages leave moments in which none is at work
    room.ask("a", passes=5, seconds=seconds)
    room.let(5)
    room.settle()
    share = findings.LEAST_SHARE if crowded else findings.SHARE
    each = min(findings.PATIENCE_S, seconds * (1 / share - 1))
    least = findings.PATIENCE_S + 4 * each  # nobody knows yet how long the first one takes
    assert least - 1e-9 <= sum(waited) <= least + 5 * findings._LOOK_S + 1e-9


def test_the_load_of_a_process_is_what_it_took_of_the_last_seconds():
    now, spent = 0.0, 0.0
    load = Load(lambda: spent, lambda: now)
    assert load.measure() == 0
    for _ in range(40):
        now, spent = now + 0.5, spent + 0.4
        measured = load.measure()
    assert measured == pytest.approx(0.8)
    for _ in range(6):
        now += 0.5
        measured = load.measure()
    assert measured == pytest.approx(0.8 * 2 / 5)
    now, spent = now + 60, spent + 30  # nobody asked for a minute
    assert load.measure() == pytest.approx(0.5, abs=0.05)


def test_the_end_of_the_app_ends_it_and_nothing_begins_after():
    made = Room()
    made.ask("a", passes=1000)
    made.let(1)
    thread = made.findings._thread
    made.let(1)
    made.findings.stop()
    assert not thread.is_alive()
    made.ask("b")
    assert made.findings._thread is None and "b" not in made.order


@pytest.mark.slow
def test_a_process_ends_while_something_is_worked_out():
    script = """if True:
        from contextlib import nullcontext
        from bertviz_core.sharing.findings import Findings
        def work():
            while True:
                sum(range(10_000))
                yield 0.0, 1
        made = Findings(1000, nullcontext, lambda _: 1)
        made.ask("a", work)
        while made.ask("a", work).value is None:
            pass
        print("done")
    """
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_a_line_is_idle_while_nobody_has_a_turn():
    line = Line(1, 2, lambda _: threading.Lock())
    assert line.is_idle
    with line.turn():
        assert not line.is_idle
    assert line.is_idle


def test_the_system_knows_the_thread_by_the_name_that_the_benchmark_looks_for():
    room = Room()
    room.findings.ask("one", lambda: room.work("one"), "me", "me")
    room.free.release()
    deadline = time.monotonic() + LONG
    while not served.findings_ms(os.getpid()):
        assert time.monotonic() < deadline
    for _ in range(3):
        room.free.release()
    room.findings.stop()
