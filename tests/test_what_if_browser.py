"""What-if in a browser: set a number, see it everywhere, share it by the URL, undo it; zero the heads one by one."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.calm import await_findings

pytestmark = pytest.mark.slow

CELL = "encoder.layer.2.attention.self.probs[head=1,query=8,key=3]"


@pytest.fixture
def attention(app):
    app.open("attention", layer=2, head=1, walk=CELL)
    return app


def button(app, name):
    return app.page.get_by_role("button", name=name)


def bar(app):
    return app.page.locator(".st-key-what-if-line")


@pytest.mark.rare
def test_a_number_is_set_seen_shared_and_undone(attention):
    app, page = attention, attention.page
    first = app.shown()
    button(app, "Change this number").click()
    page.get_by_role("spinbutton", name="to", exact=True).fill("0.9")
    with app.rerun():
        page.get_by_role("spinbutton", name="to", exact=True).press("Enter")
    with app.rerun():
        button(app, "Run with this value").click()
    bar(app).wait_for()
    assert app.query["changes"] == f"{CELL}:0.9"
    assert "layer 2, head 1, weight of “[MASK]” on “rome” set to 0.9" in bar(app).inner_text()
    app.follow("Predictions")
    assert app.query["changes"] == f"{CELL}:0.9"
    await_findings(app)
    with app.rerun():
        bar(app).get_by_text("Difference", exact=True).click()
    assert app.query["show"] == "Difference"
    moved, shared = app.shown(), page.url
    with app.reloading():
        page.goto(shared)
    assert app.shown() == moved
    with app.rerun():
        bar(app).get_by_role("button", name="“rome” set to 0.9").press("Enter")
    bar(app).wait_for(state="detached")
    assert "changes" not in app.query
    app.open("attention", layer=2, head=1, walk=CELL)
    assert app.shown() == first


@pytest.mark.rare
def test_the_changes_on_offer_by_keyboard_alone(app):
    app.open("predictions", layer=2, head=1)
    keyboard = app.page.keyboard
    button(app, "What if").first.focus()
    with app.rerun():
        keyboard.press("Enter")
    button(app, "Zero the head").focus()
    with app.rerun():
        keyboard.press("Enter")
    assert "layer 2, head 1 set to 0" in bar(app).inner_text()
    assert button(app, "Zero the head").count() == 0  # the strip does not cover what it did
    assert "before your change" in app.page.locator("h1").inner_text()


def test_every_head_is_zeroed_unasked_and_nothing_moves_meanwhile(app):
    text = urlencode({"text": "the old man went to the sea and looked at the [MASK] and the ships"})
    app.page.goto(f"{app.url}/heads?{text}")  # `open` would wait for all of them
    app.page.locator(".head").nth(71).wait_for()
    marks = app.page.locator(".head b")
    places = app.page.locator(".head").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    expect(app.page.locator("h1")).to_contain_text("Without layer", timeout=60_000)
    expect(marks).to_have_text([re.compile(r"^([+−]\d+\.\d|0)$")] * 72)  # another part of the page than the headline
    now = app.page.locator(".head").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert now == pytest.approx(places, abs=0.5)  # pixels
    runs = []  # other parts of the page may look once more than those that have been waited for
    while len(runs) < 2 or (len(runs) < 8 and runs[-1] != runs[-2]):
        app.page.wait_for_timeout(1500)
        runs.append(app.page.evaluate("window.runs"))
    assert runs[-1] == runs[-2], "once all is known, nothing runs again"
