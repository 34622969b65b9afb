"""The first page's canvas under a finger, and its rail under the mouse."""

import re

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, visit

pytestmark = pytest.mark.rare

TOP = expand("document.querySelector(':--main').scrollTop")


@pytest.fixture(scope="module")
def phone(chromium, server):
    """One tab of a phone for all tests: each begins where the last one ended."""
    with visit(chromium, server, PHONE, motion="reduce", touch=True) as app:
        app.open(level="layer")
        yield app


@pytest.fixture
def finger(phone):
    """Moves a finger over the picture by real touch events: `finger(type, x, y)`."""
    session = phone.page.context.new_cdp_session(phone.page)

    def move(kind, *place):
        points = [dict(zip("xy", place, strict=True))] if place else []
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    yield move
    session.detach()


def drag(finger, start, end, steps=8):
    finger("Start", *start)
    for i in range(1, steps + 1):
        finger("Move", *(a + (b - a) * i / steps for a, b in zip(start, end, strict=True)))
    finger("End")


def stage_of(app):
    return app.page.locator('.bvc-strip [aria-pressed="true"]').inner_text()


def middle(app):
    box = app.page.locator(".bvc-stage").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_swipe_to_the_side_changes_the_stage(phone, finger):
    x, y = middle(phone)
    assert stage_of(phone) == "Q K V"
    drag(finger, (x + 70, y), (x - 70, y + 10))
    phone.page.wait_for_selector('.bvc-strip [aria-pressed="true"]:text("Heads")')
    drag(finger, (x - 70, y), (x + 70, y + 10))
    phone.page.wait_for_selector('.bvc-strip [aria-pressed="true"]:text("Q K V")')
    assert phone.query == {"level": "layer"}


def test_a_swipe_up_scrolls_the_page_and_nothing_else(phone, finger):
    x, y = middle(phone)
    assert phone.page.evaluate(TOP) == 0
    drag(finger, (x, y + 100), (x + 20, y - 100))
    phone.page.wait_for_function(f"() => {TOP} > 20")
    assert stage_of(phone) == "Q K V" and phone.page.locator(".bvc-loupe").is_hidden()
    assert phone.explained == "" and phone.query == {"level": "layer"}
    phone.find(":--main").evaluate("main => main.scrollTo(0, 0)")


def test_a_finger_that_rests_sees_through_a_loupe_and_the_readout_follows(phone, finger):
    _, y = middle(phone)
    x = phone.page.locator(".bvc-drawn text", has_text=re.compile("^K$")).first.bounding_box()["x"] + 20
    loupe, address = phone.page.locator(".bvc-loupe"), phone.page.locator(".bvc-readout .bvc-address")
    finger("Start", x, y)
    loupe.wait_for(state="visible")
    first = address.text_content()
    for i in range(1, 7):
        finger("Move", x, y + 20 * i)
    phone.page.wait_for_function("first => document.querySelector('.bvc-address').textContent !== first", arg=first)
    rows = [int(re.search(r"(?:query|key|token)=(\d+)", text)[1]) for text in (first, address.text_content())]
    assert rows[1] > rows[0] and loupe.is_visible()
    assert phone.page.evaluate(TOP) == 0
    finger("End")
    loupe.wait_for(state="hidden")
    assert phone.explained == "" and stage_of(phone) == "Q K V"


def test_a_word_opens_its_story(phone, finger):
    phone.open()
    phone.page.locator(".bvc-strip").get_by_role("button", name="Words").tap()
    word = phone.page.locator(".bvc-drawn text", has_text="others").bounding_box()
    finger("Start", word["x"] + 4, word["y"] + 8)
    finger("End")
    phone.page.wait_for_url("**/story?*")
    phone.settle()
    assert (phone.title, phone.query["story-of"]) == ("Shortest story", "“others” at position 8")


def test_the_rail_moves_the_window_with_the_mouse(app):
    app.open(text="When in Rome, do as the [MASK] do. " * 30, token=8)
    rail, thumb = app.page.locator(".bvc-rail"), app.page.locator(".bvc-rail div")
    assert rail.get_attribute("title").startswith("Tokens 0 to ")
    box, held = rail.bounding_box(), thumb.bounding_box()
    app.page.mouse.move(held["x"] + 4, held["y"] + 5)
    app.page.mouse.down()
    app.page.mouse.move(held["x"] + 4, box["y"] + box["height"] / 2, steps=6)
    app.page.mouse.up()
    app.page.wait_for_function(r"() => /^Tokens 1[3-6]\d to /.test(document.querySelector('.bvc-rail').title)")
    app.page.wait_for_function(r"() => /[?&]window=1[0-9]{2}(&|$)/.test(location.search)")
    first = int(re.search(r"\d+", rail.get_attribute("title"))[0])
    indices = app.page.locator(".bvc-drawn text", has_text=re.compile(r"^\d{3}$")).all_text_contents()
    assert str(first) in indices
