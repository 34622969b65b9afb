"""What a teacher reads before class: plans, and of each step what is asked and what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping

from bertviz_core.checkpoint.model import Model
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.lessons.handouts import open_lessons
from bertviz_core.lessons.lesson import Choose, Lesson, Number, Pick, Slide, Step, Worked, Write
from bertviz_core.lessons.marking import PLACE, fill, tell_answer, work_out
from bertviz_core.lessons.questions import list_questions
from bertviz_core.lessons.quiz import BEFORE
from bertviz_core.lessons.scene import Scene

Part = str | tuple[int, str]  # a lesson by its name, or minutes and what is done in them
_OPEN = (
    5,
    "everybody opens *Learn*; one sentence before the room: which word belongs at [MASK], and how could a program "
    "tell?",
)
_SLIP = "on a slip: one thing learnt, one step you had wrong, and what you believed"
# Of one lesson alone: minutes, and what is done in them.
_ALONE: tuple[Part, ...] = (
    (4, "hand out the handouts; `P` on *Attention*, first card: a row asks, the columns answer, a row is 100 %"),
    (3, "on a slip: at which token do you think [MASK] looks most, and why?"),
    (8, "steps 1 and 2, in pairs; then show rows with `P` and the arrows: is attention mutual?"),
    (10, "steps 3 to 5, with calculators; then: why can no weight be 0? why do differences count, not ratios?"),
    (7, "steps 6 and 7; then: where did the share of the masked token go? does a large weight mean a large effect?"),
    (8, "step 8, everybody with a sentence of their own: three are read out, and the room says habit or no habit"),
    (5, _SLIP),
)
_PLANS: Mapping[str, tuple[Part, ...]] = {
    "45 minutes, one lesson": _ALONE,
    "45 minutes, two lessons": (
        _OPEN,
        "tokens",
        (5, "talk about steps 4 and 6"),
        "attention",
        (6, "talk about steps 2, 4 and 6"),
        (4, _SLIP),
    ),
    "90 minutes": (
        _OPEN,
        "tokens",
        (6, "talk about steps 4 and 6"),
        "embeddings",
        (6, "talk about steps 4 and 5"),
        "attention",
        (9, "talk about steps 2, 4 and 6"),
        "words",
        (9, "talk about steps 2 and 5"),
        (6, _SLIP),
    ),
}
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

## Ten minutes before class

- `streamlit run app.py` opens the app for this machine alone. `streamlit run app.py --server.address 0.0.0.0` opens
  it for the room: students go to `http://` and your machine's name or number, `:8501/learn`. What a class needs is
  in [deploy](../deploy/README.md). Try it on one of their machines, and step 1 of each lesson that you
  take: {links}.
- The handout's code leads where *you* have opened the app: open it under the address that students use, not as
  `localhost`, before you download it.
- The model is a small BERT of {layers} layers with {heads} heads each, trained for this app; every number is from its
  real pass. A lesson opens at a layer and a head that look at words rather than at [CLS]; both can be
  changed above the page.
- On shared machines *Forget my answers* on *Learn* takes the last class's answers away; a private window starts
  without.
- Do the steps yourself, or print the handouts with key (below): they hold every task with its answer for the sentence
  that you choose.
- Students need no knowledge of BERT or of programming. *From a word to numbers* needs addition of negative numbers,
  *Who looks at whom* and *From the last vector to a word* a product of two vectors and powers of e: have calculators
  ready. Numbers may be typed with a comma or a point; how exact they have to be stands in the task.
- A row of the attention matrix is the token that looks, a column the token looked at; a row sums to 1.

## Plans

{plans}

Whoever is quick goes on with the next lesson; whoever is stuck takes the hint, and may leave a step out: none needs
the one before it. When you talk, let everybody answer before anybody says why, then ask somebody who was wrong what
they thought. You see no student's answers, so ask for hands or slips. The last step of every lesson is a sentence of
the student's own: have a few of these read out.

A click in the picture proposes an answer, *Check* marks it. Lessons need no mouse: `F6` leads from the task to the
picture and back; there arrows move, `Enter` chooses and, once more, checks. On a phone, whose cells are small, the
first tap says which cell it is, the second chooses it.

## What was learnt

The **quiz** on *Learn* has two forms, one for before the lessons and one for after them: the same {questions}
questions, two of each lesson, about another sentence; about {minutes_of_quiz} minutes each. There is one try, no
hint, and no word of what was right until the last question is answered. Then *Learn* says how many were right, lesson
by lesson and in all, before beside after; have your students write that line on the slip. It asks about all {count}
lessons, and tells nothing before its last question: for one lesson take the slip instead.

## A class on phones

You ask, everybody answers on a phone, and the projector shows how the answers are spread. Not hands: everybody
answers, nobody sees who said what, and whoever has talked to a neighbour votes once more.

**Before.** Start the app for others too (`BERTVIZ_MODELS=bundled streamlit run app.py --server.address=0.0.0.0`) and
open it with the sentence that you want. On *Learn*, open *Class* on a lesson's card, then *Start a class*:
its steps that can be answered on a phone ({asked} of the {steps} of all lessons) are worked out, which takes up to half
a minute. *Open the projector's page* opens a tab of its own; whoever has that address leads. It survives a reload.
The code there leads phones to this machine's address also where you have opened the app as `localhost`; that the app
was started for this machine alone is said there, with what to do. Join with your own phone: it must be in the same
network, and some networks of schools keep phones from one another. Nobody needs a name or an account. A room ends with
your day, and all of it is deleted. Where more than a hundred phones answer while others explore the app, start it by
`python -m deploy` ([deploy](../deploy/README.md)): `python benchmarks/class_room.py` measures what they then wait.

**During.** Phones join with the code or the QR code, also later; once everybody is in, *Lock the room* keeps others
out. If more are in than sit there, end the class and start another, whose code is a new one. `→` asks, shows the
answers, tells the answer, and goes on; `←` goes back; `A` asks once more; `B` shows bars as answers come in, which
pulls the rest along. Two to three minutes a question: let them answer, show the answers, say nothing, have them
persuade a neighbour, vote again, tell the answer, and ask somebody who was wrong what they thought. Where more than
three quarters are right at once, go on without a second vote. Of fewer than five answers no bars are shown before the
answer is told. `S` dims all but the answer and what was chosen most beside it. *Open on the page* shows the numbers in
the app, *Why* works the answer's out. At the end the table says what was understood least,
and what may stand behind it; *Export CSV* saves counts, no persons.

**At home, or in pairs.** *A link for students*, below the lessons on *Learn*, opens a lesson about one of your
sentences, another one for each student, and leaves out what you take away, such as *What if*. It is text alone: nothing
is stored, and behind the `#` the sentences are told to no server before one is chosen.

**When the network fails.** A phone keeps what was not sent and sends it as soon as it can; one that slept catches up.
A server that restarts keeps its rooms. If phones do not reach the machine at all, take hands: the questions on the
projector work without them, and the handout has the same tasks on paper.

## Before a room

`P` on any page shows it to a room: one card of the page a screen, in letters of at least 20 pixels, and nothing else.
Arrows left and right (or the keys of a presenter) go from card to card, the last one works out the page's number; up
and down choose the row, `S` dims all others, `D` turns light into dark, `Esc` leads back. On *Attention* the first
card is the matrix. While a lesson is open, what it covers is left out here; without one the answer is seen, so show
it once everybody has answered. The menu *Share* begins it too, and a link with `#present=2` opens the second card.

## On paper

On *Learn* each lesson has a **handout**: an A4 page with a picture of the pass, all tasks on the sentence that is
open, room to write, and a code that leads a phone to the first step. Download it, open it in a browser and print it.
*For the teacher: handouts with key* adds a second page with the answers, the usual misconceptions, and what to say to
them. `python -m bertviz_core.lessons handouts --out FOLDER` writes all of them with their keys, as HTML and, where
Chromium or Chrome is installed, as PDF; `--text`, `--model` and `--address` (where your students open the app) are
yours to give.

## What is asked, and what goes wrong

With the lesson's own sentence and the bundled model; for your own, print the handout with key. A wrong answer mostly
comes from the belief in the last column; what the app then says answers that belief. A number counts as right where
it is as near as the task asks: to one decimal, 5.4 and 5.5 both do for 5.45.
"""


