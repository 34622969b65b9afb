"""The quiz: two forms of the same twelve questions, one try each, and nothing of what was right before the end."""

import re

import pytest

from bertviz_core.lessons.catalogue import LESSONS, QUIZZES
from bertviz_core.lessons.lesson import Choose, Number, Pick, Verdict
from bertviz_core.lessons.marking import fill, is_ready, list_options, mark_index, mark_number, read_alike, work_out
from bertviz_core.lessons.quiz import AFTER, BEFORE, PARTS
from bertviz_core.ui.frame.lesson import Answered
from bertviz_core.ui.views import learn_quiz
from tests.lessons.answers import list_right
from tests.lessons.scenes import make_scene
from tests.lessons.test_strip import count_covers, open_step, read_words
from tests.often import seldom

__all__ = ["open_step"]
ROW = re.compile(r"<tr><th>([^<]*)</th>(.*?)</tr>")


def remember(form, right):
    """Answers to the first questions, some right and some not."""
    return {
        (form.name, i, ""): Answered(verdict=Verdict(each, f"Said of {i}."), wrong=not each)
        for i, each in enumerate(right)
    }


def test_each_lesson_is_asked_about_twice_and_each_form_has_a_sentence_of_its_own():
    assert [part.lesson for part in PARTS] == list(LESSONS)
    assert [i for part in PARTS for i in part.questions] == list(range(12)) and len(BEFORE.steps) == 12
    assert all(len(part.questions) == 2 for part in PARTS)
    assert len({BEFORE.text, AFTER.text, *(lesson.text for lesson in LESSONS)}) == 3


@pytest.mark.parametrize("form", QUIZZES, ids=lambda form: form.name)
def test_every_question_makes_sense_for_the_sentence_and_asks_for_no_long_work(bundled, form):
    scene = make_scene(bundled, form.text)
    assert read_alike(form.text, scene)
    for step in form.steps:
        assert isinstance(step.ask, Choose | Number | Pick) and not step.costly
        assert is_ready(step, scene), step.name
        fill(f"{step.text} {step.task}", work_out(form.name, step, scene).numbers)


def test_what_is_asked_differs_between_the_forms_and_is_covered(bundled):
    asked = []
    for form in QUIZZES:
        scene = make_scene(bundled, form.text)
        worked = [work_out(form.name, step, scene) for step in form.steps]
        asked.append(
            [
                (fill(f"{step.text} {step.task}", each.numbers), list_options(step, scene, each))
                for step, each in zip(form.steps, worked, strict=True)
            ]
        )
        assert all({"headline", "drawer"} <= set(step.covers) for step in form.steps)
        assert all("page" in step.covers or isinstance(step.ask, Pick) for step in form.steps)
    assert sum(one == other for one, other in zip(*asked, strict=True)) == 0
    before, after = (list_right(bundled, form) for form in QUIZZES)
    assert sum(one != other for one, other in zip(before, after, strict=True)) >= 4


def test_who_answers_every_question_alike_has_few_right(bundled):
    for form in QUIZZES:
        scene = make_scene(bundled, form.text)
        for guess in range(2):
            right = [
                mark_number(step, scene, work_out(form.name, step, scene), str(guess)).right
                if isinstance(step.ask, Number)
                else mark_index(step, scene, work_out(form.name, step, scene), guess).right
                for step in form.steps
            ]
            assert sum(right) <= 4


@pytest.mark.parametrize("number", range(len(BEFORE.steps)))
@pytest.mark.parametrize("right", [True, seldom(False)])
def test_an_answer_is_noted_without_a_word_of_whether_it_is_right(open_step, number, right):
    step = BEFORE.steps[number]
    asked = open_step(BEFORE.name, number + 1, step.page, text=BEFORE.text, open=step.fold)
    answered = {(BEFORE.name, number, ""): Answered(verdict=Verdict(right, "It is so."), wrong=not right)}
    at = open_step(BEFORE.name, number + 1, step.page, {"lesson-answers": answered}, text=BEFORE.text, open=step.fold)
    assert not at.exception and not asked.exception
    assert count_covers(at) == count_covers(asked)
    said, labels = read_words(at), [each.label for each in at.main.get("button")]
    assert "Noted" in said and "It is so." not in said
    assert not {"Show me", "Hint", "Check"} & set(labels) and ">Why<" not in said
    assert "Hint" not in [each.label for each in asked.main.get("button")]
    assert any(label.startswith("Next: ") for label in labels)


