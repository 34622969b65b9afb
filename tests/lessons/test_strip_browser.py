"""Lessons in a real browser: a click proposes, *Check* marks, what was covered is shown, and the next step follows."""

import pytest
from playwright.sync_api import expect

from bertviz_core.lessons.catalogue import find_lesson
from tests.browser import PHONE, visit

STRIP = ".st-key-lesson-strip"
SHOWN = "() => document.querySelector('.st-key-lesson-strip').getBoundingClientRect()"


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


def test_a_click_proposes_and_check_marks_it(app):
    app.open("attention", lesson="attention", step=1)
    assert app.page.locator("#bv-drawer-title").count() == 0
    click_weight(app, 6)
    expect(app.page.locator(STRIP).get_by_role("combobox")).to_have_value("6 as")
    assert app.page.locator("#bv-drawer-title").count() == 0
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Not yet. You chose “as”")
    click_weight(app, 5)
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Right.")
    expect(app.page.locator("#bv-drawer-title")).to_be_visible()
    press(app, "Next: Which way")
    assert (app.query["lesson"], app.query["step"]) == ("attention", "2")
    assert not app.trouble


def test_a_prediction_is_run_and_the_next_step_takes_it_back(app):
    app.open("attention", lesson="attention", step=6)
    app.page.locator(STRIP).get_by_text("the others stay as they are").click()
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Otherwise.")
    assert app.query["changes"].endswith(":-10000")
    press(app, "Next: Looking and taking")
    expect(app.page.locator(".bv-cover")).to_have_count(1)
    assert app.query["step"] == "7"
    assert "changes" not in app.query


def test_a_number_is_checked_by_enter_and_a_hint_is_given(app):
    app.open("attention", lesson="attention", step=4)
    press(app, "Hint")
    expect(app.page.locator(f"{STRIP} .bv-hint")).to_have_count(1)
    field = app.page.locator(STRIP).get_by_role("textbox")
    field.fill("about two")
    with app.rerun():
        field.press("Enter")
    expect(verdict(app)).to_contain_text("in digits")
    field.fill("2,3")
    with app.rerun():
        field.press("Enter")
    expect(verdict(app)).to_contain_text("Right.")


def test_a_token_of_the_bar_is_proposed(app):
    app.open("tokenization", lesson="tokens", step=2)
    app.point(9)
    press(app, "Check")
    expect(verdict(app)).to_contain_text("Right.")
    assert "token" not in app.query


def test_a_lesson_is_left(app):
    app.open("attention", lesson="attention", step=1)
    press(app, "Leave")
    expect(app.page.locator(STRIP)).to_have_count(0)
    assert not {"lesson", "step"} & app.query.keys()


def test_the_catalogue_starts_a_lesson_on_its_page(app):
    app.open("learn")
    with app.rerun():
        app.page.locator(".st-key-learn-words").get_by_role("button", name="Start").click()
    step = find_lesson("words").steps[0]
    expect(app.page.locator(STRIP)).to_contain_text(step.title)
    assert (app.query["lesson"], app.query["step"]) == ("words", "1")


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, {"width": 1280, "height": 720}, PHONE], ids=str)
def test_the_strip_leaves_the_picture_in_view_and_is_not_cut_off(chromium, server, size):
    with visit(chromium, server, size) as app:
        app.open("attention", lesson="attention", step=1)
        box = app.page.evaluate(SHOWN)
        assert box["height"] <= 0.47 * size["height"]
        assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"] + 1
        assert app.find(":--plot").first.bounding_box()["y"] < box["y"]
        assert app.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
