"""Lessons on their pages: what is asked, what stays covered until the answer, and what an answer leads to."""

import re
from html import escape
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.lesson import Slide, Verdict, Write
from bertviz_core.lessons.marking import fill, work_out
from bertviz_core.lessons.quiz import BEFORE
from bertviz_core.ui.frame.lesson import KEPT, Answered, Sitting, name_pass
from bertviz_core.ui.frame.site import PAGES
from tests.factory import random_checkpoint
from tests.lessons.scenes import make_scene
from tests.often import one_in

APP = str(Path(__file__).parents[2] / "app.py")
ATTENTION = find_lesson("attention")
TITLES = {info.title for info in PAGES}
_NAMED = re.compile('data-of="([^"]*)"')  # what cards, and what covers them, say that they show
LAYERS = "layers"  # opens where the answer appears, so at a layer of its own
STEPS = [(lesson, number) for lesson in LESSONS for number in range(len(lesson.steps))]


@pytest.fixture
def open_step(monkeypatch):
    """Opens the whole app at a page: `AppTest.switch_page` would run the page alone, without what is around it."""
    navigate = st.navigation

    def open_page(lesson, step, page="", state=(), **query):
        def go(pages, **looks):
            navigate(pages, **looks)
            asked = next(each for each in pages if each.url_path == page)
            asked._can_be_called = True
            return asked

        monkeypatch.setattr(st, "navigation", go)
        at = AppTest.from_file(APP, default_timeout=120)
        at.query_params.update({"lesson": lesson, "step": str(step), **query})
        for name, value in dict(state).items():
            at.session_state[name] = value
        return at.run()

    return open_page


def read_html(at):
    return [one.proto.body for one in at.main.get("html")]


def read_words(at):
    """All that is written on the page."""
    texts = [one.value for kind in ("title", "caption", "markdown", "info") for one in at.main.get(kind)]
    return "\n".join([*texts, *read_html(at)])


def count_covers(at):
    return sum(text.startswith('<div class="bv-cover') for text in read_html(at))


@pytest.mark.parametrize("at", one_in(4, STEPS, lambda at: f"{at[0].name}-{at[1] + 1}"))
def test_every_step_is_asked_on_its_page_covered_until_it_is_answered(open_step, bundled, at):
    lesson, number = at
    step = lesson.steps[number]
    at = open_step(lesson.name, number + 1, step.page, text=lesson.text, open=step.fold)
    assert not at.exception
    assert ("headline" in step.covers or "page" in step.covers) <= (at.title[0].value in TITLES)
    assert ("page" in step.covers) <= (count_covers(at) == 1)
    if step.page != LAYERS:
        worked = work_out(lesson.name, step, make_scene(bundled, lesson.text))
        assert escape(fill(step.task, worked.numbers)) in read_words(at)
    assert [each.label for each in at.main.get("button") if each.label in ("Check", "Why", "Show me")] == ["Check"]
    named = _NAMED.findall("\n".join(read_html(at)))
    assert "page" in step.covers or step.at in ("tokens", "map") or any(step.at in of for of in named)


@pytest.mark.parametrize("number", range(len(ATTENTION.steps)))
def test_an_answered_step_is_covered_no_more_and_leads_on(open_step, bundled, number):
    step, scene = ATTENTION.steps[number], make_scene(bundled, ATTENTION.text)
    about = "" if isinstance(step.ask, Write) else name_pass(scene)
    answered = {(ATTENTION.name, number, about): Answered(verdict=Verdict(True, "It is so."))}
    at = open_step(ATTENTION.name, number + 1, step.page, {"lesson-answers": answered}, text=ATTENTION.text)
    assert not at.exception
    assert ">Right. It is so.<" in read_words(at)
    assert count_covers(at) == 0
    assert ("headline" in step.covers) <= (at.title[0].value not in TITLES)
    assert any(each.label.startswith("Next: ") for each in at.main.get("button"))


@pytest.mark.parametrize(
    ("lesson", "step", "told"),
    [
        ("nothing", "1", "There is no lesson “nothing”"),
        ("attention", "99", "has no step “99”"),
        ("attention", "", "has no step"),
    ],
)
def test_a_lesson_or_step_that_there_is_not_is_named(open_step, lesson, step, told):
    at = open_step(lesson, step)
    assert not at.exception
    assert any(told in each.value for each in at.info)


