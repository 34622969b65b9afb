"""Handouts on the page Learn: a sheet of each lesson to print, on the sentence on screen; with key for the teacher.

What a key says can take many passes: a handout is made when it is asked for, as other files are.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import streamlit as st

from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.handouts import list_place
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.lessons.scene import Scene
from bertviz_core.ui.frame import menu
from bertviz_core.ui.frame.keys import AGAINST, CHANGES, LESSON, OPEN, SHOW, STEP, WALK, WEIGHTS
from bertviz_core.ui.frame.lesson import make_scene
from bertviz_core.ui.frame.link import list_whole_query
from bertviz_core.ui.frame.view import View

_LEFT_OUT = (CHANGES, WEIGHTS, AGAINST, SHOW, WALK, OPEN)  # a lesson asks about the pass without them
_HELP = "An A4 page with this lesson’s tasks on your sentence: open it in the browser and print it"


def show_handout(view: View, lesson: Lesson, key: str = "card", with_key: bool = False, label: str = "Handout") -> None:
    """A button that gives the handout of a lesson as a page of HTML."""
    scene = make_scene(view)
    text = view.text if view.pair is None else f"{view.text} / {view.pair}"
    handout = Handout(lesson, scene, text, _write_link(lesson, scene), view.typed.tokens)
    st.download_button(
        label,
        data=partial(_write, handout, with_key),
        file_name=f"{lesson.name}{'-with-key' if with_key else ''}.html",
        mime="text/html",
        key=f"learn-handout-{key}-{lesson.name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/print:",
        help=_HELP,
    )


def show_keys(view: View) -> None:
    """A menu of the handouts with their keys."""
    menu.show_menu("For the teacher: handouts with key", "learn-keys", partial(_show_keys, view), icon=":material/key:")


def _show_keys(view: View) -> None:
    with st.container(gap=None):
        for number, lesson in enumerate(LESSONS, 1):
            show_handout(view, lesson, "key", with_key=True, label=f"{number} {lesson.title}")


def _write(handout: Handout, with_key: bool) -> bytes:
    return write_handout(handout, with_key).encode("utf-8")


def _write_link(lesson: Lesson, scene: Scene) -> str:
    """To the first step, with all that decides about the pass; nothing where no address is known."""
    if not st.context.url:
        return ""
    query = {**list_pass(scene), LESSON.name: lesson.name, STEP.name: "1"}
    return f"{st.context.url.rsplit('/', 1)[0]}/{lesson.steps[0].page}?{urlencode(query)}"


def list_pass(scene: Scene) -> dict[str, str]:
    """What a link says that leads to the pass that is asked about."""
    query, left_out = {**list_whole_query(), **list_place(scene)}, {key.name for key in _LEFT_OUT}
    return {name: value for name, value in query.items() if name not in left_out}
