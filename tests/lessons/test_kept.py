"""What the browser keeps of lessons: it comes back as it was, and nothing else is taken from a browser."""

import json

import pytest

from bertviz_core.lessons.lesson import Verdict
from bertviz_core.ui.frame.lesson import Answered
from bertviz_core.ui.frame.lesson_kept import LONGEST, read_kept, write_kept

ANSWERS = {
    ("attention", 0, "bundled 101-102 2 0 8"): Answered(2, Verdict(True, "“do” gets 55\xa0%."), False, 1),
    ("attention", 1, "bundled 101-102 2 0 8"): Answered(3, None, True, 0),
    ("words", 0, ""): Answered(0, Verdict(False, "<b>no</b>"), False, 2),
}
ROW = ["attention", 0, "", 0, None, False, 0]


def test_answers_come_back_as_they_were():
    assert read_kept(write_kept(ANSWERS)) == ANSWERS
    assert list(read_kept(write_kept(ANSWERS))) == list(ANSWERS)
    assert write_kept({}) == ""


def test_of_more_than_a_browser_keeps_the_last_ones_stay():
    many = {("attention", 0, f"{i} {'x' * 900}"): Answered(1) for i in range(1_000)}
    text = write_kept(many)
    assert LONGEST / 2 < len(text) <= LONGEST
    kept = list(read_kept(text))
    assert kept and kept == list(many)[-len(kept) :]


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{", "[1]", "[2,[]]", '[1,{"a":1}]', "[" * 100_000, '"text"', "[1,[[]]]", "[1,[null,3,{}]]"],
    ids=lambda text: text[:12],
)
def test_a_text_of_another_form_holds_no_answers(text):
    assert read_kept(text) == {}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, "nothing"),
        (0, 1),
        (1, -1),
        (1, 99),
        (1, "0"),
        (2, "x" * 1_001),
        (3, 1_001),
        (3, 1.5),
        (4, [True]),
        (4, [1, "x"]),
        (4, [True, 1]),
        (4, [True, "x" * 1_001]),
        (4, "x"),
        (5, 1),
        (6, None),
    ],
)
def test_an_answer_of_another_form_is_left_out(place, value):
    wrong = [*ROW[:place], value, *ROW[place + 1 :]]
    assert list(read_kept(json.dumps([1, [wrong, ROW]]))) == [("attention", 0, "")]
    assert read_kept(json.dumps([1, [wrong]])) == {}
