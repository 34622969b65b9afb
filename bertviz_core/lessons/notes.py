"""What a teacher reads before class: plans, and of each step what is asked and what goes wrong."""

from __future__ import annotations

from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.lesson import Choose, Lesson, Number, Pick, Slide, Step, Write
from bertviz_core.lessons.marking import PLACE
from bertviz_core.lessons.quiz import BEFORE

_PLANS = {45: ("tokens", "attention"), 90: ("tokens", "embeddings", "attention", "words")}  # minutes, and lessons
_KINDS = {Choose: "choose", Pick: "click", Number: "type a number", Slide: "set a slider", Write: "write"}
_HEAD = """# Teaching with the lessons

Written by `python -m bertviz_core.lessons > docs/teaching.md` from the lessons themselves.

The page *Learn* has {count} lessons of {steps} steps, about {minutes} minutes in all. A student answers in the app:
by clicking in a picture, choosing, typing, moving a slider, or writing a sentence. What gives the answer away stays
covered until then. Each key is worked out from the recorded pass, so the lessons hold for any sentence and any
model; where a step needs something of the sentence (a token that stands twice, one [MASK]), it says what is missing
and offers the lesson's own. A **prediction** has one try, because the pass is then run and its result is seen;
everything else can be tried again, and after two wrong answers the answer can be shown. Nothing is timed. Answers
are kept in the student's browser alone and are in no link: `/attention?lesson=attention&step=3` opens the same step,
unanswered, for everybody who has not answered it.

## Plans

{plans}

In each plan the rest is for the class: let everybody answer before anybody says why, then ask somebody who was
wrong what they thought. The last step of every lesson is a sentence of the student's own; compare a few of these at
the end.

Lessons need no mouse. `F6` leads from the task to the picture and back; there arrows move, `Enter` chooses and, once
more, checks. On a phone, whose cells are small, the first tap says which cell it is, the second chooses it.

## What was learnt

The **quiz** on *Learn* has two forms, one before the lessons and one after them: the same {questions} questions, two of
each lesson, about another sentence. There is one try, no hint, and no word of what was right until the last question
is answered. *Learn* then says for each lesson how many were right, before and after; ask your students for the two
numbers below. `/learn` leads to both, so there is nothing to hand out.

## Before a room

`P` shows the page to a room: one panel a screen, in letters of at least 20 pixels, without bar, map and signs. Arrows
left and right (or the keys of a presenter) go through the panels, up and down choose the row, `S` dims all others, `D`
turns light into dark, `Esc` leads back. The menu *Share* begins it too, and a link with `#present=2` opens it.

## On paper

On *Learn* each lesson has a **handout**: an A4 page with a picture of the pass, all tasks on the sentence that is open,
room to write, and a code that leads a phone to the first step. Download it, open it in a browser and print it. *For the
teacher: handouts with key* adds a second page with the answers, the usual misconceptions, and what to say to them.
`python -m bertviz_core.lessons handouts --out FOLDER` writes all of them with their keys, as HTML and, where Chromium
or Chrome is installed, as PDF; `--text`, `--model` and `--address` (where your students open the app) are yours to
give.

## What is asked, and what goes wrong

A wrong answer mostly comes from the belief in the last column; what the app then says answers that belief and does
not give the key away.
"""


def write_notes() -> str:
    """Notes for who teaches, as Markdown."""
    minutes = sum(lesson.minutes for lesson in LESSONS)
    steps = sum(len(lesson.steps) for lesson in LESSONS)
    plans = "\n".join(map(_write_plan, _PLANS))
    head = _HEAD.format(count=len(LESSONS), steps=steps, minutes=minutes, plans=plans, questions=len(BEFORE.steps))
    return "\n".join([head, *map(_write_lesson, LESSONS)])


def _write_plan(minutes: int) -> str:
    lessons = [lesson for lesson in map(find_lesson, _PLANS[minutes]) if lesson]
    taken = sum(lesson.minutes for lesson in lessons)
    names = ", ".join(f"*{lesson.title}* ({lesson.minutes})" for lesson in lessons)
    return f"- **{minutes} minutes**: {names}; {minutes - taken} minutes to talk."


def _write_lesson(lesson: Lesson) -> str:
    number = LESSONS.index(lesson) + 1
    able = "\n".join(f"- {each}" for each in lesson.after)
    rows = "\n".join(_write_step(i, step) for i, step in enumerate(lesson.steps, 1))
    return (
        f"### {number}. {lesson.title}\n\n"
        f"{lesson.line}; about {lesson.minutes} minutes. Afterwards a student can:\n\n{able}\n\n"
        f"| | step | page | answer | belief behind a wrong one |\n|---|---|---|---|---|\n{rows}\n"
    )


def _write_step(number: int, step: Step) -> str:
    kind = "predict" if step.once else _KINDS[type(step.ask)]
    belief = PLACE.sub("…", step.misconception).strip("()")
    return f"| {number} | {step.title} | {step.page.replace('_', ' ')} | {kind} | {belief} |"
