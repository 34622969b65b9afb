"""Where a room is: in the lobby, at a question, at the end; and how who leads it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from rooms.errors import RefusedError

LOBBY = -1
ASK, SHOWN, TOLD = "ask", "shown", "told"
MOST_VOTES = 2
FEWEST = 5  # answers, below which nobody is shown how they are spread before the answer is told


@dataclass(frozen=True)
class Course:
    """Where a room is. place: the question, from 0; LOBBY before the first, their count after the last; stage: of that
    question: it is asked, or how answers are spread is shown, or the answer is told; votes: how often each question
    was asked; told: of which the answer has been told; bars: whether answers are shown as they come; locked: whether
    nobody else comes in.
    """

    votes: tuple[int, ...]
    told: tuple[bool, ...]
    place: int = LOBBY
    stage: str = ASK
    bars: bool = False
    locked: bool = False

    @property
    def over(self) -> bool:
        return self.place == len(self.votes)

    @property
    def at_question(self) -> bool:
        return 0 <= self.place < len(self.votes)

    @property
    def vote(self) -> int:
        """Which vote on the question this is, from 1."""
        return self.votes[self.place] if self.at_question else 0

    @property
    def open(self) -> bool:
        """Whether answers are taken."""
        return self.at_question and self.stage == ASK

    def write(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def begin(questions: int) -> Course:
    """In the lobby."""
    return Course((1,) * questions, (False,) * questions)


def read_course(text: str) -> Course:
    kept = json.loads(text)
    return Course(**{**kept, "votes": tuple(kept["votes"]), "told": tuple(kept["told"])})


def go(course: Course, act: str, to: int = 0) -> Course:
    """What becomes of a course by an act of who leads. to: the question that is opened again. Raises RefusedError."""
    step = _ACTS.get(act)
    if step is None:
        raise RefusedError("There is no such button.", 400)
    after = _open(course, to) if act == "open" else step(course)
    if after is None:
        raise RefusedError("That cannot be done here. The screen now shows where the room is.")
    return after


def _enter(course: Course, place: int) -> Course:
    """At a question as it was left: with its answer, where that has been told."""
    told = 0 <= place < len(course.told) and course.told[place]
    return replace(course, place=place, stage=TOLD if told else ASK, bars=False)


def _next(course: Course) -> Course | None:
    """One step on: start, show the answers, tell the answer, go to the next question."""
    if course.over:
        return None
    if not course.at_question:
        return _enter(course, 0)
    if course.stage == ASK:
        return replace(course, stage=SHOWN, bars=False)
    if course.stage == SHOWN:
        told = tuple(each or i == course.place for i, each in enumerate(course.told))
        return replace(course, stage=TOLD, told=told)
    return _enter(course, course.place + 1)


def _back(course: Course) -> Course | None:
    """One step back; what has been told is not asked again."""
    if course.at_question and course.stage == SHOWN:
        return replace(course, stage=ASK)
    return _enter(course, course.place - 1) if course.place > LOBBY else None


def _again(course: Course) -> Course | None:
    """The same question once more, after neighbours have talked about it."""
    if course.stage != SHOWN or not course.at_question or course.vote >= MOST_VOTES:
        return None
    votes = tuple(each + (i == course.place) for i, each in enumerate(course.votes))
    return replace(course, votes=votes, stage=ASK, bars=False)


def _open(course: Course, to: int) -> Course | None:
    """A question from the table at the end."""
    return _enter(course, to) if course.over and 0 <= to < len(course.votes) else None


def _switch_bars(course: Course) -> Course | None:
    return replace(course, bars=not course.bars) if course.open else None


def _lock(course: Course) -> Course:
    return replace(course, locked=not course.locked)


_ACTS: Mapping[str, Callable[[Course], Course | None]] = {
    "next": _next,
    "back": _back,
    "again": _again,
    "open": lambda course: course,
    "bars": _switch_bars,
    "lock": _lock,
}
