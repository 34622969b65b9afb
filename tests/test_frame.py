"""The frame in a real browser: the bar on narrow windows, the map at a phone's foot, the sentence edited in place."""

import re

import pytest
from playwright.sync_api import expect

from bertviz_core.ui.frame.controls import EXAMPLES, LONGEST_TEXT, PAIR
from tests.browser import PHONE, visit
from tests.often import seldom

pytestmark = pytest.mark.slow

NARROW, ZOOMED = {"width": 320, "height": 640}, {"width": 720, "height": 450}  # the second: 1440 x 900 at 200 %
# What lies over something else of the frame, and what is cut off at the window's edge.
OVERLAPS = """() => {
  const parts = [...document.querySelectorAll('.st-key-bar > *')].filter((each) => each.checkVisibility());
  const boxes = parts.map((each) => each.getBoundingClientRect()).filter(({ width, height }) => width && height);
  const over = boxes.flatMap((one, i) => boxes.slice(i + 1).filter((two) =>
    one.left < two.right - 1 && two.left < one.right - 1 && one.top < two.bottom - 1 && two.top < one.bottom - 1));
  return [over.length, boxes.filter(({ left, right }) => left < 0 || right > innerWidth).length];
}"""
ROWS = """() => [...document.querySelectorAll('.st-key-bar button:not(.bv-chip, .bv-skip)')]
  .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())
  .map(({ top, height, width }) => [Math.round(top + height / 2), Math.min(width, height) >= 40])"""


@pytest.mark.parametrize("size", [PHONE, seldom(NARROW, name="narrow"), ZOOMED], ids=["phone", None, "zoomed"])
def test_nothing_in_the_bar_overlaps_and_nothing_is_cut_off(chromium, server, size):
    with visit(chromium, server, size) as app:
        app.open("attention")
        assert app.page.evaluate(OVERLAPS) == [0, 0]
        assert app.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.rare
def test_a_phone_has_the_bar_in_one_row_and_the_map_at_its_foot(chromium, server):
    with visit(chromium, server, PHONE) as app:
        app.open("attention")
        rows = app.page.evaluate(ROWS)
        assert len({middle for middle, _ in rows}) == 1 and all(large for _, large in rows)
        lowest = app.page.locator(".st-key-map").bounding_box()
        assert lowest["y"] + lowest["height"] == pytest.approx(PHONE["height"], abs=1)
        assert app.find(":--plot").first.bounding_box()["y"] <= 260


def test_the_sentence_is_edited_over_the_bar_and_an_example_is_a_card(app):
    app.open("attention")
    app.page.get_by_role("button", name="Edit the sentence", exact=True).click()
    assert app.sentence.bounding_box()["y"] < 48
    app.sentence.fill("The cat sat.")
    with app.rerun():
        app.page.get_by_role("button", name="Run").click()
    app.sentence.wait_for(state="hidden")
    app.page.wait_for_url(re.compile("[?&]text=The"))  # the part that was pressed has a run of its own before
    assert app.query["text"] == "The cat sat."
    app.page.get_by_role("button", name="Edit the sentence", exact=True).click()
    cards = app.page.locator(".st-key-examples").get_by_role("button")
    expect(cards).to_have_count(len(EXAMPLES))
    with app.rerun():
        cards.filter(has_text=PAIR.pair).click()
    app.page.wait_for_url(re.compile("[?&]pair="))
    assert (app.query["text"], app.query["pair"]) == (PAIR.text, PAIR.pair)


@pytest.mark.rare
def test_a_pasted_text_that_a_field_does_not_take_is_said_to_be_too_long(app):
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.open("attention")
    app.page.get_by_role("button", name="Edit the sentence", exact=True).click()
    expect(app.sentence).not_to_have_value("")
    before = app.sentence.input_value()

    def paste(text):
        app.sentence.press("ControlOrMeta+a")
        app.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        app.page.keyboard.press("ControlOrMeta+v")
        app.page.wait_for_timeout(300)
        return app.sentence.input_value(), app.sentence.evaluate("field => field.validationMessage")

    assert paste("a" * (LONGEST_TEXT + 1)) == (
        before,
        "The pasted text, of 6,001 characters, is too long for this field, which is as it was.",
    )
    assert paste("a" * LONGEST_TEXT) == ("a" * LONGEST_TEXT, "")
    assert paste("a" * LONGEST_TEXT) == ("a" * LONGEST_TEXT, "")
