"""A teacher's link on the page Learn: a lesson about one of some sentences, with fewer controls. Nothing is stored."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote, urlencode

import streamlit as st

from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.ui.frame import menu, state
from bertviz_core.ui.frame.hidden import CONTROLS
from bertviz_core.ui.frame.keys import LESSON, MODEL, TEXT, WITHOUT, Key
from bertviz_core.ui.frame.share import show_code
from bertviz_core.ui.frame.view import View
from edge.classes import JOIN, LINK

_SENTENCES, _LESSON, _HIDDEN = (
    Key("learn-link-sentences", ""),
    Key("learn-link-lesson", ""),
    Key("learn-link-hide", False),
)
_MOST = 40  # sentences
_LONGEST = 4_000  # characters of them all


def show_link_maker(view: View) -> None:
    """A menu in which a link for students is made."""
    menu.show_menu("For the teacher: a link for students", "learn-link", partial(_show, view), icon=":material/link:")


def _show(view: View) -> None:
    lesson = st.selectbox("Lesson", LESSONS, format_func=lambda each: each.title, key=_LESSON.name)
    typed = st.text_area(
        "Sentences, one a line: each student is given one of them",
        view.text,
        max_chars=_LONGEST,
        height=110,
        key=_SENTENCES.name,
    )
    st.markdown("Left out of the students’ pages")
    hidden = [name for name, (label, _) in CONTROLS.items() if st.checkbox(label, key=_HIDDEN.of(name).name)]
    sentences = [line for each in typed.splitlines() if (line := each.strip())][:_MOST]
    show_code(write_link(st.context.url or "", lesson, sentences, hidden, state.read(MODEL)))


def write_link(here: str, lesson: Lesson, sentences: list[str], hidden: list[str], model: str) -> str:
    """The link. here: the address of the page Learn; model: "" for the usual one."""
    says = [("page", lesson.steps[0].page), (LESSON.name, lesson.name)]
    says += [(WITHOUT.name, ",".join(hidden))] if hidden else []
    says += [(MODEL.name, model)] if model else []
    says += [(TEXT.name, each) for each in sentences]
    return f"{here.rsplit('/', 1)[0]}/{JOIN}/{LINK}#{urlencode(says, quote_via=quote)}"
