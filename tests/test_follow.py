"""What a click on a cell chooses beside opening the drawer: only what the page that is open follows."""

import pytest

from bertviz_core.formula.address import read_address
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.follow import explain_clicked, follow, forget_followed, note
from bertviz_core.ui.frame.keys import COMPONENT, WALK, WHERE, Key

LAYER = "encoder.layer.1.attention.output"
SUM, ROW = f"{LAYER}.residual[token=2,hidden=7]", read_address(f"{LAYER}.residual[token=2]")
AWAY = "encoder.layer.1.attention.self.probs[head=0,query=1,key=2]"
OTHER = Key("other", "")


@pytest.fixture(autouse=True)
def session(monkeypatch):
    kept = {}
    monkeypatch.setattr(state.st, "session_state", kept)
    return kept


def click(cell):
    explain_clicked(read_address(cell))
    assert state.read(WALK) == cell


def test_a_noted_axis_is_chosen_of_any_cell_that_has_it(session):
    note("hidden", COMPONENT)
    click(SUM)
    assert session[COMPONENT.name] == "7" and "again" not in session  # the page draws it by itself
    click(AWAY)
    assert session[COMPONENT.name] == "7"


@pytest.mark.parametrize(("cell", "chosen"), [
    (SUM, {"other": "7", "where": "after"}),
    (f"{LAYER}.residual[token=3,hidden=7]", {}),
    (f"{LAYER}.dense[token=2,hidden=7]", {}),
    (AWAY, {}),
])  # fmt: skip
def test_a_followed_vector_is_chosen_with_what_belongs_to_it_and_the_page_runs_again(session, cell, chosen):
    follow(ROW, "hidden", OTHER, {WHERE: "after"})
    click(cell)
    assert {name: session[name] for name in ("other", "where") if name in session} == chosen
    assert session.get("again", False) == bool(chosen)


@pytest.mark.parametrize(
    "begin", [lambda: note("hidden", OTHER), lambda: follow(ROW, "hidden", OTHER)], ids=["noted", "followed"]
)
def test_another_page_follows_nothing_of_the_one_before(session, begin):
    begin()
    forget_followed()
    click(SUM)
    assert "other" not in session and "again" not in session
