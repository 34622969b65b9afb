"""The line of trainings: one at a time, in order, and nothing runs for somebody who has gone."""

import gc
import re
import threading
import weakref

import pytest

import bertviz_core as bv
from bertviz_core.learning import Queue, Standing, room
from bertviz_core.learning import queue as queue_module
from bertviz_core.learning.room import Room
from bertviz_core.sharing.fairness import OF_ONE_ADDRESS

WAIT_S = 10.0


class Clock:
    """A time that moves when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Steps:
    """What the queue knows of a training: steps that are counted, an end, and how much memory it takes."""

    room = Room(held=1_000_000_000, peak=1_500_000_000)

    def __init__(self, total=3, after=None):
        self.steps_total, self.after = total, after
        self.records = self.passes = ()
        self.held, self.lost, self.halted = False, "", 0

    @property
    def finished(self):
        return len(self.records) == self.steps_total

    def advance(self, steps):
        assert steps > 0
        self.held = True
        self.records = (*self.records, len(self.records) + 1)
        if self.after:
            self.after(len(self.records))
        return 1

    def halt(self):
        self.halted += 1

    def reset(self):
        self.records, self.held, self.lost = (), False, ""

    def give_up(self, why):
        self.held, self.lost = False, why


class NoHost:
    """A process that trains, which nobody has started: what is to be done every second is done by hand."""

    def watch(self, act):
        self.tend = act


class Line:
    """A queue whose work is done when `run` says so, by hand."""

    def __init__(self):
        self.clock, self.started = Clock(), []
        self.queue = Queue(NoHost(), self.clock, self.started.append)

    def enter(self, key, visitor=None, near="", **steps):
        ticket = self.queue.submit(key, Steps(**steps), visitor=key if visitor is None else visitor, near=near)
        ticket.resume()
        return ticket

    def run(self):
        self.started.pop()()


@pytest.fixture
def line(monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 4_500_000_000)
    return Line()


def count(ticket):
    return len(ticket.records)


def test_a_ticket_runs_when_it_is_told_to_and_is_done(line):
    ticket = line.queue.submit("a", Steps())
    assert (ticket.standing, ticket.place, len(line.started)) == (Standing.PAUSED, None, 0)
    ticket.resume()
    assert (ticket.standing, ticket.place) == (Standing.WAITING, 0)
    line.run()
    assert (ticket.standing, ticket.place, ticket.records) == (Standing.DONE, None, (1, 2, 3))
    ticket.resume()
    assert line.started == [] and len(line.queue) == 0


def test_one_runs_at_a_time_and_the_others_know_their_place(line):
    seen = []

    def look(number):
        seen.append((first.standing, [ticket.place for ticket in (first, second, third)]))

    first = line.enter("a", after=look)
    second, third = line.enter("b"), line.enter("c")
    assert len(line.started) == 1
    line.run()
    assert seen == [(Standing.RUNNING, [0, 1, 2])] * 3
    assert [ticket.standing for ticket in (first, second, third)] == [Standing.DONE] * 3


def test_what_is_stopped_in_its_last_step_is_not_merely_paused(line):
    ticket = line.queue.submit("a", Steps(after=lambda number: ticket.stop()))
    ticket.step()
    line.run()
    assert (count(ticket), ticket.standing) == (1, Standing.STOPPED)


def test_a_step_is_one_step(line):
    ticket = line.queue.submit("a", Steps())
    for number in (1, 2, 3):
        ticket.step()
        line.run()
        assert count(ticket) == number
    assert ticket.standing is Standing.DONE


def test_who_pauses_gives_the_place_away_and_gets_in_at_the_end(line):
    def pause(number):
        if number == 1:
            first.pause()

    first = line.enter("a", after=pause)
    second = line.enter("b")
    line.run()
    assert (count(first), first.standing, second.standing) == (1, Standing.PAUSED, Standing.DONE)
    third = line.enter("c")
    first.resume()
    assert (third.place, first.place) == (0, 1)
    line.run()
    assert (count(first), first.standing) == (3, Standing.DONE)


def test_what_is_stopped_stays_stopped_and_keeps_what_it_has(line):
    ticket = line.enter("a", after=lambda number: ticket.stop())
    line.run()
    assert (count(ticket), ticket.standing) == (1, Standing.STOPPED)
    ticket.resume()
    ticket.pause()
    assert (ticket.standing, line.started) == (Standing.STOPPED, [])
    ticket.reset()
    assert (ticket.standing, count(ticket)) == (Standing.PAUSED, 0)
    ticket.training.after = None
    ticket.resume()
    line.run()
    assert ticket.standing is Standing.DONE


def test_an_owner_who_has_gone_frees_the_worker_after_the_step(line):
    def leave(number):
        line.clock.now += 2.1
        second.touch()

    first = line.enter("a", total=100, after=leave)
    second = line.enter("b")
    line.run()
    assert (count(first), first.standing, first.away) == (2, Standing.PAUSED, True)
    assert (second.standing, second.away) == (Standing.DONE, False)


def test_a_busy_server_does_not_take_the_place_of_an_owner_who_is_connected(line):
    def pass_time(number):
        line.clock.now += 9.0

    ticket = line.enter("a", total=100, after=pass_time)
    ticket.owner._connected = lambda: line.clock.now < 18
    line.run()
    assert (count(ticket), ticket.away) == (2, True)
    ticket.owner._connected = lambda: True
    ticket.resume()
    line.run()
    assert (count(ticket), ticket.away) == (6, True)  # 36 seconds elsewhere


def test_an_owner_who_looks_keeps_the_place(line):
    def look(number):
        line.clock.now += 3.9
        ticket.touch()

    ticket = line.enter("a", total=5, after=look)
    line.run()
    assert (ticket.standing, ticket.away) == (Standing.DONE, False)


def test_who_waits_and_goes_leaves_the_line_at_once_for_all_who_ask(line):
    first, second, third = line.enter("a"), line.enter("b"), line.enter("c")
    line.clock.now = 4.5
    first.touch()
    third.touch()
    assert [ticket.place for ticket in (first, second, third)] == [0, None, 1]
    assert (len(line.queue), second.standing, second.away) == (2, Standing.PAUSED, True)
    second.resume()
    assert (second.place, second.away) == (2, False)


def test_who_runs_for_long_lets_the_others_in(line):
    order = []

    def spend(key):
        def act(number):
            order.append(key)
            line.clock.now += queue_module.TURN_S / 2 + 1
            for ticket in tickets:
                ticket.touch()

        return act

    tickets = [line.enter(key, total=4, after=spend(key)) for key in "ab"]
    line.run()
    assert "".join(order) == "aabbaabb"


def test_one_owner_has_one_place(line):
    first = line.enter("a")
    second = line.enter("a")
    assert (first.standing, first.place, second.place) == (Standing.STOPPED, None, 0)


def test_the_line_has_an_end(line, monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 1e12)
    for key in range(queue_module.MAX_WAITING):
        line.enter(str(key))
    ticket = line.queue.submit("late", Steps())
    with pytest.raises(bv.TrainingError, match="run or wait already"):
        ticket.resume()
    assert ticket.standing is Standing.PAUSED


@pytest.mark.parametrize(("visitor", "most"), [("ann", queue_module.EACH), ("", queue_module.NAMELESS)])
def test_one_visitor_leaves_places_in_the_line_to_others(line, monkeypatch, visitor, most):
    monkeypatch.setattr(room, "read_limit", lambda: 1e12)
    for key in range(most):
        line.enter(str(key), visitor)
    with pytest.raises(bv.TrainingError, match=f"^{most} trainings of .* Pause one"):
        line.enter("late", visitor)
    assert line.enter("other", "bob").place == 1
    line.run()
    assert line.enter("late", visitor).place == 0


@pytest.mark.parametrize(
    ("error", "says"), [(bv.TrainingError("Step 2 ran away."), "ran away"), (MemoryError(), r"\(MemoryError\)")]
)
def test_what_fails_says_so_and_lets_the_next_one_in(line, error, says):
    def fail(number):
        raise error

    first, second = line.enter("a", after=fail), line.enter("b")
    line.run()
    assert first.standing is Standing.FAILED and second.standing is Standing.DONE
    assert re.search(says, first.error)
    first.reset()
    assert (first.standing, first.error) == (Standing.PAUSED, "")


def test_the_queue_holds_nothing_of_a_training_that_does_not_run(line):
    ticket = line.enter("a")
    line.run()
    gone = weakref.ref(ticket.training)
    del ticket
    gc.collect()
    assert gone() is None


def test_a_thread_runs_the_line_and_ends_with_it(line):
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()
    threads = []

    def act(number):
        threads.append(threading.current_thread())
        begun.set()
        assert go_on.wait(WAIT_S)
        if number == 2:
            done.set()

    queue = Queue(NoHost())
    ticket = queue.submit("a", Steps(total=2, after=act))
    ticket.resume()
    assert begun.wait(WAIT_S)
    assert (ticket.standing, ticket.place) == (Standing.RUNNING, 0)
    go_on.set()
    assert done.wait(WAIT_S)
    threads[0].join(WAIT_S)
    assert not threads[0].is_alive() and set(threads) == {threads[0]}
    assert ticket.standing is Standing.DONE
    again = queue.submit("a", Steps(total=1, after=lambda number: done.set()))
    done.clear()
    again.resume()
    assert done.wait(WAIT_S)


def test_addresses_take_turns_and_visitors_from_one_address(line, monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 10**12)
    for visitor, near in (("a", "x"), ("a", "x"), ("a", "x"), ("b", "x"), ("c", "y"), ("d", "z"), ("c", "y")):
        name = f"{visitor}{len(line.queue)}"
        line.enter(name, visitor, near)
    assert [ticket.key for ticket in line.queue._line] == ["a0", "c4", "d5", "b3", "c6", "a1", "a2"]


def test_who_comes_from_elsewhere_has_every_second_turn(line, monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 10**12)
    order = []

    def note(who):
        def after(_):
            order.append(who)
            line.clock.now += queue_module.TURN_S + 1
            for ticket in tickets:
                ticket.touch()

        return after

    tickets = [line.enter(f"a{i}", near="there", total=3, after=note("a")) for i in range(6)]
    tickets.append(line.enter("b", near="here", total=3, after=note("b")))
    line.run()
    assert "".join(order[:6]) == "ababab"


def test_one_address_leaves_places_in_the_line_to_others(line, monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 10**12)
    most = int(queue_module.MAX_WAITING * OF_ONE_ADDRESS)
    with pytest.raises(bv.TrainingError, match="from your address"):
        for i in range(queue_module.MAX_WAITING):
            line.enter(f"a{i}", near="there")
    assert 40 <= most <= len(line.queue) <= most + 1
    assert line.enter("b", near="here").place == 1