def write_notes(model: Model) -> str:
    """Notes for who teaches, as Markdown. model: whose answers stand in them."""
    minutes = sum(lesson.minutes for lesson in LESSONS)
    steps = sum(len(lesson.steps) for lesson in LESSONS)
    opened = list(open_lessons(model))
    head = _HEAD.format(
        count=len(LESSONS),
        steps=steps,
        minutes=minutes,
        links=", ".join(_link(lesson) for lesson in LESSONS),
        plans="\n\n".join(_write_plan(*plan) for plan in list_plans().items()),
        questions=len(BEFORE.steps),
        layers=model.config.num_hidden_layers,
        heads=model.config.num_attention_heads,
        minutes_of_quiz=BEFORE.minutes,
        asked=sum(1 for lesson, scene in opened for _ in list_questions(lesson, scene)),
    )
    return "\n".join([head, *(_write_lesson(lesson, scene) for lesson, scene in opened)])


def _link(lesson: Lesson) -> str:
    return f"`/{lesson.steps[0].page}?lesson={lesson.name}&step=1`"


def list_plans() -> Mapping[str, list[tuple[int, str]]]:
    """What each plan consists of, by its title: minutes, and what is done in them."""
    return {
        title: [part if isinstance(part, tuple) else _name_lesson(part) for part in parts]
        for title, parts in _PLANS.items()
    }


