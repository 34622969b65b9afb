"""Tables as HTML: bars to the side of their sign, as long as their numbers; names as they stand."""

import re

import pytest

from bertviz_core.formula.dims import AXES
from bertviz_core.showing.tensors import _tell_missing
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.panels.aligned import Numbers
from bertviz_core.ui.panels.tables import Column, render_table

TINT = r"color-mix\(in srgb,(#123456|var\(--bv-negative\)) 33%,transparent\)"
STOPS = re.compile(rf"transparent ([\d.]+)%,{TINT} [\d.]+%,{TINT} ([\d.]+)%")


@pytest.mark.parametrize(
    ("signed", "value", "bar"),
    [
        (True, 2.0, (50, 100)),
        (True, -1.0, (25, 50)),
        (True, -2.0, (0, 50)),
        (False, 1.0, (0, 50)),
        (False, 2.0, (0, 100)),
    ],
)
def test_a_bar_lies_to_the_side_of_its_sign(signed, value, bar):
    (cell,) = Column("x", [value], "#123456", 2.0, signed).cells()
    start, tint, same, stop = STOPS.search(cell).groups()
    assert (float(start), float(stop)) == bar
    assert tint == same == ("#123456" if value > 0 else "var(--bv-negative)")


def test_where_some_are_below_0_bars_begin_and_end_in_the_middle():
    values = (2.0, -2.0, -1.0, 1.0)
    cells = Numbers("x", "", list("abcd"), list("wxyz"), values, 2.0, "red").write()
    bars = [re.search(r"left:([\d.]+)%;width:([\d.]+)%", cell).groups() for cell in cells]
    assert [tuple(map(float, bar)) for bar in bars] == [(50, 50), (0, 50), (25, 25), (50, 25)]
    (alone,) = Numbers("x", "", ["a"], ["w"], (1.0,), 2.0, "red").write()
    assert "left:0.00%;width:50.00%" in alone


@pytest.mark.parametrize("largest", [-4.0, 4.0])
def test_a_bar_is_full_at_the_largest_number_in_size(largest):
    cells = Column("x", [1.0, largest, -1.0], "#123456", signed=True).cells()
    bars = [tuple(map(float, STOPS.search(cell).group(1, 4))) for cell in cells]
    assert bars == [(50, 62.5), (0, 50) if largest < 0 else (50, 100), (37.5, 50)]


@pytest.mark.parametrize("opens", [None, ("token", [0])])
def test_names_stand_as_they_are(opens):
    table = render_table("<what>", ["<b>&"], [Column("<i>", ["<u>"])], (), opens)
    assert "&lt;b&gt;&amp;" in table and "&lt;i&gt;" in table and "&lt;u&gt;" in table and "&lt;what&gt;" in table
    assert not any(tag in table for tag in ("<b>&", "<i>", "<u>", "<what>"))


def test_what_is_shown_of_a_tensor_is_named_by_its_first_and_last():
    token, hidden = AXES["token"].name, AXES["hidden"].name
    assert _tell_missing((12, 384), range(12), range(16, 32), token, hidden) == "hidden 16–31 of 384"
    assert _tell_missing((12, 8), range(12), range(8), token, hidden) == ""


def test_in_another_sentence_no_token_is_chosen_or_hidden(monkeypatch):
    session = {"mask": "2,3", "token": "3", "key_token": "1", "window": "4", "layer": "2", "head": "1"}
    monkeypatch.setattr(state.st, "session_state", session)
    choices.use_sentence("the cat", "the dog")
    chosen = {key: session[key] for key in ("text", "pair", "mask", "token", "key_token", "window", "layer", "head")}
    assert chosen == {
        "text": "the cat",
        "pair": "the dog",
        "mask": "",
        "token": "",
        "key_token": "",
        "window": "",
        "layer": "2",
        "head": "1",
    }
