"""A class on the page Learn: a lesson's questions for phones, about the sentence on screen, in a room with a code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from urllib.parse import urlencode

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.texts import write_count
from bertviz_core.lessons.lesson import Choose, Lesson, Number
from bertviz_core.lessons.marking import fill
from bertviz_core.lessons.questions import Asked, list_questions
from bertviz_core.tracing.changes import write_changes
from bertviz_core.ui.frame import menu, state
from bertviz_core.ui.frame.keys import CHANGES, LESSON, PAIR, STEP, TEXT, WALK, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.lesson import make_scene
from bertviz_core.ui.frame.resources import take_turn
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.visitor import read_network, read_visitor
from bertviz_core.ui.views.learn_handout import list_pass, show_handout
from edge.classes import JOIN, LEAD
from rooms.errors import RefusedError, StoreError
from rooms.opening import open_rooms
from rooms.plan import CHOOSE, NUMBER, PICK, Answer, Plan, Question
from rooms.store import Opened, Rooms

_STARTED: Key[Mapping[str, Opened]] = Key("learn-classes", {})
_DAY_MIN = 24 * 60
_AWAY = "Classes cannot be kept just now: their store does not answer. Try again in a minute."


@cache
def get_rooms() -> Rooms:
    """The process's."""
    return open_rooms()


def show_way_in() -> None:
    """For who is in a class: the way to its room."""
    st.html(f'<p class="bv-join">In a class? <a href="{JOIN}/" target="_blank">Join it with its code ›</a></p>')


def show_class(view: View, lesson: Lesson) -> None:
    """A menu for who teaches: a class is started there, and there is the handout."""
    menu.show_menu("Class", f"learn-class-{lesson.name}", partial(_show_menu, view, lesson), icon=":material/groups:")


def _show_menu(view: View, lesson: Lesson) -> None:
    _show_start(view, lesson)
    show_handout(view, lesson)


def _show_start(view: View, lesson: Lesson) -> None:
    place = st.empty()
    started = _find_started(lesson.name)
    if started is None:
        with place.container():
            st.html(
                "<p>Your class answers these questions on phones, about the sentence above; you lead from a page for "
                "the projector, which shows how the answers are spread. No names, no accounts.</p>"
            )
            pressed = st.button("Start a class", key=f"learn-class-start-{lesson.name}", type="primary")
        started = _start(view, lesson) if pressed else None
        if started is None:
            return
        state.write(_STARTED, {**state.read(_STARTED), lesson.name: started})
    with place.container():
        st.html(
            f'<p>Code <b class="bv-class-code">{started.code}</b>. It ends by itself; the projector’s page says when. '
            f'You lead it by this link:</p><p><a class="bv-button" href="{LEAD}/{started.code}#{started.secret}" '
            'target="_blank">Open the projector’s page ›</a></p>'
        )
        key = f"learn-class-again-{lesson.name}"
        st.button("Start another", key=key, type="tertiary", on_click=_leave_class, args=(lesson.name,))


def _find_started(lesson: str) -> Opened | None:
    """The class that was started here, until it has ended; where its store is away, nobody knows."""
    started = state.read(_STARTED).get(lesson)
    if started is not None:
        try:
            get_rooms().read(started.code)
        except RefusedError:
            _leave_class(lesson)
            return None
        except StoreError:
            pass
    return started


def _leave_class(lesson: str) -> None:
    """Offer to start one anew; the other one goes on by itself."""
    state.write(_STARTED, {name: each for name, each in state.read(_STARTED).items() if name != lesson})


def _start(view: View, lesson: Lesson) -> Opened | None:
    """Work out what is asked, and open a room for it; None where that cannot be, of which the page says why."""
    try:
        with st.spinner("Works out what is asked, and what is said of each answer …"), take_turn():
            plan = make_plan(view, lesson)
        if not plan.questions:
            st.error("No question of this lesson can be asked of this sentence and model.", icon=":material/error:")
            return None
        return get_rooms().open(plan, read_visitor(), find_midnight().timestamp(), read_network())
    except (BertvizError, RefusedError) as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
    except StoreError:
        st.error(_AWAY, icon=":material/error:")
    return None


def find_midnight() -> datetime:
    """When this day ends for who opens a class; in its last hour an hour later: an evening's class is not cut."""
    behind = min(max(st.context.timezone_offset or 0, -_DAY_MIN), _DAY_MIN)  # a browser may say anything
    now = datetime.now(UTC) - timedelta(minutes=behind)
    end = now.replace(hour=23, minute=59, second=0, microsecond=0)
    if end - now < timedelta(hours=1):
        end += timedelta(hours=1)
    return datetime.now(UTC) + (end - now)


def make_plan(view: View, lesson: Lesson) -> Plan:
    """All that a class is asked. Raises BertvizError where a pass cannot be run."""
    scene = make_scene(view)
    questions = tuple(_make_question(lesson, asked) for asked in list_questions(lesson, scene))
    line = f"{write_count(len(questions), 'question')} · {lesson.minutes} min"
    return Plan(lesson.title, line, questions, f"learn?{urlencode(list_pass(scene))}")


def _make_question(lesson: Lesson, asked: Asked) -> Question:
    ask, step = asked.step.ask, asked.step
    kind = CHOOSE if isinstance(ask, Choose) else NUMBER if isinstance(ask, Number) else PICK
    own = "" if asked.own else f"About the lesson’s own sentence, “{lesson.text}” "
    pass_ = list_pass(asked.scene)
    if not asked.own:
        pass_ = {**pass_, TEXT.name: lesson.text}
        pass_.pop(PAIR.name, None)
    link = {**pass_, LESSON.name: lesson.name, STEP.name: str(asked.number)}
    return Question(
        step.title,
        f"{own}{asked.text}",
        asked.task,
        kind,
        asked.place,
        tuple(Answer(each.label, each.says, each.shown, each.token) for each in asked.answers),
        asked.within,
        _write_headline(asked),
        asked.right,
        asked.wrong,
        fill(step.room.below, asked.worked.numbers),
        step.misconception,
        f"{step.page}?{urlencode(link)}",
        tuple(asked.scene.tokens),
        fill(step.room.was, asked.worked.numbers),
        f"{step.page}?{urlencode({**pass_, **_list_changes(asked), WALK.name: str(asked.worked.why)})}",
        asked.here,
        tuple((name, format_percent(share)) for name, share in asked.tops),
    )


def _list_changes(asked: Asked) -> dict[str, str]:
    """What a link says that leads to the pass which answers a prediction."""
    ask = asked.step.ask
    return {CHANGES.name: write_changes(ask.run(asked.scene))} if isinstance(ask, Choose) and ask.run else {}


def _write_headline(asked: Asked) -> str:
    """The answer in few words."""
    if isinstance(asked.step.ask, Number):
        decimals = 0 if asked.within == 0 else max(0, math.ceil(-math.log10(asked.within)))
        return f"{asked.worked.key:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    right, was = asked.answers[int(asked.place)], fill(asked.step.room.was, asked.worked.numbers)
    named = asked.key.rstrip(".") if right.token is None else asked.scene.quote(right.token)
    return f"{named}: {was} becomes {right.shown}" if was else named
