"""How a class goes on: each act from each state, and what is no answer."""

import pytest

from rooms.course import ASK, SHOWN, TOLD, begin, go, read_course
from rooms.errors import RefusedError
from rooms.plan import read_plan
from rooms.tally import list_least_understood
from tests.classes.plans import PLAN


def walk(course, *acts):
    for act in acts:
        course = go(course, act)
    return course


def test_next_leads_through_all_of_a_class_and_back_leads_back():
    course, seen = begin(2), []
    for _ in range(7):
        course = go(course, "next")
        seen.append((course.place, course.stage, course.open))
    assert seen == [
        (0, ASK, True), (0, SHOWN, False), (0, TOLD, False), (1, ASK, True), (1, SHOWN, False), (1, TOLD, False),
        (2, ASK, False),
    ]  # fmt: skip
    assert course.over
    with pytest.raises(RefusedError):
        go(course, "next")
    course = go(course, "back")
    assert (course.place, course.stage) == (1, TOLD)
    course = walk(course, "back", "back")
    assert (course.place, course.at_question) == (-1, False)
    with pytest.raises(RefusedError):
        go(course, "back")


def test_what_has_been_told_is_not_asked_again():
    told = walk(begin(2), "next", "next", "next", "back", "next")
    assert (told.place, told.stage) == (0, TOLD)
    assert (go(told, "next").place, go(told, "next").stage) == (1, ASK)


def test_a_question_is_voted_on_twice_at_most_and_only_from_the_answers():
    asked = walk(begin(1), "next")
    for wrong in (asked, walk(asked, "next", "next"), begin(1)):
        with pytest.raises(RefusedError):
            go(wrong, "again")
    again = walk(asked, "next", "again")
    assert (again.vote, again.stage, again.open) == (2, ASK, True)
    with pytest.raises(RefusedError):
        walk(again, "next", "again")


def test_answers_that_were_shown_can_be_taken_back_to_the_question():
    assert walk(begin(1), "next", "next", "back").open


def test_bars_are_switched_while_it_is_asked_and_hidden_by_what_follows():
    asked = walk(begin(2), "next", "bars")
    assert asked.bars and not go(asked, "bars").bars and not go(asked, "next").bars
    with pytest.raises(RefusedError):
        walk(begin(2), "bars")


def test_a_question_is_opened_again_from_the_end_alone():
    over = walk(begin(2), *["next"] * 7)
    assert (go(over, "open", 1).place, go(over, "open", 1).stage) == (1, TOLD)
    for to in (-1, 2, 99):
        with pytest.raises(RefusedError):
            go(over, "open", to)
    with pytest.raises(RefusedError):
        go(begin(2), "open", 0)


def test_a_room_is_locked_and_unlocked_anywhere():
    for course in (begin(1), walk(begin(1), "next"), walk(begin(1), *["next"] * 4)):
        assert go(course, "lock").locked and not walk(course, "lock", "lock").locked


@pytest.mark.parametrize("act", ["", "tell", "__init__", "Next"])
def test_there_is_no_other_act(act):
    with pytest.raises(RefusedError) as refused:
        go(begin(1), act)
    assert refused.value.status == 400


def test_a_course_and_a_plan_are_read_as_they_were_written():
    course = walk(begin(3), "next", "bars", "lock", "next", "again")
    assert read_course(course.write()) == course
    assert read_plan(PLAN.write()) == PLAN


READ = {
    "an index": (0, 2, "2"),
    "one behind the last": (0, 3, None),
    "one before the first": (0, -1, None),
    "yes": (0, True, None),
    "an index as text": (0, "1", None),
    "half of one": (0, 1.5, None),
    "nothing": (0, None, None),
    "a number": (2, "19.6", "19.6"),
    "a comma": (2, "19,6", "19.6"),
    "a minus sign": (2, "\N{MINUS SIGN}3", "-3"),
    "a number that is none": (2, "nan", None),
    "an endless one": (2, "1e999", None),
    "a long one": (2, "1" * 12, None),
    "no text": (2, 19.6, None),
    "another alphabet’s digits": (2, "١٢", "12"),
}


@pytest.mark.parametrize(("question", "typed", "kept"), READ.values(), ids=READ)
def test_an_answer_is_kept_as_one_of_a_kind_or_not_at_all(question, typed, kept):
    assert PLAN.questions[question].read(typed) == kept


def test_a_number_is_right_within_what_is_said_and_no_further():
    number = PLAN.questions[2]
    assert [number.is_right(each) for each in ("19.5", "19.7", "19.49", "19.71")] == [True, True, False, False]


def test_least_understood_is_the_smallest_share_of_right_answers_not_the_fewest_of_them():
    votes = {(0, 1): {"2": 3, "1": 5}, (1, 1): {"0": 2}, (2, 1): {"3": 4}}
    rows = list_least_understood(PLAN, begin(3), votes)
    assert [(row["place"], row["right"], row["answers"]) for row in rows] == [(2, 0, 4), (0, 3, 8), (1, 2, 2)]
