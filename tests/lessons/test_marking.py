"""How answers are marked, on steps made for it."""

import math

import pytest

from bertviz_core.formula.address import Address
from bertviz_core.lessons import marking
from bertviz_core.lessons.lesson import Choose, Need, Number, Option, Pick, Slide, Step, Worked, Wrong, otherwise

TYPED = {
    "2.3": 2.3, "2,3": 2.3, " 12 ": 12, "1,536": 1536, "1,536.5": 1536.5, "30,522,000": 30_522_000, "−0.3": -0.3,
    "-0,25": -0.25, "+7": 7, "55 %": 55, "55%": 55, "55\N{NO-BREAK SPACE}%": 55, "− 3": -3, "1 536": 1536, ".5": 0.5,
    "5.": 5, "0": 0, "007": 7, "0,125": 0.125, "1,5": 1.5, "0" * 39 + "1": 1,
}  # fmt: skip
NONE = (
    "twelve", "", "   ", "%", "−", ".", ",", "1.2.3", "1,2,3", "12 apples", "1e5", "0x10", "1_000", "inf", "-inf",
    "nan", "∞", "½", "٣", "5" * 41, "5" * 10**6, "5\n6x", "--3", "3-", "+-3", "55 %%", "{n}",
)  # fmt: skip
WORKED = Worked(2.0, {"n": "two", "m": "half of it"}, Address("embeddings.sum"))


def make(ask, **texts):
    known = {
        "at": "",
        "misconception": "",
        "wrong": (Wrong(lambda t: t.answer == 1, "{m}."), Wrong(otherwise, "Not {n}.")),
    }
    return Step("a", "A", "attention", "", "", "", ask, lambda _: WORKED, **{**known, "right": "{n}!", **texts})


def choose(**how):
    options = (Option("{m}", "a right", "a wrong"), Option("b", "b right", ""), Option("c", "c is {n}", "c wrong"))
    return make(Choose(options, **how))


@pytest.mark.parametrize("text", TYPED)
def test_numbers_as_people_type_them(text):
    assert marking.read_number(text) == pytest.approx(TYPED[text])


@pytest.mark.parametrize("text", NONE, ids=lambda text: repr(text[:12]))
def test_what_is_no_number(text):
    assert marking.read_number(text) is None
    verdict = marking.mark_number(make(Number(0.1)), None, WORKED, text)
    assert (verdict.right, verdict.counted) == (False, False) and "digits" in verdict.says


@pytest.mark.parametrize(
    ("typed", "right"),
    [("2", 1), ("2.1", 1), ("1.9", 1), ("2.10", 1), ("2,1", 1), ("2.11", 0), ("1.89", 0), ("-2", 0), ("200 %", 0)],
)
def test_a_number_may_be_as_far_from_the_key_as_the_step_says(typed, right):
    verdict = marking.mark_number(make(Number(0.1)), None, WORKED, typed)
    assert verdict.counted and verdict.right == bool(right)
    assert verdict.says == ("two!" if right else "Not two.")


@pytest.mark.parametrize(("typed", "key"), [("2,004", 2.0), ("1,536", 1536.0), ("1,536", 1.54), ("−2,004", -2.0)])
def test_a_comma_before_three_digits_is_read_both_ways(typed, key):
    worked = Worked(key, WORKED.numbers, WORKED.why)
    assert marking.mark_number(make(Number(0.1)), None, worked, typed).right


@pytest.mark.parametrize("key", [0.3, 1.1, 12.7, 1536.4, -0.7])
@pytest.mark.parametrize("within", [0.1, 0.02, 0.01, 0.0])
def test_the_edge_of_what_is_right_is_right(key, within):
    worked = Worked(key, WORKED.numbers, WORKED.why)
    for sign in (1, -1):
        for more, right in ((0, True), (0.003, False)):
            typed = f"{key + sign * (within + more):.3f}"
            assert marking.mark_number(make(Number(within)), None, worked, typed).right is right, typed


