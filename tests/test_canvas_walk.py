"""The walk of ten stops on the first page's canvas: played, stepped, left and interrupted."""

import pytest

from bertviz_core.analysis.openings import open_key
from bertviz_core.lessons.catalogue import LESSONS
from tests.browser import PHONE, visit
from tests.canvas import open_canvas, press, wait_for_query

pytestmark = pytest.mark.slow


@pytest.mark.rare
def test_the_walk_is_played_stepped_and_left(still):
    stage = open_canvas(still)
    stage.focus()
    press(still, "Space")
    still.page.wait_for_selector('.bvc[data-stop="1"]')
    press(still, "Space")
    wait_for_query(still, play="1")
    for stop in range(2, 11):
        press(still, "ArrowRight")
        still.page.wait_for_selector(f'.bvc[data-stop="{stop}"]')
        said = still.page.locator(".bvc-say p").first.inner_text()
        assert said and said in still.page.locator(".bvc-live").text_content()
    wait_for_query(still, play="10")
    press(still, "Escape")
    still.page.wait_for_selector('.bvc[data-stop=""]')


@pytest.mark.rare
def test_the_walk_leads_on_to_the_first_lesson(still):
    """With the sentence that was walked through, and without its changes."""
    open_canvas(still, play=10, text="the cat sat", changes="encoder.layer.2.attention.self.probs[head=0]:0")
    still.page.get_by_role("button", name="Go on: lesson 1").click()
    wait_for_query(still, lesson=LESSONS[0].name, step="1", text="the cat sat")
    still.settle()
    assert "changes" not in still.query
    assert still.page.locator(".st-key-lesson-strip").inner_text().startswith(LESSONS[0].title)


def test_on_a_phone_nothing_lies_over_the_last_row_of_buttons(chromium, server):
    with visit(chromium, server, PHONE, motion="reduce", touch=True) as app:
        open_canvas(app, play=1)
        tabs, over = (app.page.locator(name).bounding_box() for name in (".bvc-tabs", ".st-key-map"))
        assert tabs["y"] + tabs["height"] <= over["y"] + 1


def test_without_motion_a_stop_is_drawn_as_it_ends(still, rome):
    open_canvas(still, level="head", play=4)
    scores = rome["encoder.layer.2.attention.self.scores[head=0,query=8]"]
    still.page.wait_for_selector(f".bvc-drawn text:has-text('√32 = {float(scores[open_key(rome, 2, 0, 8).key]):.2f}')")


@pytest.mark.rare
def test_who_leaves_while_it_plays_arrives(app):
    open_canvas(app).focus()
    press(app, "Space")
    app.page.wait_for_selector('.bvc[data-stop="1"]')
    app.follow("Attention")
    app.page.wait_for_timeout(300)  # what the canvas has still to say, if anything
    app.settle()
    assert app.find(":--alert").count() == 0 and app.title == "Attention"


@pytest.mark.rare
def test_another_layer_or_token_while_it_plays_does_not_end_the_walk(app):
    open_canvas(app).focus()
    press(app, "Space", "ArrowRight", "ArrowRight", "Space")
    app.page.wait_for_selector('.bvc[data-stop="3"]')
    press(app, "]")
    wait_for_query(app, layer="3")
    app.settle()
    app.point(5)
    wait_for_query(app, token="5")
    assert app.page.locator(".bvc").get_attribute("data-stop") in "34"  # it may have gone on
    assert app.page.get_by_role("button", name="Pause", exact=True).count() == 1
    assert app.query["layer"] == "3"
    app.page.locator(".bvc-crumbs button").first.click()
    app.page.wait_for_selector('.bvc[data-stop=""]')
    assert app.page.get_by_role("button", name="Play", exact=True).count() == 1


@pytest.mark.rare
def test_fast_keys_are_told_one_after_the_other(app):
    stage = open_canvas(app, level="head", play=4)
    stage.focus()
    before = app.sent
    for key in (["ArrowRight"] * 3 + ["ArrowLeft"] * 3) * 4 + ["ArrowRight"]:
        app.page.keyboard.press(key)
        app.page.wait_for_timeout(80)  # longer than choices are put together
    wait_for_query(app, play="5")
    assert app.sent - before < 12


@pytest.mark.rare
def test_a_shape_is_not_drawn_into_one_of_another_kind(still):
    """What two stops draw under the same name, a bar here and a word there, is seen whichever was before."""
    count = "[...document.querySelectorAll('.bvc-drawn *')].map(each => each.tagName).sort().join()"
    open_canvas(still, level="head", play=5)
    at_once = still.page.evaluate(count)
    open_canvas(still, level="head", play=4).focus()
    press(still, "ArrowRight")
    still.page.wait_for_selector('.bvc[data-stop="5"]')
    assert still.page.evaluate(count) == at_once


@pytest.mark.rare
def test_the_focus_stays_in_the_picture(app):
    open_canvas(app)
    app.page.get_by_role("button", name="Show me").focus()
    press(app, "Enter")
    app.page.wait_for_selector('.bvc[data-stop="1"]')
    assert app.page.evaluate("document.querySelector('.bvc').contains(document.activeElement)")
    press(app, "?", "Tab", "Tab", "Tab", "Escape")
    assert app.page.locator(".bvc-help").is_hidden()
    assert app.page.locator(".bvc").get_attribute("data-stop") == "1"
    assert app.page.evaluate("document.activeElement.matches('.bvc-stage')")