@pytest.mark.parametrize("lesson", [ATTENTION, BEFORE], ids=lambda lesson: lesson.name)
def test_a_link_to_a_step_on_learn_shows_the_strip_beside_the_lessons_card(open_step, lesson):
    at = open_step(lesson.name, 2, "learn")
    assert not at.exception
    ways = [each.label for each in at.main.get("button")]
    assert ways.count("2") == len(LESSONS) + 1  # in each card, and in the strip
    assert "Leave" in ways


def test_the_place_of_the_drawer_is_kept_until_it_comes_with_the_answer(open_step, bundled):
    waiting = open_step("attention", 1, "attention", text=ATTENTION.text)
    assert KEPT in read_html(waiting) and "bv-drawer-title" not in read_words(waiting)
    step, scene = ATTENTION.steps[1], make_scene(bundled, ATTENTION.text)
    answered = {(ATTENTION.name, 1, name_pass(scene)): Answered(verdict=Verdict(True, "It is so."))}
    over = open_step("attention", 2, "attention", {"lesson-answers": answered}, text=ATTENTION.text)
    assert KEPT not in read_html(over)
    assert f'data-address="{step.work(scene).why}"' in read_words(over), "the drawer explains what was asked"
    quiz = open_step(BEFORE.name, 5, BEFORE.steps[4].page, text=BEFORE.text)
    assert KEPT not in read_html(quiz) and "bv-drawer-title" not in read_words(quiz)


@pytest.mark.parametrize("number", [3, 4])
def test_no_fold_works_a_weight_out_that_is_asked_about(open_step, number):
    asked, title = {"text": ATTENTION.text, "open": "all"}, "Softmax over the keys for query"
    at = open_step("attention", number, "attention", **asked)
    assert not at.exception and title not in read_words(at)
    assert title in read_words(open_step("", "", "attention", **asked))


def test_a_lesson_explains_its_words_and_the_quiz_asks_about_them(open_step):
    lesson = open_step("attention", 4, "attention")
    assert f">{escape(GLOSSARY['softmax'])}</span></span> takes e to the power" in read_words(lesson)
    step = next(i for i, each in enumerate(BEFORE.steps, 1) if each.name == "mask")
    quiz = open_step(BEFORE.name, step, BEFORE.steps[step - 1].page, text=BEFORE.text)
    assert "before the softmax." in read_words(quiz)


@pytest.mark.parametrize("divisor", [None, 3.0])
def test_the_bars_below_the_slider_are_the_softmax_at_its_divisor(open_step, bundled, divisor):
    scene = make_scene(bundled, ATTENTION.text)
    number = next(i for i, step in enumerate(ATTENTION.steps) if isinstance(step.ask, Slide))
    said = {Sitting(ATTENTION, number, "attention", scene).answer.name: divisor} if divisor else {}
    at = open_step("attention", number + 1, "attention", said, text=ATTENTION.text)
    powers = np.exp(scene.read_row("products") / (divisor or bundled.config.head_dim**0.5))
    drawn = re.search('<div class="bv-shares".*', read_words(at))[0]
    heights = [float(height) for height in re.findall(r"height:([\d.]+)px", drawn)]
    assert np.allclose(heights, 44 * powers / powers.sum(), atol=0.1)


def test_a_sentence_without_what_is_needed_is_offered_the_lessons_own(open_step):
    at = open_step("tokens", 2, "tokenization", text="All words differ here.")
    assert not at.exception
    labels = [each.label for each in at.main.get("button")]
    assert any(label.startswith("Take “When in Rome") for label in labels)
    assert "Check" not in labels


def test_a_model_without_words_is_offered_the_bundled_one(open_step, tmp_path):
    folder = random_checkpoint(tmp_path, kind="base")
    at = open_step("words", 2, "predictions", model=str(folder))
    assert not at.exception
    assert any("bundled model" in each.label for each in at.main.get("button"))


def test_the_end_says_what_one_can_do_and_what_to_look_at_again(open_step):
    at = open_step("attention", "end", "learn")
    assert not at.exception
    lesson = find_lesson("attention")
    assert f"0 of {len(lesson.steps)} right, 0 at the first try" in read_words(at)
    assert all(escape(each) in read_words(at) for each in lesson.after)