def test_the_first_mistake_that_fits_is_said():
    step = make(Number(0.1))
    assert marking.mark_number(step, None, WORKED, "1").says == "half of it."
    assert marking.mark_number(step, None, WORKED, "7").says == "Not two."


def test_what_was_answered_can_be_told():
    step = make(Number(0.1), tell=lambda tried: {"v": f"{tried.answer:g}"}, wrong=(Wrong(otherwise, "{v}, {n}"),))
    assert marking.mark_number(step, None, WORKED, "7,5").says == "7.5, two"


def test_an_option_is_told_what_is_wrong_with_it_alone():
    assert marking.mark_index(choose(), None, WORKED, 0) == marking.Verdict(False, "a wrong")
    assert marking.mark_index(choose(), None, WORKED, 2) == marking.Verdict(True, "c is two")


@pytest.mark.parametrize("how", [{"once": True}, {"run": lambda scene: {}}], ids=["once", "run"])
def test_a_prediction_has_one_try_and_so_hears_the_answer(how):
    step = choose(**how)
    assert step.once and not choose().once
    assert marking.mark_index(step, None, WORKED, 0) == marking.Verdict(False, "a wrong c is two")
    assert marking.mark_index(step, None, WORKED, 1) == marking.Verdict(False, "c is two")
    assert marking.mark_index(step, None, WORKED, 2) == marking.Verdict(True, "c is two")


def test_what_is_picked_is_marked_by_its_index():
    step = make(Pick(lambda scene: ("x", "y", "z"), lambda scene, cell: None))
    assert marking.mark_index(step, None, WORKED, 2) == marking.Verdict(True, "two!")
    assert marking.mark_index(step, None, WORKED, 1) == marking.Verdict(False, "half of it.")
    assert marking.list_options(step, None, WORKED) == ("x", "y", "z")
    assert marking.tell_key(step, None, WORKED) == "z"


def test_a_slider_is_right_where_it_says():
    step = make(Slide(lambda _: (0, 9), lambda _: 5, lambda _, value: 2 <= value <= 3, lambda *_: "", lambda *_: ()))
    assert [marking.mark_slide(step, None, WORKED, value).right for value in (1.99, 2, 3, 3.01)] == [0, 1, 1, 0]
    assert not marking.mark_slide(step, None, WORKED, math.nan).right


def test_options_are_named_with_their_numbers():
    assert marking.list_options(choose(), None, WORKED) == ("half of it", "b", "c")
    assert marking.tell_key(choose(), None, WORKED) == "c"
    assert marking.list_options(make(Number(0.1)), None, WORKED) == ()


def test_a_text_without_its_number_is_an_error():
    with pytest.raises(KeyError):
        marking.fill("{n} and {missing}", WORKED.numbers)
    assert marking.fill("{n}", {"n": "“{curly}”"}) == "“{curly}”"


def test_what_a_step_needs():
    assert marking.is_ready(make(Number(1)), None)
    never, always = Need("none", lambda scene: False), Need("some", lambda scene: True)
    assert not marking.is_ready(make(Number(1), needs=(always, never)), None)
    assert marking.tell_lack(make(Number(1), needs=(always, never)), None) == "none"


def test_a_place_in_a_pass_is_worked_out_once(rome):
    calls = []
    step = make(Number(1))
    step = type(step)(**{**step.__dict__, "work": lambda scene: calls.append(scene.token) or WORKED})
    for token in (3, 3, 4):
        scene = marking.Scene(rome, 1, 2, token)
        assert marking.work_out("made for this", step, scene) == WORKED
    assert calls == [3, 4]


def test_the_score():
    assert marking.tell_score([True, True, False], [True, False, False]) == "2 of 3 right, 1 at the first try"
    assert marking.tell_score([], []) == "0 of 0 right, 0 at the first try"
