"""Memory of trainings: how much is held, and for whom; what becomes of a ticket whose owner or process has gone."""

import pytest

import bertviz_core as bv
from bertviz_core.learning import Standing
from bertviz_core.learning import queue as queue_module
from tests.test_learning_queue import Line, Steps, count


@pytest.fixture
def line(monkeypatch):
    monkeypatch.setattr(queue_module, "read_limit", lambda: 4_500_000_000)
    return Line()


def test_memory_of_all_trainings_that_are_held_is_bounded(line):
    held = [line.enter(key) for key in "abcd"]
    late = line.queue.submit("e", Steps())
    with pytest.raises(bv.TrainingError, match=r"hold 4\.0 GB of the 4\.5 GB .* may take 1\.5 GB more"):
        late.resume()
    assert late.standing is Standing.PAUSED
    line.run()
    held.pop(0).training.held = False  # its process has dropped it
    late.resume()
    assert late.standing is Standing.WAITING


def test_what_has_taken_no_step_takes_no_memory(line):
    looked_at = [line.queue.submit(str(i), Steps()) for i in range(20)]
    assert line.enter("a").standing is Standing.WAITING and len(looked_at) == 20


def test_who_has_been_gone_for_a_minute_has_nothing_held_any_more(line):
    ticket, there = line.enter("a"), [True]
    ticket._connected = lambda: there[0]
    line.run()
    line.clock.now = 1000.0  # at rest, with the page open
    line.queue.host.tend()
    assert ticket.training.held and ticket.standing is Standing.DONE
    there[0] = False
    line.clock.now += queue_module.GONE_S
    line.queue.host.tend()
    assert ticket.training.held
    line.clock.now += 1
    line.queue.host.tend()
    assert not ticket.training.held and ticket.standing is Standing.FAILED and ticket.records == (1, 2, 3)
    assert "Nobody looked on" in ticket.error
    there[0] = True
    ticket.resume()
    line.run()
    assert (ticket.standing, ticket.error, count(ticket)) == (Standing.DONE, "", 3)


def test_a_step_of_an_owner_who_has_gone_is_told_to_halt(line):
    def leave(number):
        line.clock.now += queue_module.AWAY_S + 1
        line.queue.host.tend()

    ticket = line.enter("a", after=leave)
    line.run()
    assert (ticket.training.halted, ticket.standing, ticket.away) == (1, Standing.PAUSED, True)


def test_what_is_lost_says_so_leaves_the_line_and_can_begin_again(line):
    def lose(number):
        first.training.lost = second.training.lost = "The process has ended. Start again."
        raise bv.TrainingError("The process has ended. Start again.")

    first, second, third = line.enter("a", after=lose), line.enter("b"), line.enter("c")
    line.run()
    assert [ticket.standing for ticket in (first, second, third)] == [Standing.FAILED, Standing.FAILED, Standing.DONE]
    assert first.error == second.error == "The process has ended. Start again."
    first.training.after = None
    first.resume()
    line.run()
    assert (first.standing, first.error, count(first)) == (Standing.DONE, "", 3)
