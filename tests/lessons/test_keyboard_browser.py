"""Whole lessons by keyboard alone, and by touch; and no step has, whatever became of it, what keeps anybody out."""

import pytest
from playwright.sync_api import expect

from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.quiz import AFTER
from tests.axe import list_violations
from tests.browser import PHONE, WIDE, visit
from tests.lessons.answers import find_wrong, list_right
from tests.lessons.finger import Finger
from tests.lessons.keyboard import NEXT, STRIP, TASK, Keyboard
from tests.lessons.scenes import make_scene
from tests.often import often, seldom

ENDED = ".st-key-panel-learn-end h2"


def tell_end(lesson):
    count = len(lesson.steps)
    return f"{lesson.title}: {count} of {count} right, {count} at the first try"


def go_through(app, model, lesson, told):
    """From *Learn* through every step, each answered rightly, to the end. told: what is said of each answer."""
    scene, answers = make_scene(model, lesson.text), list_right(model, lesson)
    app.use_up()
    app.open("learn")
    keys = Keyboard(app)
    keys.tab_to(f'[class*="st-key-learn-start-{lesson.name}"] button', at_most=160)
    keys.send()
    for number, (step, said) in enumerate(zip(lesson.steps, answers, strict=True), 1):
        keys.wait_at(f'{STRIP} [data-step="{lesson.name} {number}"]')
        keys.answer(step, scene, said)
        expect(app.page.locator(f"{STRIP} [role=status]")).to_contain_text(told)
        keys.wait_at(NEXT)
        keys.send()
    keys.wait_at(f'[data-step="{lesson.name} end"]')


@pytest.mark.rare
@pytest.mark.parametrize("lesson", often(LESSONS, ["attention"]))
def test_a_lesson_is_done_by_keyboard_alone(chromium, server, bundled, lesson):
    with visit(chromium, server) as app:
        go_through(app, bundled, lesson, "Right.")
        expect(app.page.locator(ENDED)).to_have_text(tell_end(lesson))


@pytest.mark.rare
@pytest.mark.slow
def test_a_lesson_is_done_on_a_phone(chromium, server, bundled):
    lesson = find_lesson("attention")
    scene, answers = make_scene(bundled, lesson.text), list_right(bundled, lesson)
    with visit(chromium, server, PHONE, touch=True) as app:
        app.use_up()
        app.open("learn")
        finger = Finger(app)
        finger.send(f'[class*="st-key-learn-start-{lesson.name}"] button')
        for step, said in zip(lesson.steps, answers, strict=True):
            expect(app.page.locator(STRIP)).to_contain_text(step.title)
            finger.answer(lesson, step, scene, said)
            expect(app.page.locator(f"{STRIP} [role=status]")).to_contain_text("Right.")
            finger.send(NEXT)
        expect(app.page.locator(ENDED)).to_have_text(tell_end(lesson))


def answer(app, step, scene, said):
    """Answer in place of what was answered before; what axe finds in the strip then."""
    keys = Keyboard(app)
    keys.press(*["F6"] * (2 if keys.is_at(f"{STRIP} *") else 1))
    keys.wait_at(TASK)
    keys.answer(step, scene, said)
    return list_violations(app.page, STRIP)


WHOLE = ("row", "taken")  # where the page is looked at as well, in the others it is the same
KINDS = ("row", "ratio", "taken")  # a click, a number, a choice; and a covered page


@pytest.mark.rare
@pytest.mark.parametrize(
    ("size", "kinds"), [(WIDE, KINDS[:1]), seldom(WIDE, KINDS[1:]), seldom(PHONE, KINDS)], ids=["wide", None, None]
)
def test_nothing_of_a_step_keeps_anybody_out(chromium, server, bundled, size, kinds):
    """With axe: as it is asked, after a wrong answer and after the right one; and all lessons."""
    lesson = find_lesson("attention")
    scene, answers = make_scene(bundled, lesson.text), list_right(bundled, lesson)
    found = {}
    with visit(chromium, server, size) as app:
        page = app.use_up()
        app.open("learn")
        for number, (step, right) in enumerate(zip(lesson.steps, answers, strict=True), 1):
            if step.name not in kinds:
                continue
            app.open(step.page, lesson=lesson.name, step=number)
            found[step.name] = list_violations(page, None if step.name in WHOLE else STRIP)
            found[step.name, "wrong"] = answer(app, step, scene, find_wrong(lesson, step, scene))
            if step.once:  # no other answer counts
                page.evaluate("localStorage.clear()")
                app.open(step.page, lesson=lesson.name, step=number)
            found[step.name, "right"] = answer(app, step, scene, right)
        app.open("learn", lesson=lesson.name, step="end")
        found["learn"] = list_violations(page)
    assert {name: violations for name, violations in found.items() if violations} == {}


@pytest.mark.rare
@pytest.mark.slow
def test_the_quiz_is_done_by_keyboard_alone_and_says_at_its_end_what_was_right(chromium, server, bundled):
    with visit(chromium, server) as app:
        go_through(app, bundled, AFTER, "Noted")
        expect(app.page.locator(ENDED)).to_have_text(f"{AFTER.title}: 12 of 12 right")
        expect(app.page.locator(".st-key-panel-learn-quiz tbody tr:last-child")).to_contain_text("12 of 12")
