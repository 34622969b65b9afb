"""Learn: all lessons, how far one has come in each, and what one can do after the one that has just ended."""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.formula.texts import write_count
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.lessons.marking import tell_score
from bertviz_core.lessons.quiz import BEFORE
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.lesson import Answered, find_ended, is_over, list_answered, make_scene, name_end
from bertviz_core.ui.frame.lesson_guide import forget_answers
from bertviz_core.ui.frame.lesson_strip import show_dots, show_way
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.views.learn_class import show_class
from bertviz_core.ui.views.learn_handout import show_handout, show_keys
from bertviz_core.ui.views.learn_link import show_link_maker
from bertviz_core.ui.views.learn_pictures import render_picture
from bertviz_core.ui.views.learn_quiz import count_given, render_answers, show_quiz

_STYLE = read_css(Path(__file__).with_name("learn.css"))
_COLUMNS = 3


def write_headline(_: View) -> Said:
    """How much there is to do."""
    parts = {"lessons": Part(len(LESSONS)), "steps": Part(sum(len(lesson.steps) for lesson in LESSONS))}
    return say("Can you work it out? ", Claim("lessons", "**{lessons} lessons** with **{steps} steps**", parts))


def show_end(view: View) -> None:
    """What one can do after a lesson, where that has just ended."""
    lesson = find_ended()
    if lesson is None:
        return
    answered = list_answered(lesson, make_scene(view))
    if lesson.quiz:
        _show_quiz_end(lesson, answered)
        return
    again = [i for i, each in enumerate(answered) if not each.at_once]
    with st.container(border=True, key="panel-learn-end", gap=None):
        score = tell_score([each.right for each in answered], [each.at_once for each in answered])
        st.html(f'<h2 tabindex="-1" data-step="{name_end()}">{escape(lesson.title)}: {score}</h2>{_list_after(lesson)}')
        with st.container(horizontal=True, key="learn-again"):
            for i in again:
                show_way(lesson, i, f"Look again: {lesson.steps[i].title}", "learn-again")
            place = LESSONS.index(lesson) + 1
            if place < len(LESSONS):
                show_way(LESSONS[place], 0, f"Next lesson: {LESSONS[place].title} ›", "learn-next", type="primary")
            show_handout(view, lesson, "end")


def _show_quiz_end(form: Lesson, answered: tuple[Answered, ...]) -> None:
    """How many questions were right, once all are answered, and where one goes on."""
    given, count = count_given(answered), len(answered)
    score = (
        f"{sum(each.right for each in answered)} of {count} right" if given == count else f"{given} of {count} answered"
    )
    told = render_answers(form, answered) if given == count else ""
    with st.container(border=True, key="panel-learn-end", gap=None):
        st.html(f'<h2 tabindex="-1" data-step="{name_end()}">{escape(form.title)}: {score}</h2>{told}')
        if form is BEFORE:
            show_way(LESSONS[0], 0, f"Lesson 1: {LESSONS[0].title} ›", "learn-next", type="primary")


def show_catalogue(view: View) -> None:
    """A card for each lesson, and one for the quiz."""
    scene = make_scene(view)
    st.html(_STYLE)
    for first in range(0, len(LESSONS), _COLUMNS):
        columns = st.columns(_COLUMNS)
        for i, (column, lesson) in enumerate(zip(columns, LESSONS[first : first + _COLUMNS], strict=False), first + 1):
            with column, st.container(border=True, key=f"panel-learn-{lesson.name}", gap=None, height="stretch"):
                st.html(render_picture(lesson.name, scene))
                _show_card(view, i, lesson, list_answered(lesson, scene))
    show_quiz(scene)
    with st.container(horizontal=True, gap="small"):
        show_keys(view)
        show_link_maker(view)


def _show_card(view: View, number: int, lesson: Lesson, answered: tuple[Answered, ...]) -> None:
    about = f"{lesson.line} · {write_count(len(lesson.steps), 'step')} · {lesson.minutes} min"
    st.html(
        f"<h2><span>{number}</span> {escape(lesson.title)}</h2><p>{escape(about)}</p>{_list_after(lesson)}",
    )
    pairs = zip(lesson.steps, answered, strict=True)
    todo = next((i for i, (step, each) in enumerate(pairs) if not is_over(lesson, step, each)), 0)
    begun = any(each.verdict for each in answered)
    label = f"Go on: {lesson.steps[todo].title}" if begun and todo else "Again" if begun else "Start"
    with st.container(horizontal=True, vertical_alignment="center", key=f"learn-start-{lesson.name}"):
        show_way(lesson, todo, label, "learn-start")
        with st.container(key=f"learn-dots-{lesson.name}", horizontal=True, gap=None, width="content"):
            show_dots(lesson, answered)
        show_class(view, lesson)


def _list_after(lesson: Lesson) -> str:
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in lesson.after)}</ul>"


def show_notes() -> None:
    """Where answers are kept, and what lessons run on."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "What you answered stays in this browser; a link holds the sentence, and no answer. Lessons run on your "
            "own sentence and model too: put them in with the pencil above. Where a step needs what your sentence has "
            "not, it says so.",
            width="stretch",
        )
        st.button("Forget my answers", key="learn-forget", type="tertiary", on_click=forget_answers)
