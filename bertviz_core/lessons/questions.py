"""A lesson's steps as questions for a class: all that is asked, what can be answered, and what is said of each answer.

They are worked out at once, so that nobody who answers waits for a pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bertviz_core.lessons.lesson import Choose, Lesson, Number, Pick, Step, Tried, Worked
from bertviz_core.lessons.marking import (
    fill,
    is_ready,
    list_options,
    list_places,
    mark_index,
    tell_key,
    tell_right,
    work_out,
)
from bertviz_core.lessons.scene import Scene

MOST_TOPS = 5  # words that are shown with a question
MOST_ANSWERS = 80  # to pick from: each head of a model of six layers, but not each pair of tokens


@dataclass(frozen=True)
class Given:
    """An answer that can be given. says: of it; shown: the model's own number, "" where there is none; token: the
    position in the sentence that it names, None where it names none."""

    label: str
    says: str
    shown: str
    token: int | None


@dataclass(frozen=True)
class Asked:
    """A step as a class is asked it. number: of the step, from 1; scene: about which; own: whether that is the sentence
    on screen, and not the lesson's; answers: none where a number is typed; place: the key among these, or the number;
    key: it in words; right: what is said of it; wrong: of a number that is not it; here: the position of
    the token looked at, None where the question is not about it; tops: the likeliest words there, with their
    probabilities, where they are shown with it."""

    step: Step
    number: int
    scene: Scene
    own: bool
    worked: Worked
    text: str
    task: str
    answers: tuple[Given, ...]
    place: float
    key: str
    right: str
    wrong: str
    here: int | None
    tops: tuple[tuple[str, float], ...]

    @property
    def within(self) -> float:
        """How far from the key a number may be."""
        return self.step.ask.within if isinstance(self.step.ask, Number) else 0.0


def list_questions(lesson: Lesson, scene: Scene) -> Iterator[Asked]:
    """The steps that a class can answer on phones: by choosing, picking or typing a number.

    A step that the sentence has not what it needs for is asked of the lesson's own sentence, if the model can be asked
    it at all. Sliders and sentences of one's own are for the app.
    """
    spare: Scene | None = None
    for number, step in enumerate(lesson.steps, 1):
        if not isinstance(step.ask, Choose | Pick | Number):
            continue
        own = is_ready(step, scene)
        if not own:
            spare = spare or scene.read(lesson.text)
            if not is_ready(step, spare):
                continue
        asked = _ask(lesson, step, number, scene if own or spare is None else spare, own)
        if asked is not None:
            yield asked


def _ask(lesson: Lesson, step: Step, number: int, scene: Scene, own: bool) -> Asked | None:
    worked = work_out(lesson.name, step, scene)
    among = _list_among(step, scene, worked)
    if len(among) > MOST_ANSWERS:
        return None
    numbers = {"layer": str(scene.layer), "head": str(scene.head), **worked.numbers}
    text, task = fill(step.room.text or step.text, numbers), fill(step.room.task or step.task, numbers)
    return Asked(
        step,
        number,
        scene,
        own,
        worked,
        text,
        task,
        tuple(_give(step, Tried(scene, worked, answer), label) for answer, label in among.items()),
        list(among).index(int(worked.key)) if among else worked.key,
        tell_key(step, scene, worked),
        tell_right(step, scene, worked),
        _tell_wrong_number(step, worked),
        scene.token if scene.here in text + task or step.room.tops else None,
        scene.list_tops(MOST_TOPS) if step.room.tops else (),
    )


def _list_among(step: Step, scene: Scene, worked: Worked) -> dict[int, str]:
    """What can be answered, by its index, in words."""
    labels = dict(enumerate(list_options(step, scene, worked)))
    among = step.room.among
    return labels if among is None else {i: labels[i] for i in sorted(among(scene))}


def _give(step: Step, tried: Tried, label: str) -> Given:
    answer, scene = int(tried.answer), tried.scene
    token = answer if isinstance(step.ask, Pick) and label == f"{answer} {_name_at(scene, answer)}" else None
    shown = step.room.shown(tried) if step.room.shown else ""
    return Given(label, mark_index(step, scene, tried.worked, answer).says, shown, token)


def _name_at(scene: Scene, position: int) -> str:
    return scene.tokens[position] if position < len(scene.tokens) else ""


def _tell_wrong_number(step: Step, worked: Worked) -> str:
    """What holds of every number that is not the key."""
    if not isinstance(step.ask, Number):
        return ""
    last = step.wrong[-1].says if step.wrong else ""
    return fill(last, worked.numbers) if list_places(last) <= worked.numbers.keys() else ""
