"""A link that is copied holds what decides about the page, also where that is usual; it opens with its cell in view."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.formula.address import parse
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.site import name_place
from bertviz_core.ui.frame.view import Selection
from tests.browser import visit
from tests.canvas import open_canvas
from tests.often import seldom
from tests.test_pages import APP

SMALL = {"width": 1280, "height": 800}
QUERY = "encoder.layer.3.attention.self.query[head=5,query={},head_dim=31]"
WEIGHT = "encoder.layer.3.attention.self.probs[head=5,query={},key={}]"
# Whether the picture, as far as the window shows it, has the ring of a cell, and says its address to who points there.
IS_SEEN = """cell => {
    const stage = document.querySelector('.bvc-stage'), frame = stage.getBoundingClientRect();
    return [...document.querySelectorAll(`[data-ring="${CSS.escape(cell)}"]`)].some(ring => {
        const {left, top, width, height} = ring.getBoundingClientRect(), [x, y] = [left + width / 2, top + height / 2];
        if (x < frame.left || x > frame.right || y < frame.top || y > Math.min(frame.bottom, innerHeight)) return false;
        const place = {clientX: x, clientY: y, bubbles: true, pointerType: 'mouse'};
        stage.dispatchEvent(new PointerEvent('pointermove', place));
        return document.querySelector('.bvc-readout .bvc-address')?.textContent === cell;
    });
}"""


def query_of(link):
    return dict(parse_qsl(urlsplit(link).query))


def share(app):
    app.page.get_by_role("button", name="Share").click()
    link = app.find(":--popover-body").locator("code").inner_text()
    app.page.keyboard.press("Escape")
    return link


@pytest.mark.slow
def test_a_link_of_an_untouched_page_holds_sentence_model_and_place(app):
    app.open("attention")
    link = share(app)
    query = query_of(link)
    assert query.keys() == {"text", "model", "weights", "layer", "head", "token"}
    assert (query["text"], query["model"], query["token"]) == (EXAMPLES[0].text, "bundled", "8")
    name, _, digest = query["weights"].partition(":")
    assert name == "bundled" and re.fullmatch("[0-9a-f]{12}", digest)
    assert app.query == {}  # the address bar stays short
    said = (app.chosen(), app.title)
    app.page.goto(link)
    app.settle()
    assert (app.chosen(), app.title) == said
    assert query_of(app.page.url) == query_of(link)  # what a link names stays, so that Back leads out of it


@pytest.mark.rare
def test_the_link_of_the_drawer_holds_the_same(app):
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.open("attention", walk=WEIGHT.format(8, 0))
    app.page.get_by_role("button", name="Copy link").click()
    app.page.locator(".bv-told", has_text="Copied").first.wait_for()
    copied = query_of(app.page.evaluate("navigator.clipboard.readText()"))
    assert copied["walk"] == WEIGHT.format(8, 0) and copied["text"] == EXAMPLES[0].text and copied["model"] == "bundled"
    assert copied.keys() >= {"layer", "head", "token"}


@pytest.mark.rare
def test_the_link_beside_the_code_is_copied_by_a_button(app):
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.open("attention")
    app.page.get_by_role("button", name="Share").click()
    box = app.find(":--popover-body")
    box.get_by_role("button", name="Copy link").click()
    app.page.locator(".bv-told", has_text="Copied").first.wait_for()
    assert app.page.evaluate("navigator.clipboard.readText()") == box.locator("code").inner_text()


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    assert not at.exception
    return at


def test_a_sentence_that_the_url_names_stays_in_it_though_it_is_usual():
    at = opened(text=EXAMPLES[0].text, model="bundled", token="3")
    assert dict(at.query_params) == {"text": EXAMPLES[0].text, "model": "bundled", "token": "3"}
    assert dict(opened(token="3").query_params) == {"token": "3"}


def test_a_link_of_other_weights_says_so_and_one_of_another_model_does_not():
    def remarks(weights):
        return [info.value for info in opened(weights=weights).info if "other weights" in info.value]

    digest = bv.load_model("bundled").digest
    (said,) = remarks("bundled:0123456789ab")
    assert "0123456789ab" in said and digest in said
    assert remarks(f"bundled:{digest}") == remarks("another:0123456789ab") == []


CELLS = {
    "embeddings.LayerNorm[token=3,hidden=9]": {"layer": "4", "head": "7", "token": "3"},
    "encoder.layer.2.attention.self.key[head=1,key=5,head_dim=3]": {"layer": "2", "head": "1", "token": "5"},
    WEIGHT.format(3, 6): {"layer": "3", "head": "5", "token": "3", "key_token": "6"},
    "encoder.layer.1.intermediate.activation[token=4,intermediate=9]": {"layer": "1", "head": "7", "token": "4"},
    "cls.predictions.probs[token=8,vocab=3]": {"layer": "4", "head": "7", "token": "8"},
    "pooler.dense[pooled=3]": {"layer": "4", "head": "7", "token": "2"},
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_page_is_asked_to_look_at_the_cell(cell):
    assert {key.name: text for key, text in name_place(parse(cell), Selection(4, 7, 2)).items()} == CELLS[cell]


@pytest.mark.rare
def test_the_page_of_a_cell_opens_at_its_token(app):
    """From a cell of “rome” on the first page, which looks at [MASK]."""
    app.open(walk="embeddings.LayerNorm[token=3,hidden=9]")
    assert app.chosen()[2] == "token 8 [MASK]"
    with app.rerun():
        app.drawer.get_by_role("link", name="Embeddings ›").click()
    assert app.chosen()[2] == "token 3 rome" and app.title == "Embeddings"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "cell"),
    [seldom("head", WEIGHT.format(8, 0)), ("head", WEIGHT.format(11, 1)), seldom("head", QUERY.format(0)),
     seldom("head", QUERY.format(11)), seldom("layer", QUERY.format(0)), ("layer", QUERY.format(11))],
)  # fmt: skip
def test_the_cell_of_a_link_is_in_view(chromium, server, level, cell):
    """In a window in which, beside the drawer, not all rows of a head have room."""
    with visit(chromium, server, SMALL, motion="reduce") as app:
        open_canvas(app, level=level, layer=3, head=5, token=8, walk=cell)
        app.page.wait_for_function(IS_SEEN, arg=cell)


@pytest.mark.rare
def test_the_cell_of_a_link_is_in_view_far_from_the_chosen_token(chromium, server):
    """Of a long sentence some rows are sent: those around the cell, unless somebody has rolled to others."""
    where = {"text": "When in Rome, do as the [MASK] do. " * 30, "level": "layer", "layer": 3, "head": 5, "token": 8}
    with visit(chromium, server, SMALL, motion="reduce") as app:
        open_canvas(app, **where, walk=QUERY.format(200))
        app.page.wait_for_function(IS_SEEN, arg=QUERY.format(200))
        open_canvas(app, **where, walk=QUERY.format(200), window=20)
        assert not app.page.evaluate(IS_SEEN, QUERY.format(200))


@pytest.mark.rare
def test_rows_that_were_scrolled_away_stay_away(chromium, server):
    """A cell that is explained does not bring its row back once somebody looks elsewhere."""
    where = {"text": "When in Rome, do as the [MASK] do. " * 6, "level": "head", "layer": 3, "head": 5, "token": 8}
    with visit(chromium, server, SMALL, motion="reduce") as app:
        stage = open_canvas(app, **where, walk=WEIGHT.format(8, 0))
        app.page.wait_for_function(IS_SEEN, arg=WEIGHT.format(8, 0))
        stage.hover()
        app.page.mouse.wheel(0, 2000)
        app.page.wait_for_timeout(600)
        assert not app.page.evaluate(IS_SEEN, WEIGHT.format(8, 0))
