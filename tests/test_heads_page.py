"""The heads page in a browser: the map of all heads selects, and lines follow the pointer without the server."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from bertviz_core.figures.palette import DARK, LIGHT, PALETTES
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame import choices
from bertviz_core.ui.frame.keys import HEAD, LAYER, WALK
from tests.browser import PHONE, visit
from tests.calm import await_findings

pytestmark = pytest.mark.slow

PROBS = "encoder.layer.{}.attention.self.probs[head={}]"
MASK = 8


@pytest.fixture
def heads(app):
    return opened(app)


def opened(app, **query):
    """The page with its components, which the browser draws after everything else; the fold with the lines is open."""
    app.open("heads", **{"open": "lines", "layer": 0, "head": 0, **query})
    for drawn in (".head", ".lines line"):
        app.page.locator(drawn).first.wait_for(state="attached")
    return app


def head_button(app, layer, head):
    return app.page.locator(f'.head[data-layer="{layer}"][data-head="{head}"]')


def token(app, side, index):
    return app.page.locator(f'.side.{side} .token[data-index="{index}"]')


def runs(app):
    return app.page.evaluate("window.runs")


def selected(app):
    chosen = app.page.locator('.head[aria-selected="true"]')
    return chosen.get_attribute("data-layer"), chosen.get_attribute("data-head")


def wait_selected(app, layer, head):
    """The map is drawn a moment after the page has run."""
    app.page.locator(f'.head[aria-selected="true"][data-layer="{layer}"][data-head="{head}"]').wait_for()


def lines(app):
    """The lines that can be seen, as (y of the query, y of the key)."""
    return app.page.locator(".lines line").evaluate_all(
        """all => all.filter(line => !line.closest('.at-query, .at-key') || line.classList.contains('on'))
            .map(line => [+line.getAttribute('y1') - 0.5, +line.getAttribute('y2') - 0.5])"""
    )


def shares(app, side):
    """The shares that stand beside the tokens of one side."""
    return app.page.locator(f".side.{side} .number").all_inner_texts()


@pytest.mark.rare
def test_a_click_in_the_map_chooses_layer_and_head_for_all_pages(heads):
    assert selected(heads) == ("0", "0") and heads.chosen()[:2] == ("Layer 0", "Head 0")
    with heads.rerun():
        head_button(heads, 3, 5).click()
    wait_selected(heads, 3, 5)
    assert heads.chosen()[:2] == ("Layer 3", "Head 5")
    assert heads.query == {"open": "lines", "layer": "3", "head": "5"}
    assert "Layer 3, head 5" in heads.shown()
    heads.page.reload()
    heads.settle()
    wait_selected(heads, 3, 5)
    assert heads.chosen()[:2] == ("Layer 3", "Head 5")
    heads.follow("Feed-forward")
    assert heads.chosen()[:2] == ("Layer 3", "Head 5")


@pytest.mark.rare
def test_arrow_keys_walk_through_the_map_and_enter_chooses(heads):
    keyboard = heads.page.keyboard
    assert heads.page.locator('.head[tabindex="0"]').count() == 1
    heads.page.locator('.head[tabindex="0"]').focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"):
        keyboard.press(key)
    assert "layer 1, head 2" in heads.page.locator(".about").inner_text()
    assert selected(heads) == ("0", "0") and heads.query["head"] == "0"  # nothing is chosen yet
    keyboard.press("Enter")
    heads.page.wait_for_url(re.compile("layer=1&head=2(&|$)"))  # the map's own part of the page runs before the page
    heads.settle()
    wait_selected(heads, 1, 2)
    assert heads.chosen()[:2] == ("Layer 1", "Head 2")
    keyboard.press("End")  # the map keeps the focus
    keyboard.press("Enter")
    heads.page.wait_for_url(re.compile("layer=1&head=11(&|$)"))
    heads.settle()
    assert heads.chosen()[:2] == ("Layer 1", "Head 11")


@pytest.mark.rare
def test_the_menus_move_the_mark_in_the_map(heads):
    heads.choose("Layer", "Layer 4")
    heads.choose("Head", "Head 10")
    assert selected(heads) == ("4", "10")


@pytest.mark.rare
@pytest.mark.parametrize("theme", [pytest.param(LIGHT, marks=pytest.mark.rare), DARK])
def test_pictures_are_the_shares_in_the_colours_of_the_theme(chromium, server, rome, theme):
    with visit(chromium, server, theme=theme) as app:
        opened(app)
        head_button(app, 1, 8).hover()
        drawn = app.page.locator(".about canvas").evaluate(
            "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
        )
    png = draw_thumbnail(rome[PROBS.format(1, 8)], PALETTES[theme], "attention", share=True, end=1.0)
    expected = np.array(Image.open(io.BytesIO(base64.b64decode(png.partition(",")[2]))), dtype=int)
    pixels = np.array(drawn).reshape(12, 12, 4)
    assert (pixels[..., 3] == 255).all()
    assert np.abs(pixels[..., :3] - expected).max() <= 2  # the browser gets shares in steps of 1/255


@pytest.mark.rare
def test_the_map_and_the_lines_change_with_the_theme(heads):
    for head, theme in enumerate((DARK, LIGHT)):
        heads.use_up().emulate_media(color_scheme=theme)
        with heads.rerun():
            head_button(heads, 2, head).click()
        for name in (".map", ".lines:has(.side)"):
            text = heads.page.locator(name).evaluate("e => e.style.getPropertyValue('--text')")
            assert text == PALETTES[theme].text


@pytest.mark.rare
def test_pointing_at_a_token_leaves_its_lines_and_asks_the_server_nothing(heads, rome):
    await_findings(heads)
    probs, before, everything = rome[PROBS.format(0, 0)], runs(heads), lines(heads)
    assert sorted(everything) == [[q, k] for q, k in np.argwhere(probs >= 0.005).tolist()]
    token(heads, "query", 3).hover()
    assert lines(heads) and {q for q, _ in lines(heads)} == {3}
    assert shares(heads, "key") == [format_number(float(share)) for share in probs[3]]
    token(heads, "key", 11).hover()
    assert lines(heads) and {k for _, k in lines(heads)} == {11}
    assert shares(heads, "query") == [format_number(float(share)) for share in probs[:, 11]]
    heads.page.locator("h1").hover()
    assert lines(heads) == everything
    assert runs(heads) == before


@pytest.mark.rare
def test_the_keyboard_reaches_every_token_and_chooses_one(heads, rome):
    before = runs(heads)
    token(heads, "query", MASK).focus()
    heads.page.keyboard.press("ArrowUp")
    assert {q for q, _ in lines(heads)} == {MASK - 1}
    heads.page.keyboard.press("ArrowRight")
    assert {k for _, k in lines(heads)} == {MASK - 1}
    assert f"{MASK - 1} the is attended to most by" in heads.page.locator(".said").inner_text()
    assert runs(heads) == before
    with heads.rerun():
        heads.page.keyboard.press("Enter")
    assert heads.chosen()[2] == f"token {MASK - 1} the" and heads.query["token"] == f"{MASK - 1}"
    assert token(heads, "key", MASK - 1).get_attribute("aria-selected") == "true"


def test_special_tokens_can_be_hidden(heads):
    with heads.rerun():
        heads.page.get_by_text("Leave out [CLS] and [SEP]").click()
    assert heads.page.locator(".side.query .token").count() == 10
    assert token(heads, "key", 0).count() == token(heads, "query", 11).count() == 0
    assert "Not shown: on average" in heads.shown()


@pytest.mark.rare
def test_lines_from_one_sentence_to_the_other(app):
    opened(app, text="He sat by the river.", pair="The water was cold.", layer=2, head=9)
    with app.rerun():
        app.page.get_by_role("radio", name="A→B").click()
    places = {
        side: app.page.locator(f".side.{side} .token").evaluate_all("all => all.map(t => +t.dataset.index)")
        for side in ("query", "key")
    }
    assert places == {"query": list(range(8)), "key": list(range(8, 14))}


@pytest.mark.rare
def test_many_tokens_are_drawn_around_the_chosen_one(app):
    opened(app, layer=5)
    app.type("very " * 300 + "[MASK] " + "very " * 200)
    assert app.chosen()[2] == "token 301 [MASK]"
    for side in ("query", "key"):
        assert app.page.locator(f".side.{side} .token").count() == 40
        assert token(app, side, 301).get_attribute("aria-selected") == "true"
    assert "Shown: queries 281–320 of 503." in app.shown()
    assert "neighbouring queries and keys" in app.shown()


def test_a_phone_shows_the_map_and_the_lines_without_scrolling_sideways(chromium, server):
    with visit(chromium, server, size=PHONE) as app:
        opened(app)
        for name in (".frame", ".lines:has(.side)"):
            inside = app.page.locator(name).evaluate("e => e.scrollWidth <= e.clientWidth + 1")
            assert inside and app.page.locator(name).bounding_box()["width"] >= 300
        with app.rerun():
            head_button(app, 5, 11).click()
        assert app.chosen()[:2] == ("Layer 5", "Head 11")


def test_a_click_on_a_head_chooses_its_layer_and_its_head_and_the_same_number_of_it(monkeypatch):
    said, cell = {}, read_address("encoder.layer.0.attention.self.probs[head=0,query=1,key=2]")
    monkeypatch.setattr(choices, "choose", said.update)
    monkeypatch.setattr(choices, "read_explained", lambda: cell)
    choices.choose_head(3, 7)
    assert said == {LAYER: "3", HEAD: "7", WALK: "encoder.layer.3.attention.self.probs[head=7,query=1,key=2]"}