def _name_lesson(name: str) -> tuple[int, str]:
    lesson = next(lesson for lesson in LESSONS if lesson.name == name)
    return lesson.minutes, f"*{lesson.title}*: {len(lesson.steps)} steps"


def _write_plan(title: str, parts: list[tuple[int, str]]) -> str:
    rows = "\n".join(f"| {taken} | {what} |" for taken, what in parts)
    return f"**{title}**\n\n| minutes | |\n|---|---|\n{rows}"


def _write_lesson(lesson: Lesson, scene: Scene) -> str:
    number = LESSONS.index(lesson) + 1
    able = "\n".join(f"- {each}" for each in lesson.after)
    rows = "\n".join(_write_step(i, step, lesson, scene) for i, step in enumerate(lesson.steps, 1))
    return (
        f"### {number}. {lesson.title}\n\n"
        f"{lesson.line}; about {lesson.minutes} minutes. Afterwards a student can:\n\n{able}\n\n"
        f"Of “{lesson.text}”, at {scene.here}, layer {scene.layer}, head {scene.head}:\n\n"
        f"| | step | what is asked | answer | belief behind a wrong one |\n|---|---|---|---|---|\n{rows}\n"
    )


def _write_step(number: int, step: Step, lesson: Lesson, scene: Scene) -> str:
    kind = "predict" if step.once else _KINDS[type(step.ask)]
    parts = [PLACE.sub("…", text) for text in (step.task, "In the handout with key.", step.misconception)]
    if not step.costly:  # such a key takes many passes
        worked = work_out(lesson.name, step, scene)
        answer = "It depends on what is written." if isinstance(step.ask, Write) else _tell(step, scene, worked)
        parts = [fill(step.task, worked.numbers), answer, fill(step.misconception, worked.numbers)]
    asked, answer, belief = (part.replace("|", "\\|") for part in parts)
    return f"| {number} | {step.title} ({step.page.replace('_', ' ')}, {kind}) | {asked} | {answer} | {belief} |"


def _tell(step: Step, scene: Scene, worked: Worked) -> str:
    key, said = tell_answer(step, scene, worked)
    return f"**{key}** {said}".rstrip() if said else key
