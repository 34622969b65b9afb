"""Lessons in a real browser: a click proposes, *Check* marks, what was covered is shown, and the next step follows."""

import pytest
from playwright.sync_api import expect

from bertviz_core.analysis.openings import open_head
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.marking import work_out
from bertviz_core.programs.names import SELF_ATTENTION
from tests.browser import PHONE, visit
from tests.lessons.keyboard import NEXT, STRIP, TASK, Keyboard
from tests.lessons.scenes import make_scene
from tests.often import often

pytestmark = pytest.mark.slow

SHOWN = "() => document.querySelector('.st-key-lesson-strip').getBoundingClientRect()"


@pytest.fixture(scope="module")
def ratio(bundled):
    """The answer to the step of the lesson on attention that asks how many times larger a weight is."""
    lesson = find_lesson("attention")
    step = next(step for step in lesson.steps if step.name == "ratio")
    return f"{work_out(lesson.name, step, make_scene(bundled, lesson.text)).key:.1f}"


def press(app, name):
    with app.rerun():
        app.page.locator(STRIP).get_by_role("button", name=name).last.click()


def click_weight(app, key):
    """On a cell of the row of [MASK], twelve tokens to a side."""
    box = app.find(":--heatmap").first.bounding_box()
    with app.rerun():
        app.page.mouse.click(box["x"] + box["width"] * (key + 0.5) / 12, box["y"] + box["height"] * 8.5 / 12)


def verdict(app):
    return app.page.locator(f"{STRIP} [role=status]")


def type_answer(app, number):
    """Type the right number, and check it by Enter."""
    field = app.page.locator(STRIP).get_by_role("textbox")
    field.fill(number)
    with app.rerun():
        field.press("Enter")
    expect(verdict(app)).to_contain_text("Right.")


@pytest.mark.rare
def test_a_click_proposes_and_check_marks_it(app, rome):
    place = open_head(rome, 8)
    row = rome[SELF_ATTENTION.enter("probs").in_layer(place.layer).fix(head=place.head, query=8)]
    second, key = (int(each) for each in row.argsort()[-2:])
    app.open("attention", lesson="attention", step=1)
    assert app.page.locator("#bv-drawer-title").count() == 0
    click_weight(app, second)
    expect(app.page.locator(STRIP).get_by_role("combobox")).to_have_value(f"{second} {rome.tokens[second]}")
    assert app.page.locator("#bv-drawer-title").count() == 0
    wide = app.find(":--heatmap").first.bounding_box()["width"]
    press(app, "Check")
    expect(verdict(app)).to_contain_text(f"Not yet. You chose “{rome.tokens[second]}”")
    click_weight(app, key)
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Right.")
    expect(app.page.locator("#bv-drawer-title")).to_be_visible()
    assert app.find(":--heatmap").first.bounding_box()["width"] == wide, "the drawer has its place already"
    press(app, "Next: Which way")
    assert (app.query["lesson"], app.query["step"]) == ("attention", "2")
    assert not app.trouble


@pytest.mark.rare
def test_a_prediction_is_run_and_the_next_step_takes_it_back(app):
    app.open("attention", lesson="attention", step=6)
    app.page.locator(STRIP).get_by_text("the others stay as they are").click()
    press(app, "Check")
    expect(verdict(app)).to_contain_text("It came out differently.")
    assert app.query["changes"].endswith(":-10000")
    press(app, "Next: Looking and taking")
    expect(app.page.locator(".bv-cover")).to_have_count(1)
    assert app.query["step"] == "7"
    assert "changes" not in app.query


def test_a_number_is_checked_by_enter_and_a_hint_is_given(app, ratio):
    app.open("attention", lesson="attention", step=4)
    press(app, "Hint")
    expect(app.page.locator(f"{STRIP} .bv-hint")).to_have_count(1)
    field = app.page.locator(STRIP).get_by_role("textbox")
    field.fill("about two")
    with app.rerun():
        field.press("Enter")
    expect(verdict(app)).to_contain_text("in digits")
    field.fill(ratio.replace(".", ","))
    with app.rerun():
        field.press("Enter")
    expect(verdict(app)).to_contain_text("Right.")


