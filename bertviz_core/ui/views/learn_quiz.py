"""The quiz on *Learn*: its two forms, and what they say of each lesson once they are answered."""

from __future__ import annotations

from html import escape

import streamlit as st

from bertviz_core.formula.texts import write_count
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.lessons.quiz import AFTER, BEFORE, PARTS
from bertviz_core.lessons.scene import Scene
from bertviz_core.ui.frame.lesson import Answered, list_answered
from bertviz_core.ui.frame.lesson_strip import show_way

_FORMS = {"before": BEFORE, "after": AFTER}
_ABOUT = (
    "{count}, two of each lesson, about {minutes} minutes: once before the lessons, and once after them about another "
    "sentence. One try each, no hints; how many were right is told at the end."
)


def show_quiz(scene: Scene) -> None:
    """Both forms, each to be started or gone on with; and what was right, of those that are answered."""
    all_answered = {name: list_answered(form, scene) for name, form in _FORMS.items()}
    with st.container(border=True, key="panel-learn-quiz", gap=None):
        about = _ABOUT.format(count=write_count(len(BEFORE.steps), "question"), minutes=BEFORE.minutes)
        st.html(f"<h2>Quiz</h2><p>{about}</p>{_render_results(all_answered)}")
        with st.container(horizontal=True, key="learn-quizzes"):
            for name, answered in all_answered.items():
                _show_start(name, _FORMS[name], answered)


def _show_start(name: str, form: Lesson, answered: tuple[Answered, ...]) -> None:
    """The way to the first question that is not answered; none where all are."""
    given = count_given(answered)
    if given < len(answered):
        todo = next(i for i, each in enumerate(answered) if each.verdict is None)
        label = f"Go on {name} the lessons: {given} of {len(answered)} answered" if given else f"Start: {form.title}"
        show_way(form, todo, label, "learn-start")


def count_given(answered: tuple[Answered, ...]) -> int:
    """How many questions were answered."""
    return sum(each.verdict is not None for each in answered)


def _render_results(answered: dict[str, tuple[Answered, ...]]) -> str:
    """How many questions were right, lesson by lesson, of each form that is answered as a whole."""
    right = {
        name: tuple(each.right for each in given)
        for name, given in answered.items()
        if count_given(given) == len(given)
    }
    if not right:
        return ""
    head = "".join(f"<th>{name}</th>" for name in right)
    rows = "".join(
        f"<tr><th>{escape(part.lesson.title)}</th>"
        + "".join(f"<td>{part.count(each)} of {len(part.questions)}</td>" for each in right.values())
        + "</tr>"
        for part in PARTS
    )
    total = "".join(f"<td><b>{sum(each)} of {len(each)}</b></td>" for each in right.values())
    return (
        f'<div class="bv-table"><table><thead><tr><th>right</th>{head}</tr></thead>'
        f"<tbody>{rows}<tr><th>all</th>{total}</tr></tbody></table></div>"
    )


def render_answers(form: Lesson, answered: tuple[Answered, ...]) -> str:
    """What was said of each answer of the form that comes after the lessons; nothing of the one before them, whose
    questions they ask again."""
    if form is not AFTER:
        return ""
    told = (
        f"<li><b>{escape(step.title)}.</b> {'Right' if each.right else 'Not right'}: {escape(each.verdict.says)}</li>"
        for step, each in zip(form.steps, answered, strict=True)
        if each.verdict is not None
    )
    return f"<ul>{''.join(told)}</ul>"
