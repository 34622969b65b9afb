"""What comes in the place of a click, but from no component of ours."""

from contextlib import nullcontext

import pytest

from bertviz_core.errors import BusyError
from bertviz_core.ui.frame import resources, state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.walked import read_cell
from bertviz_core.ui.walk import way

FORGED = [
    5,
    -1,
    None,
    True,
    10**9,
    1.5,
    [],
    {},
    "",
    "x",
    "x\ud800",
    "9" * 5000,
    {"a": [1]},
    [1, 2],
    [1, "2"],
    [1, 2, 3],
    ",",
    "1,2,3",
    "-1,-1",
    "٣,٣",
    "1",
    "1,2",
    {"layer": 3, "level": "head", "component": None},
    {"text": "x\ud800", "pair": None},
]
FORMS = {
    state.is_text: ["", "x", "9" * 5000, ",", "1,2,3", "-1,-1", "٣,٣", "1", "1,2"],
    state.is_number: [5],
    state.is_record: [{}, {"layer": 3, "level": "head", "component": None}],
    way.is_number: [5, "1"],
    way.is_head: ["1,2"],
}


@pytest.mark.parametrize(("form", "taken"), FORMS.items(), ids=[form.__name__ for form in FORMS])
def test_what_no_component_of_ours_has_sent_is_passed_over(monkeypatch, form, taken):
    """A program can send anything in the place of a click: nobody sees an error for it, and none is logged."""
    sent, acted, key = {}, [], Key("told", None)
    monkeypatch.setattr(state, "read", lambda _: sent)
    take = state.on_event(key, "go", acted.append, form)
    for said in FORGED:
        sent["go"] = said
        take()
    assert acted == taken
    sent.clear()
    take()
    for odd in (None, "text", ["go"], 5):
        sent = odd
        take()
    assert acted == taken


@pytest.mark.parametrize(
    "address", ["", "nope[token=1]", "embeddings.sum", "embeddings.sum[token=99,hidden=0]", "x", "1+1"]
)
def test_a_story_is_told_of_a_number_of_the_pass_alone(rome, address):
    """The click may come when the drawer has been closed, or of a link that names no number."""
    walked = (read_cell(address),) if address else ()
    assert way.take_story(rome, walked) == walked


def test_a_story_takes_a_turn_and_the_drawer_stays_where_there_is_none(rome, monkeypatch):
    walked, said, turns = (read_cell("embeddings.sum[token=2,hidden=0]"),), [], []

    def take_turn():
        turns.append(len(turns))
        if len(turns) == 1:
            raise BusyError("Many wait")
        return nullcontext()

    monkeypatch.setattr(resources, "take_turn", take_turn)
    monkeypatch.setattr(resources.st, "error", lambda text, icon: said.append(text))
    assert way.take_story(rome, walked) == walked and said == ["Many wait"]
    assert way.take_story(rome, walked)[0] == walked[0] and len(way.take_story(rome, walked)) > 1
    assert len(turns) == 2, "what is known already has none"