def test_a_token_of_the_bar_is_proposed(app):
    app.open("tokenization", lesson="tokens", step=2)
    app.point(9)
    expect(app.page.locator(STRIP).get_by_role("combobox")).not_to_have_value("")
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Right.")
    assert "token" not in app.query


@pytest.mark.rare
def test_what_an_answer_uncovers_comes_into_view(chromium, server, ratio):
    with visit(chromium, server, {"width": 1280, "height": 720}) as app:
        app.open("attention", lesson="attention", step=4)
        type_answer(app, ratio)
        app.page.wait_for_function(
            """() => {
                const card = document.querySelector('[data-asked]').getBoundingClientRect();
                const strip = document.querySelector('.st-key-lesson-strip').getBoundingClientRect();
                return !document.querySelector('.bv-cover') && card.height > 250 && strip.top - card.top > 250;
            }"""
        )


@pytest.mark.rare
def test_a_sentence_of_ones_own_is_marked_and_shown_at_the_head_that_was_asked_about(app):
    app.open("attention", lesson="attention", step=8)
    layer, head, _ = app.chosen()
    fields = app.page.locator(STRIP).get_by_role("textbox")
    fields.nth(0).fill("The capital of France is [MASK].")
    fields.nth(1).fill("france")
    press(app, "Check")
    expect(verdict(app)).to_contain_text("gets most")
    assert app.chosen()[:2] == (layer, head) and app.page.locator("#bv-drawer-title").count() == 1
    assert app.query["text"] == "The capital of France is [MASK]."


@pytest.mark.rare
def test_a_lesson_is_left(app):
    app.open("attention", lesson="attention", step=1)
    press(app, "Leave")
    expect(app.page.locator(STRIP)).to_have_count(0)
    assert not {"lesson", "step"} & app.query.keys()


def test_the_catalogue_starts_a_lesson_on_its_page(app):
    app.open("learn")
    with app.rerun():
        app.page.locator(".st-key-panel-learn-words").get_by_role("button", name="Start").click()
    step = find_lesson("words").steps[0]
    expect(app.page.locator(STRIP)).to_contain_text(step.title)
    assert (app.query["lesson"], app.query["step"]) == ("words", "1")


@pytest.mark.rare
def test_answers_are_kept_in_the_browser_until_one_forgets_them(app, ratio):
    app.open("attention", lesson="attention", step=4)
    type_answer(app, ratio)
    app.open("attention", lesson="attention", step=4)
    expect(verdict(app)).to_contain_text("Right.")
    app.open("learn")
    card = app.page.locator(".st-key-panel-learn-attention")
    expect(card.get_by_role("button", name="Go on: Minus")).to_have_count(0)
    dot = app.page.locator('[class*="st-key-lesson-dot-attention-3-once"]')
    expect(dot).to_have_count(1)
    with app.rerun():
        app.page.get_by_role("button", name="Forget my answers").click()
    expect(dot).to_have_count(0)
    app.page.wait_for_function("() => !localStorage.getItem('bertviz-lessons')")  # a while after it is drawn
    app.open("learn")
    expect(card.get_by_role("button", name="Start")).to_have_count(1)
    expect(dot).to_have_count(0)


@pytest.mark.rare
def test_the_keyboard_goes_from_picture_to_task_and_from_an_answer_on(app, ratio):
    app.open("attention", lesson="attention", step=4)
    focused = "() => document.activeElement.closest('.st-key-lesson-strip') ? document.activeElement.innerText : ''"
    app.page.get_by_role("button", name="To the task").focus()
    app.page.keyboard.press("Enter")
    assert "?" in app.page.evaluate(focused)
    app.page.keyboard.press("F6")
    assert app.page.evaluate(focused) == ""
    app.page.keyboard.press("F6")
    assert "?" in app.page.evaluate(focused)
    app.page.keyboard.press("Tab")
    app.page.keyboard.type(ratio)
    with app.rerun():
        app.page.keyboard.press("Enter")
    app.page.wait_for_function(f"() => ({focused})().startsWith('Next')")
    with app.rerun():
        app.page.keyboard.press("Enter")
    assert app.query["step"] == "5"
    app.page.wait_for_function(f"() => ({focused})().length > 0 && !({focused})().startsWith('Next')")