@pytest.mark.parametrize("page", ["learn", "heads", "predictions", ""])
def test_no_other_page_tells_anything_while_the_quiz_asks(open_step, page):
    for number, step in enumerate(BEFORE.steps, 1):
        if step.name in ("direction", "sum", "looks") and step.page != page:
            at = open_step(BEFORE.name, number, page, text=BEFORE.text)
            assert count_covers(at) == 1 and not at.get("plotly_chart") and "bv-card-picture" not in read_words(at)


def test_while_a_page_is_covered_its_address_says_what_it_said(open_step):
    number, step = next((i, step) for i, step in enumerate(BEFORE.steps, 1) if "page" in step.covers)
    at = open_step(BEFORE.name, number, step.page, text=BEFORE.text, word="rome")
    assert count_covers(at) and at.query_params["word"] == "rome"


def test_no_question_holds_the_answer_of_another(bundled):
    """Nor its own, but among its options."""
    for form in QUIZZES:
        scene = make_scene(bundled, form.text)
        worked = [work_out(form.name, step, scene) for step in form.steps]
        for i, (step, each) in enumerate(zip(form.steps, worked, strict=True)):
            asked = fill(f"{step.text} {step.task}", each.numbers) + " ".join(list_options(step, scene, each))
            looks = next(j for j, other in enumerate(form.steps) if other.name == "looks")
            assert i == looks or worked[looks].numbers["p1"] not in asked


def test_a_question_has_its_one_try_at_any_layer(open_step):
    answered = {(BEFORE.name, 0, ""): Answered(verdict=Verdict(False, "It is so."), wrong=1)}
    at = open_step(BEFORE.name, 1, BEFORE.steps[0].page, {"lesson-answers": answered}, text=BEFORE.text, layer="5")
    assert "Noted" in read_words(at)


def test_another_sentence_is_not_asked_about(open_step):
    at = open_step(BEFORE.name, 3, BEFORE.steps[2].page, text=AFTER.text)
    labels = [each.label for each in at.main.get("button")]
    assert not at.exception and "Check" not in labels
    assert any(label.startswith("Take “The price of the ticket") for label in labels)


def test_a_form_goes_on_at_its_first_question_without_an_answer(monkeypatch):
    led = []
    monkeypatch.setattr(learn_quiz, "show_way", lambda form, number, *_: led.append((form, number)))
    known = Answered(verdict=Verdict(True, "It is so."))
    for given in (range(0), range(7), range(1, 12), range(11), range(12)):
        answered = tuple(known if i in given else Answered() for i in range(12))
        learn_quiz._show_start("before", BEFORE, answered)
    assert led == [(BEFORE, number) for number in (0, 7, 0, 11)]


def read_results(at):
    titles = {lesson.title for lesson in LESSONS}
    rows = ROW.findall(read_words(at))
    return {name: re.findall(r"(\d+) of \d+", cells) for name, cells in rows if name in titles}


def test_what_was_right_is_said_for_each_lesson_once_a_form_is_answered(open_step):
    before = [i % 3 == 0 for i in range(12)]
    after = [i != 4 for i in range(12)]
    part = remember(BEFORE, before[:7])
    at = open_step("", "", "learn", {"lesson-answers": part}, text=BEFORE.text)
    assert read_results(at) == {} and "7 of 12 answered" in str([each.label for each in at.main.get("button")])
    whole = remember(BEFORE, before) | remember(AFTER, after)
    at = open_step("", "", "learn", {"lesson-answers": whole}, text=BEFORE.text)
    rights = zip(before, after, strict=True)
    counted = [[str(sum(each)) for each in zip(*pair, strict=True)] for pair in zip(rights, rights, strict=False)]
    assert read_results(at) == {lesson.title: counts for lesson, counts in zip(LESSONS, counted, strict=True)}
    assert "<b>4 of 12</b>" in read_words(at) and "<b>11 of 12</b>" in read_words(at)


def test_the_end_of_the_second_form_alone_says_what_each_answer_was(open_step):
    for form, told in ((BEFORE, False), (AFTER, True)):
        answered = remember(form, [True] * 11 + [False])
        at = open_step(form.name, "end", "learn", {"lesson-answers": answered}, text=form.text)
        said = read_words(at)
        assert f"{form.title}: 11 of 12 right" in said
        assert ("Right: Said of 3." in said, "Not right: Said of 11." in said) == (told, told)
    odd = learn_quiz.render_answers(AFTER, (Answered(verdict=Verdict(True, "It is “<b>”.")), *[Answered()] * 11))
    assert "It is “&lt;b&gt;”." in odd and odd.count("<li>") == 1
    unfinished = remember(AFTER, [True, False])
    at = open_step(AFTER.name, "end", "learn", {"lesson-answers": unfinished}, text=AFTER.text)
    assert "2 of 12 answered" in read_words(at) and "Said of 1." not in read_words(at)
