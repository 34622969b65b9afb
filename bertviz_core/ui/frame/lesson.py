"""The lesson that is open: its step, what was answered, and what stays covered until then."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from html import escape

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.formula.address import Address
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.lesson import Lesson, Pick, Step, Verdict, Worked, Write
from bertviz_core.lessons.marking import is_ready, read_alike, work_out
from bertviz_core.lessons.scene import Scene
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import LESSON, STEP, Key
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.streamlit_inside import keep_unsent
from bertviz_core.ui.frame.view import View

END = "end"  # instead of a step: what was learnt
_REMEMBERED = 300  # answers of a visitor
_PAGE = "page"  # among what is covered: all of it
_SPECIAL = ("headline", "tokens", "drawer", _PAGE)


@dataclass(frozen=True)
class Answered:
    """What became of a step: how many answers were wrong, what was said last, whether the answer was shown."""

    wrong: int = 0
    verdict: Verdict | None = None
    shown: bool = False
    hints: int = 0

    @property
    def right(self) -> bool:
        return self.verdict is not None and self.verdict.right

    @property
    def at_once(self) -> bool:
        """Whether the first answer was right."""
        return self.right and not self.wrong and not self.shown


def is_over(lesson: Lesson, step: Step, answered: Answered) -> bool:
    """Whether nothing is asked any more: it was answered rightly, or shown, or had its one try."""
    once = step.once or lesson.quiz
    return answered.right or answered.shown or (once and answered.verdict is not None)


@dataclass(frozen=True, eq=False)
class Sitting:
    """A lesson in front of a visitor. number: of the step, from 0; page: that is open; scene: what is asked about."""

    lesson: Lesson
    number: int
    page: str
    scene: Scene

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.number]

    @property
    def named(self) -> str:
        """What the browser knows the step by, such as "attention 5"."""
        return f"{self.lesson.name} {self.number + 1}"

    @property
    def here(self) -> bool:
        """Whether this page is the one on which the step is asked."""
        return self.page == self.step.page

    @cached_property
    def ready(self) -> bool:
        """Whether sentence and model have what the step needs."""
        try:
            if self.lesson.quiz and not read_alike(self.lesson.text, self.scene):
                return False
            return is_ready(self.step, self.scene)
        except BertvizError:
            return False

    @cached_property
    def worked(self) -> Worked:
        """What the step says of this pass."""
        return work_out(self.lesson.name, self.step, self.scene)

    @property
    def answered(self) -> Answered:
        return read_answered(self.lesson, self.number, self._about)

    @property
    def over(self) -> bool:
        """Whether nothing is asked any more."""
        return is_over(self.lesson, self.step, self.answered)

    @property
    def in_view(self) -> bool:
        """Whether the place that the step is about can be looked at, and is not covered."""
        if self.lesson.quiz:
            return isinstance(self.step.ask, Pick)
        return self.over or not set(self.step.covers) - {"headline", "tokens", "drawer"}

    @property
    def waits(self) -> bool:
        return self.ready and not self.over

    @property
    def covers(self) -> bool:
        """Whether what gives the answer away is covered: until it is given, and in the quiz also then."""
        return self.ready and (self.lesson.quiz or not self.over)

    @property
    def _about(self) -> str:
        """What an answer holds for: this very pass; what one writes oneself is about another one, and a question of the
        quiz has its one try wherever one looks."""
        return "" if self.lesson.quiz or isinstance(self.step.ask, Write) else name_pass(self.scene)

    @property
    def answer(self) -> Key[object]:
        """What the widget says in which this step is answered."""
        return _ANSWER.of(self.lesson.name, self.number, self._about)

    def note(self, answered: Answered) -> None:
        """Remember what became of the step; of many passes that were asked about, the last ones are remembered."""
        key = (self.lesson.name, self.number, self._about)
        others = [(about, each) for about, each in state.read(_ANSWERS).items() if about != key]
        state.write(_ANSWERS, dict([*others[1 - _REMEMBERED :], (key, answered)]))

    def note_verdict(self, verdict: Verdict) -> None:
        """Remember what was said of an answer; one that counts, and is wrong, is a try."""
        before = self.answered
        missed = verdict.counted and not verdict.right
        self.note(replace(before, verdict=verdict if verdict.counted else None, wrong=before.wrong + missed))
        state.write(_SAID, "" if verdict.counted else verdict.says)


About = tuple[str, int, str]
_OPEN: Key[Sitting | None] = Key("lesson-open", None)
_ANSWERS: Key[Mapping[About, Answered]] = Key("lesson-answers", {})
_ANSWER: Key[object] = Key("lesson-answer", None)
_SAID = Key("lesson-told", "")  # what is said of what was no answer
_PROPOSED = Key("lesson-proposed", 0)  # how many answers were proposed in pictures


def name_pass(scene: Scene) -> str:
    """What tells passes apart for which an answer holds: of any length of sentence as short, as browsers keep it."""
    said = f"{scene.model.name} {scene.trace.encoding.ids} {scene.layer} {scene.head} {scene.token}"
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def read_answered(lesson: Lesson, number: int, about: str) -> Answered:
    """What became of a step."""
    return state.read(_ANSWERS).get((lesson.name, number, about), Answered())


def list_remembered() -> Mapping[About, Answered]:
    """What became of all steps, by lesson, number and pass."""
    return state.read(_ANSWERS)


def remember_all(answers: Mapping[About, Answered]) -> None:
    """Put this in place of all that was remembered, as far as so much is."""
    state.write(_ANSWERS, dict([*answers.items()][-_REMEMBERED:]))


def list_answered(lesson: Lesson, scene: Scene) -> tuple[Answered, ...]:
    """What became of each step: for this pass, or else for the last one about which it was asked."""
    last = {number: answered for (name, number, _), answered in state.read(_ANSWERS).items() if name == lesson.name}
    here = name_pass(scene)
    found = (
        state.read(_ANSWERS).get((lesson.name, number, here), last.get(number, Answered()))
        for number in range(len(lesson.steps))
    )
    return tuple(found)


def open_lesson(view: View, page: str) -> None:
    """Take what the URL asks for: a lesson, and its step, if there is one."""
    lesson = find_lesson(state.read(LESSON))
    number = lesson.find_step(state.read(STEP)) if lesson else None
    state.take(_OPEN)
    if lesson is not None and number is not None:
        state.write(_OPEN, Sitting(lesson, number, page, make_scene(view)))


def find_ended() -> Lesson | None:
    """The lesson that has just ended, where one has."""
    return find_lesson(state.read(LESSON)) if state.read(STEP) == END else None


def name_end() -> str:
    """What the browser knows its end by, as `Sitting.named`; empty where none has ended."""
    lesson = find_ended()
    return f"{lesson.name} {END}" if lesson else ""


def make_scene(view: View) -> Scene:
    """What a page looks at, for a step to ask about it."""
    return Scene(view.outcome.before, view.chosen.layer, view.chosen.head, view.chosen.token, get_store().get)


def close_lesson() -> None:
    """No lesson is open any more."""
    choices.choose({LESSON: "", STEP: ""})


def read_open() -> Sitting | None:
    """The lesson that is open, at one of its steps."""
    return state.read(_OPEN)


def is_step_costly() -> bool:
    """Whether what the open step asks takes many passes to work out."""
    sitting = read_open()
    return sitting is not None and sitting.step.costly


def take_said() -> str:
    """What is said of what was no answer, once."""
    return state.take(_SAID)


def is_covered(what: str) -> bool:
    """Whether a part of the page stays covered until the answer: "headline", "tokens", "drawer", "page", or the card of
    these addresses."""
    sitting = read_open()
    if sitting is None or not sitting.covers:
        return False
    covers = sitting.step.covers
    if sitting.lesson.quiz and not sitting.here:
        return what != "tokens" or what in covers  # of the quiz's sentence, every page tells something
    if what in _SPECIAL:
        return what in covers and (sitting.here or what == "drawer")
    return any(part in what for part in covers if part not in _SPECIAL)


def show_cover(of: str = "", given: str = "") -> None:
    """What is seen of a part until the answer. of: the addresses that its card names; given: what is asked about."""
    sitting = read_open()
    until = "during the quiz" if sitting and sitting.lesson.quiz else "until you answer"
    told = f"<p>{escape(given)}</p>" if given else ""
    st.html(f'<div class="bv-cover" role="note" data-of="{escape(of)}">{told}Covered {until}</div>')


KEPT = '<div class="bv-kept" role="note">Explained here once you have answered</div>'  # where the drawer will stand


def is_coming() -> bool:
    """Whether the drawer comes with the answer of the step that is open here: its place is kept, and nothing moves."""
    sitting = read_open()
    return sitting is not None and sitting.covers and sitting.here and not sitting.lesson.quiz


@contextmanager
def cover(of: str) -> Generator[None]:
    """Stand in for what is drawn inside: it is worked out, and not sent. of: the addresses that its card names."""
    with st.container(gap=None):
        show_cover(of)
        with keep_unsent():
            yield


def find_answer() -> Address | None:
    """The cell that explains the answer of the step that is open here, once that is over."""
    sitting = read_open()
    if sitting is None or not (sitting.ready and sitting.over and sitting.here) or sitting.lesson.quiz:
        return None
    return sitting.worked.why


def count_proposed() -> int:
    """How many answers were proposed in pictures so far: it tells the browser that one has come."""
    return state.read(_PROPOSED)


def find_proposed() -> Address | None:
    """The cell that is proposed as the answer, while the step waits for one."""
    sitting = read_open()
    if sitting is None or not (sitting.waits and sitting.here and isinstance(sitting.step.ask, Pick)):
        return None
    proposed, locate = state.find(sitting.answer), sitting.step.ask.cell
    return locate(sitting.scene, proposed) if locate and isinstance(proposed, int) else None


def propose(cell: Address) -> bool:
    """Take a click on a cell as a proposal, while the step waits for one; whether it was one."""
    sitting = read_open()
    if sitting is None or not (sitting.waits and sitting.here and isinstance(sitting.step.ask, Pick)):
        return False
    found = sitting.step.ask.find(sitting.scene, cell)
    if found is None:
        return False
    if isinstance(found, str):
        state.write(_SAID, found)
    else:
        state.write(sitting.answer, found)
        state.write(_PROPOSED, state.read(_PROPOSED) + 1)
        chosen = sitting.step.ask.names(sitting.scene)[found]
        state.write(_SAID, f"Your choice: {chosen}. Check, or Enter once more, marks it.")
    choices.ask_for_rerun()
    return True