@pytest.mark.rare
def test_the_keyboard_keeps_its_place_where_the_strip_or_the_drawer_is_drawn_anew(app, ratio):
    app.open("attention", lesson="attention", step=4)
    keys = Keyboard(app)
    app.page.locator("[data-asked]").wait_for(state="attached")
    keys.press("F6")
    keys.wait_at(TASK)
    keys.tab_to(f"{STRIP} input[type=text]")
    app.page.keyboard.type(ratio)
    keys.send()
    keys.wait_at(NEXT)
    keys.tab_to("[data-cell]")
    keys.send()
    keys.wait_at("#bv-drawer-title")
    keys.send("Escape")
    keys.wait_at(f"{STRIP} [data-cell]")
    keys.tab_to(".st-key-lesson-fold button", key="Shift+Tab")
    keys.send()
    expect(app.page.locator(STRIP)).to_have_count(0)
    keys.wait_at(".st-key-lesson-folded .st-key-lesson-fold button")
    keys.send()
    keys.wait_at(f"{STRIP} .st-key-lesson-fold button")


WINDOWS = [{"width": 1440, "height": 900}, {"width": 1280, "height": 720}, PHONE]
FREE = """() => {
    const box = (one) => one?.getBoundingClientRect();
    const [strip, asked] = ['.st-key-lesson-strip', '[data-asked]'].map((one) => box(document.querySelector(one)));
    const frame = [...document.querySelectorAll('.st-key-bar, .st-key-map')].map(box);
    const above = Math.max(...frame.filter(({top}) => top < innerHeight / 2).map(({bottom}) => bottom));
    return {
        asked: Boolean(asked), top: asked?.top - above, bottom: strip.top - asked?.bottom,
        drawer: document.querySelector('#bv-drawer-title')
            ? strip.top - box(document.querySelector('.st-key-drawer')).bottom : 0,
        high: strip.height / innerHeight,
        inFrame: Boolean(document.querySelector('.st-key-bar [data-asked], .st-key-map[data-asked]')),
        wide: document.documentElement.scrollWidth - innerWidth,
        struck: Boolean(asked && strike(document.querySelector('[data-asked]'))),
    };
    // Whether the ring, or its number, goes through the sentence above.
    function strike(one) {
        const sentence = box(document.querySelector('.st-key-headline p'));
        const [ring, number] = [getComputedStyle(one), getComputedStyle(one, '::after')];
        const wide = parseFloat(ring.outlineOffset) + parseFloat(ring.outlineWidth);
        const out = Math.max(0, wide, -parseFloat(number.top));
        return sentence && sentence.bottom > asked.top - out && sentence.top < asked.top;
    }
}"""


@pytest.mark.parametrize("lesson", often(LESSONS, []))
def test_the_strip_covers_nothing_that_is_asked_at_any_size(chromium, server, lesson):
    with visit(chromium, server, WINDOWS[0]) as app:
        page = app.use_up()
        for number, step in enumerate(lesson.steps, 1):
            app.open(step.page, lesson=lesson.name, step=number, text=lesson.text, open=step.fold)
            page.locator("[data-asked]").first.wait_for(state="attached")
            for size in WINDOWS:
                page.set_viewport_size(size)
                app.settle()
                page.wait_for_timeout(600)
                free, where = page.evaluate(FREE), f"{lesson.name} {number} at {size['width']}"
                assert free["asked"] and free["wide"] <= 0 and free["high"] <= 0.47, (where, free)
                assert not free["struck"], (where, free)
                whole = free["top"] >= 0 and free["bottom"] >= 0
                filled = 0 <= free["top"] <= 40 and free["bottom"] < 0  # what is higher than the room fills it
                assert size == PHONE or abs(free["drawer"]) < 2, (where, free)
                assert free["inFrame"] or whole or filled, (where, free)
