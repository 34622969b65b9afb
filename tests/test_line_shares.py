"""How many turns a visitor of a line has at a time, where that is another number for each and changes."""

from contextlib import nullcontext

import pytest

from bertviz_core.sharing import line as line_module
from tests.test_line import Visitors


def test_who_has_taken_much_has_a_turn_while_nobody_else_has_any():
    line = Visitors(4, each=lambda who: 0 if who == "greedy" else 2)
    for name in ("greedy 1", "greedy 2", "ann 1", "ann 2"):
        line.come(name)
    assert line.at_work() == {"greedy 1", "ann 1", "ann 2"}
    line.leave("greedy 1", "ann 2")
    line.come("bob 1")
    assert line.at_work() == {"ann 1", "bob 1"}
    line.leave("ann 1", "bob 1")
    assert line.begun["greedy 2"].wait(60)


def test_who_cannot_be_told_how_many_turns_it_has_stands_in_nobodys_way():
    known = {}
    line = line_module.Line(1, 9, lambda _: nullcontext(), lambda: "ann", known.__getitem__)
    with pytest.raises(KeyError), line.turn():
        pytest.fail("a turn")
    known["ann"] = 1
    with line.turn():
        assert not line._waiting
    assert line.is_idle
