"""What the browser keeps of lessons: it comes back as it was, and nothing else is taken from a browser."""

import base64
import json
import random
import re
import zlib

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bertviz_core.lessons.lesson import Verdict
from bertviz_core.ui.frame.lesson import Answered
from bertviz_core.ui.frame.lesson_kept import LONGEST, read_kept, write_kept
from edge.inside import read_asked
from edge.line import asks_too_much, is_of_a_page

ANSWERS = {
    ("attention", 0, "bundled 101-102 2 0 8"): Answered(2, Verdict(True, "“do” gets 55\xa0%."), False, 1),
    ("attention", 1, "bundled 101-102 2 0 8"): Answered(3, None, True, 0),
    ("words", 0, ""): Answered(0, Verdict(False, "<b>no</b>"), False, 2),
}
ROW = ["attention", 0, "", 0, None, False, 0]


def write(said):
    """A text as a browser may keep it, whatever it says."""
    packed = zlib.compress(said if isinstance(said, bytes) else said.encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_answers_come_back_as_they_were():
    assert read_kept(write_kept(ANSWERS)) == ANSWERS
    assert list(read_kept(write_kept(ANSWERS))) == list(ANSWERS)
    assert write_kept({}) == ""


def test_of_more_than_a_browser_keeps_the_last_ones_stay():
    drawn = random.Random(0)
    many = {("attention", 0, f"{drawn.getrandbits(900):x}"): Answered(1) for _ in range(1_000)}
    text = write_kept(many)
    assert LONGEST / 2 < len(text) <= LONGEST
    kept = list(read_kept(text))
    assert kept and kept == list(many)[-len(kept) :]


def test_a_browser_may_say_all_that_it_keeps():
    """Whoever had answered most of the lessons was hung up on, each time, and then had lost all answers."""
    says = "“do” gets 55\xa0% of it, “as” 12\xa0%: “{}” [and] 'more' \\ than that.".format
    many = {("attention", i % 5, f"{i:016x}"): Answered(1, Verdict(True, says(i)), False, 1) for i in range(300)}
    text = write_kept(many)
    assert read_kept(text) == many and re.fullmatch(r"[\w-]+", text)
    for kept in (text, "x" * LONGEST):
        said = BackMsg()
        events = json.dumps([{"event": "kept", "value": kept}])
        said.rerun_script.widget_states.widgets.append(WidgetState(id="$$x", json_trigger_value=events))
        asked = read_asked(said)
        assert not asks_too_much(asked) and is_of_a_page(asked)


@pytest.mark.parametrize(
    "said",
    ["", "null", "[]", "{", "[1]", "[2,[]]", '[1,{"a":1}]', "[" * 100_000, '"text"', "[1,[[]]]", "[1,[null,3,{}]]",
     b"\xff\xfe", "[1,[" + " " * 10_000_000 + "]]"],
    ids=lambda said: said[:12],
)  # fmt: skip
def test_a_text_of_another_form_holds_no_answers(said):
    assert read_kept(write(said)) == {}


@pytest.mark.parametrize("text", ["", "null", "x", "%", "ü", "[1,[]]", "\ud800", "A" * 1_000, write("[1,[]]")[:-4]])
def test_a_text_that_cannot_be_unpacked_holds_no_answers(text):
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
        (2, "\ud800"),
        (3, 1_001),
        (3, 1.5),
        (4, [True]),
        (4, [1, "x"]),
        (4, [True, 1]),
        (4, [True, "x" * 1_001]),
        (4, [True, "x\udfff"]),
        (4, "x"),
        (5, 1),
        (6, None),
    ],
)
def test_an_answer_of_another_form_is_left_out(place, value):
    wrong = [*ROW[:place], value, *ROW[place + 1 :]]
    assert list(read_kept(write(json.dumps([1, [wrong, ROW]])))) == [("attention", 0, "")]
    assert read_kept(write(json.dumps([1, [wrong]]))) == {}
