"""What a visitor may take: processor seconds, and sessions; who is over it reads a sentence, and loses nothing."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.sharing.line import Line
from bertviz_core.sharing.memory import SETTING, read_budget
from bertviz_core.ui.frame import budget as budget_module
from bertviz_core.ui.frame import fair, ready, streamlit_inside
from bertviz_core.ui.frame.budget import ALONE_S, NAMELESS, ONE, RUN_S, Budget
from bertviz_core.ui.frame.fair import count_places
from bertviz_core.ui.frame.visitor import COOKIE, NOBODY, name_payer, read_payer, read_visitor
from tests.test_gate import Clock

APP = str(Path(__file__).parents[1] / "app.py")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gone():
    """The sessions that are not connected any more."""
    return set()


@pytest.fixture
def budget(clock, gone):
    return Budget(clock, lambda session: session not in gone)


def test_who_takes_too_much_waits_until_it_is_paid_back(budget, clock):
    budget.charge("bob", 0.0)
    budget.charge("ann", ONE.room - RUN_S + 0.3)
    assert budget.count_wait("ann") == pytest.approx(0.3 / ONE.rate) and budget.count_wait("bob") == 0
    clock.now += 0.3 / ONE.rate + 0.01
    assert budget.count_wait("ann") == 0
    budget.charge("ann", 1.0)
    assert budget.count_wait("ann") == pytest.approx((1.0 + RUN_S) / ONE.rate, rel=0.1)


def test_who_clicks_all_the_time_stays_below_it(budget, clock):
    for _ in range(3600):
        budget.charge("ann", 0.1)
        budget.charge("bob", 0.1)
        clock.now += 0.5
        assert budget.count_wait("ann") == 0


def test_who_is_alone_may_take_all(budget, clock):
    for _ in range(100):
        budget.charge("ann", 10.0)
    assert budget.count_wait("ann") == 0
    budget.charge("bob", 0.1)
    assert budget.count_wait("ann") > 0
    clock.now += ALONE_S + 1
    budget.charge("ann", 1.0)
    assert budget.count_wait("ann") == 0


def test_of_those_without_a_name_those_of_one_address_pay_together(budget):
    here, there = (name_payer(NOBODY, near) for near in ("192.0.2.1", "192.0.2.2"))
    budget.charge("bob", 0.0)
    budget.charge(here, NAMELESS.room + 1.0)
    assert budget.count_wait(here) > 0 and budget.count_wait(there) == 0
    assert budget.count_wait(name_payer("ann", "192.0.2.1")) == 0


def test_visits_are_sessions_that_have_asked_for_a_page_and_are_connected(budget, gone):
    for name in ("ann", "bob", NOBODY):
        budget.admit(name, f"first of {name}")
        budget.admit(name, f"second of {name}")
    assert len(budget.list_admitted()) == 6
    gone.add("first of bob")
    assert len(budget.list_admitted()) == 5
    budget.dismiss("ann", "first of ann")
    assert len(budget.list_admitted()) == 4 and "first of ann" not in budget.list_admitted()
    assert budget.admit("ann", "first of ann") and len(budget.list_admitted()) == 5


def test_a_visitor_has_so_many_sessions_and_another_once_one_has_left(budget, gone):
    assert all(budget.admit("ann", f"session {i}") for i in range(ONE.sessions))
    assert not budget.admit("ann", "one more") and budget.is_over("ann", "one more")
    assert budget.admit("ann", "session 3") and budget.admit("bob", "another one")
    gone.add("session 3")
    assert budget.admit("ann", "one more") and not budget.is_over("ann", "one more")


def test_accounts_of_visitors_who_are_gone_are_forgotten(budget, clock, gone, monkeypatch):
    monkeypatch.setattr(budget_module, "_KNOWN", 10)
    budget.charge("greedy", 1000.0)
    for i in range(100):
        budget.admit(f"visitor {i}", f"session {i}")
        gone.add(f"session {i}")
    assert len(budget._accounts) <= 10
    assert budget.count_wait("greedy") == 0  # nobody else has run anything
    budget.charge("bob", 0.0)
    assert budget.count_wait("greedy") > 0


@pytest.mark.parametrize(
    ("cookies", "name"),
    [
        ({COOKIE: "ann"}, "ann"),
        ({}, NOBODY),
        ({COOKIE: "x" * 999}, NOBODY),
        ({COOKIE: name_payer(NOBODY, "192.0.2.1")}, NOBODY),
    ],
)
def test_a_visitor_is_known_by_a_cookie(monkeypatch, cookies, name):
    client = SimpleNamespace(client_context=SimpleNamespace(cookies=cookies))
    found = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(get_client={"a": client}.get))
    monkeypatch.setattr(streamlit_inside, "runtime", found)
    assert (read_visitor("a"), read_visitor("gone"), read_visitor()) == (name, NOBODY, NOBODY)


@pytest.fixture
def said(monkeypatch, clock, budget):
    """What pages say while they wait, which takes them five seconds of a clock that stands still otherwise."""
    texts = []

    @contextmanager
    def spin(text, **_):
        texts.append(text)
        clock.now += 5.0
        yield

    ready.prepare_process()
    monkeypatch.setattr(fair, "get_budget", lambda: budget)
    monkeypatch.setattr(fair.st, "spinner", spin)
    return texts


def open_app():
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["text"] = "A patient visitor."
    return at.run()


def test_a_page_that_has_to_wait_says_for_how_long_and_goes_on(said, budget):
    budget.charge("somebody else", 0.0)
    budget.charge(read_payer(), NAMELESS.room - RUN_S + 3 * NAMELESS.rate)
    at = open_app()
    assert not at.exception and "A patient visitor" in at.title[0].value
    assert "more than your share" in said[0] and "goes on by itself in 3 s" in said[0]
    assert not any("share" in text for text in said[1:])


def test_a_page_that_waits_looks_whether_something_else_was_asked_for(monkeypatch):
    ready.prepare_process()
    waits = iter([0.3] * 4)  # asked before the look and after it
    monkeypatch.setattr(
        fair,
        "get_budget",
        lambda: SimpleNamespace(
            admit=lambda *_: True, wait=lambda _: nullcontext(), count_wait=lambda _: next(waits, 0.0)
        ),
    )
    at = open_app()
    assert not at.exception and "A patient visitor" in at.title[0].value and next(waits, None) is None


def test_of_pages_that_waited_together_the_first_take_what_there_is(said, budget):
    budget.charge("somebody else", 0.0)
    line = Line(at_once=1, longest=10, show=lambda _: nullcontext())
    line_turn, seen = line.turn, []

    @contextmanager
    def turn():
        with line_turn():
            if not seen:  # another page of this visitor's had its turn meanwhile
                budget.charge(read_payer(), NAMELESS.room + NAMELESS.rate)
            seen.append(line.is_idle)
            yield

    line.turn = turn
    with fair.share(line):
        assert seen == [False, False] and "goes on by itself in 2 s" in said[0]
        assert budget.count_wait(NOBODY) == 0 and not budget.is_waiting("")
    assert line.is_idle


def test_one_page_too_many_is_told_what_to_do(said, budget, gone):
    for i in range(NAMELESS.sessions):
        budget.admit(NOBODY, f"session {i}")
    at = open_app()
    assert not at.exception and f"{NAMELESS.sessions} pages" in at.warning[0].value
    gone.add("session 7")
    at.button[0].click().run()
    assert not at.exception and "A patient visitor" in at.title[0].value


def test_all_who_send_no_cookie_have_half_of_the_room_together(monkeypatch):
    monkeypatch.setenv(SETTING, "1000")
    room = read_budget().bounds.visits
    assert count_places(NOBODY) == room // 2 < NAMELESS.sessions and count_places("ann") == ONE.sessions < room
    monkeypatch.setenv(SETTING, "nonsense")
    assert count_places(NOBODY) == NAMELESS.sessions
    budget = Budget(connected=lambda _: True)
    assert [budget.admit(NOBODY, f"session {i}", 2) for i in range(3)] == [True, True, False]
