"""Memory of trainings: how much is held, and for whom; what becomes of a ticket whose owner or process has gone."""

import pytest

import bertviz_core as bv
from bertviz_core.learning import Standing, presence, room
from bertviz_core.learning import queue as queue_module
from bertviz_core.learning.room import Room
from tests.test_learning_queue import Line, Steps, count


@pytest.fixture
def line(monkeypatch):
    monkeypatch.setattr(room, "read_limit", lambda: 4_500_000_000)
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


@pytest.fixture
def rested(line):
    """Four trainings that are done and hold 1 GB each, of 4.5: of the second one the owner has gone."""
    tickets = [line.enter(key) for key in "abcd"]
    there = dict.fromkeys("abcd", True)
    for ticket in tickets:
        ticket.owner._connected = lambda key=ticket.key: there[key]
    line.run()
    there["b"] = False
    return tickets


def test_who_has_gone_makes_room_at_once_and_only_where_it_is_needed(line, rested):
    assert all(ticket.training.held for ticket in rested)
    late = line.enter("e")
    assert [ticket.training.held for ticket in rested] == [True, False, True, True]
    assert rested[1].standing is Standing.FAILED and "made room" in rested[1].error
    assert rested[1].records == (1, 2, 3) and late.standing is Standing.WAITING


def test_who_looks_at_the_end_of_a_training_has_some_time_for_it(line, rested):
    held = line.enter("e")
    held.owner._connected = lambda: True
    line.clock.now += 1  # it is the last to leave the line
    line.run()
    with pytest.raises(bv.TrainingError, match=r"hold 4\.0 GB .* try again in a minute"):
        line.enter("f")
    line.clock.now += queue_module.RESTING_S + 1
    line.enter("f")
    assert sum(ticket.training.held for ticket in rested) == 2 and len(line.queue) == 1


def test_nobody_makes_room_in_vain(line, rested):
    line.clock.now += queue_module.RESTING_S + 1
    late = line.queue.submit("e", Steps(), visitor="e")
    late.training.room = Room(held=4_000_000_000, peak=9_000_000_000)
    with pytest.raises(bv.TrainingError, match="hold 4"):
        late.resume()
    assert all(ticket.training.held for ticket in rested)


def test_an_address_that_holds_most_of_the_memory_gives_way_to_others(line):
    crowd = [line.enter(f"cookie {i}", near="there") for i in range(4)]
    with pytest.raises(bv.TrainingError, match="hold 4"):
        line.enter("another cookie", near="there")
    late = line.enter("late", near="here")
    assert [ticket.standing for ticket in crowd] == [Standing.WAITING] * 3 + [Standing.FAILED]
    assert "made room" in crowd[3].error
    assert late.place == 1, "behind the one whose turn it is"
    with pytest.raises(bv.TrainingError, match="hold 4"):
        line.enter("another cookie", near="there")  # whoever holds less gives way to nobody


def test_one_that_has_had_its_turn_gives_way_where_it_holds_most_by_itself(line):
    late = line.queue.submit("late", Steps(), visitor="b", near="here")

    def come(number):
        if number == 1:
            with pytest.raises(bv.TrainingError, match="hold 4"):
                late.resume()  # it is the other's turn
            line.clock.now += queue_module.TURN_S + 1
            big.touch()
        else:
            late.resume()

    big = line.queue.submit("big", Steps(total=9, after=come), visitor="a", near="there")
    big.training.room = Room(held=4_000_000_000, peak=4_400_000_000)
    big.resume()
    line.run()
    assert late.standing is Standing.DONE
    assert big.standing is Standing.FAILED and "made room" in big.error and count(big) == 2


def test_what_has_taken_no_step_takes_no_memory(line):
    looked_at = [line.queue.submit(str(i), Steps()) for i in range(20)]
    assert line.enter("a").standing is Standing.WAITING and len(looked_at) == 20


def test_who_has_been_gone_for_a_minute_has_nothing_held_any_more(line):
    ticket, there = line.enter("a"), [True]
    ticket.owner._connected = lambda: there[0]
    line.run()
    line.clock.now = 1000.0  # at rest, with the page open
    line.queue.host.tend()
    assert ticket.training.held and ticket.standing is Standing.DONE
    there[0] = False
    line.clock.now += presence.GONE_S
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
        line.clock.now += presence.AWAY_S + 1
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
