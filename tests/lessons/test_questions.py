"""Lessons as a class is asked them: what can be answered, what is said of it, and the model's own numbers."""

import math
import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.formula.numbers import format_percent
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.handouts import open_lessons
from bertviz_core.lessons.lesson import Choose, Number, Pick, Slide, Write
from bertviz_core.lessons.questions import MOST_ANSWERS, list_questions
from bertviz_core.lessons.scene import Scene
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from tests.factory import random_checkpoint

NAMED = re.compile(r"[{}]|\bnan\b|[Cc]lick|\b[Rr]ing\b|\bcolumn\b")


@pytest.fixture(scope="module")
def asked(bundled):
    return {lesson.name: list(list_questions(lesson, scene)) for lesson, scene in open_lessons(bundled)}


def test_a_class_is_asked_what_phones_can_answer(asked):
    for lesson in LESSONS:
        numbers = [each.number for each in asked[lesson.name]]
        for number, step in enumerate(lesson.steps, 1):
            if isinstance(step.ask, Slide | Write):
                assert number not in numbers
            elif number not in numbers:
                assert (lesson.name, step.name) == ("attention", "direction")  # 144 cells to click
    assert sum(map(len, asked.values())) >= 30


def test_texts_are_filled_and_fit_a_projector(asked):
    for each in (each for questions in asked.values() for each in questions):
        said = [each.task, each.right, each.key, *(answer.says for answer in each.answers)]
        assert not [text for text in said if NAMED.search(text)], (each.step.name, said)
        assert each.task and each.right and len(each.task) < 140
        assert not re.search("[{}]", each.text + each.wrong)


def test_the_key_is_among_the_answers_or_a_number(asked):
    for each in (each for questions in asked.values() for each in questions):
        if isinstance(each.step.ask, Number):
            assert not each.answers and math.isfinite(each.place) and each.within >= 0
            continue
        assert 2 <= len(each.answers) <= MOST_ANSWERS
        right = each.answers[int(each.place)]
        assert right.label == each.key and right.says == each.right
        others = [answer.says for answer in each.answers if answer is not right]
        assert all(others) and each.right not in others if isinstance(each.step.ask, Pick) else True
        assert isinstance(each.step.ask, Choose | Pick)


def test_answers_that_are_tokens_name_their_position(asked, rome):
    (row,) = [each for each in asked["attention"] if each.step.name == "row"]
    assert [each.token for each in row.answers] == list(range(12))
    (heads,) = [each for each in asked["whatif"] if each.step.name == "worst"]
    assert {each.token for each in heads.answers} == {None} and len(heads.answers) == 72
    (words,) = [each for each in asked["whatif"] if each.step.name == "token"]
    assert [each.token for each in words.answers] == [1, 2, 3, 4, 5, 6, 7, 9, 10]


def test_the_numbers_of_the_answers_are_the_passes(asked, bundled, rome):
    (row,) = [each for each in asked["attention"] if each.step.name == "row"]
    scene = row.scene
    weights = rome[ATTENTION_WEIGHTS.in_layer(scene.layer)][scene.head, scene.token]
    assert [each.shown for each in row.answers] == [format_percent(float(each)) for each in weights]
    assert int(row.place) == int(np.argmax(weights)) and str(scene.layer) in row.task and str(scene.head) in row.task
    (words,) = [each for each in asked["words"] if each.step.name == "visible"]
    tops = [words.scene.trace[PROBS.fix(token=each.token)].max() for each in words.answers]
    assert [each.shown for each in words.answers] == [format_percent(float(each)) for each in tops]
    assert int(words.place) == int(np.argmin(tops))
    (heads,) = [each for each in asked["whatif"] if each.step.name == "worst"]
    losses = [float(each.shown.replace("−", "-")) for each in heads.answers]
    assert int(heads.place) == int(np.argmax(losses)) and min(losses) < 0


def test_the_words_beside_a_question_and_the_token_that_it_names(asked, bundled, rome):
    shown = {each.step.name: each for each in asked["whatif"] if each.tops}
    assert set(shown) == {"looks", "worst", "both", "without", "token"}
    for each in shown.values():
        shares = rome[PROBS.fix(token=8)]
        tops = np.argsort(-shares, kind="stable")[:5]
        names = [bundled.tokenizer.name(int(i)) for i in tops]
        assert each.tops == tuple(zip(names, map(float, shares[tops]), strict=True))
        assert f"“{each.tops[0][0]}”" in each.text + each.task
    assert {each.here for each in asked["whatif"] if "[MASK]" in each.text + each.task} == {8}
    assert {each.here for each in asked["tokens"] if "[MASK]" not in each.text + each.task} == {None}


def test_a_sentence_without_what_a_step_needs_has_the_lessons_own_in_its_place(bundled):
    scene = Scene(bv.run(bundled, "The cat sleeps."), 0, 0, 2)
    found = {each.step.name: each for each in list_questions(find_lesson("tokens"), scene)}
    assert not found["same"].own and found["same"].scene.tokens.count("do") == 2
    assert found["count"].own and found["count"].scene.tokens[1:3] == ["the", "cat"]


def test_a_model_without_words_is_asked_nothing_of_them(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind="base")), "a b c")
    assert list(list_questions(find_lesson("words"), Scene(trace, 0, 0, 1))) == []
