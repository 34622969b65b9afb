"""Lessons by keyboard alone: from the page with all lessons through every step of one, and back there at its end."""

import pytest
from playwright.sync_api import expect

from bertviz_core.lessons.catalogue import LESSONS
from tests.browser import visit
from tests.lessons.answers import list_right
from tests.lessons.keyboard import NEXT, STRIP, Keyboard
from tests.lessons.scenes import make_scene


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_done_by_keyboard_alone(chromium, server, bundled, lesson):
    scene, answers = make_scene(bundled, lesson.text), list_right(bundled, lesson)
    with visit(chromium, server) as app:
        app.use_up()
        app.open("learn")
        keys = Keyboard(app)
        keys.tab_to(f'[class*="st-key-learn-start-{lesson.name}"] button', at_most=120)
        keys.send()
        for number, (step, said) in enumerate(zip(lesson.steps, answers, strict=True), 1):
            keys.wait_at(f'{STRIP} [data-step="{lesson.name} {number}"]')
            keys.answer(step, scene, said)
            expect(app.page.locator(f"{STRIP} [role=status]")).to_contain_text("Right.")
            keys.wait_at(NEXT)
            keys.send()
        keys.wait_at(f'[data-step="{lesson.name} end"]')
        count = len(lesson.steps)
        expect(app.page.locator(".st-key-learn-end h2")).to_have_text(
            f"{lesson.title}: {count} of {count} at the first try"
        )
