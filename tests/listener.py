"""The page with one of everything that the listener knows, in a browser; and what is measured and done there."""

import json
from contextlib import contextmanager

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, running, visit

PROBS = "encoder.layer.1.attention.self.probs[head=2,query={},key={}]"
FAR = "encoder.layer.1.attention.self.value[head=2,key=4,head_dim=6]"  # 900 pixels down the page
TOKENS, WIDTH = 6, {"weights": 6, "vectors": 8}
CLOSE = 2  # pixels
FRAME = 124  # pixels at the top that the app's frame covers
SCROLLED = expand("""([before, by]) => {
    const main = document.querySelector(':--main'), end = main.scrollHeight - main.clientHeight;
    return Math.abs(main.scrollTop - Math.max(0, Math.min(end, before + by))) < 2;
}""")


@pytest.fixture(scope="session")
def trial(tmp_path_factory):
    with running(tmp_path_factory.mktemp("listener"), "tests/listener_app.py") as url:
        yield url


@pytest.fixture(scope="session")
def tab(chromium, trial):
    """One tab for all tests that need no fresh one: opening it takes longer than they do."""
    with visit(chromium, trial) as app:
        yield open_at(app)


@pytest.fixture
def calm(tab):
    """The tab with no drawer open, nothing pointed at and nothing focused, at the top of the page."""
    if tab.page.locator("[data-close]").count():
        with tab.rerun():
            tab.page.locator("[data-close]").click()
    tab.page.mouse.move(5, 5)
    tab.page.evaluate(expand("document.activeElement.blur(); document.querySelector(':--main').scrollTo(0, 0)"))
    return tab


@pytest.fixture
def phone(chromium, trial):
    with visit(chromium, trial, PHONE, touch=True) as app:
        yield app


def open_at(app, **query):
    """Opens the page, with all charts drawn and offering their cells."""
    app.open(**query)
    app.page.wait_for_function("() => document.querySelectorAll('.bv-chart').length === 4")
    return app


def chart(app, key):
    return app.find(f".st-key-chart-{key} :--plot")


def cell_box(app, key, row, column):
    """A cell's left, top, width and height on screen, measured in what Plotly drew."""
    image = chart(app, key).locator(expand(":--heatmap image")).bounding_box()
    width, height = image["width"] / WIDTH[key], image["height"] / TOKENS
    return image["x"] + column * width, image["y"] + row * height, width, height


def scroll_to(app, key):
    """Brings a chart to the middle of the window by hand, as far as the page goes."""
    app.page.mouse.move(60, 500)
    _, top, _, height = box(chart(app, key))
    before, by = app.page.evaluate(expand("document.querySelector(':--main').scrollTop")), top + height / 2 - 450
    app.page.mouse.wheel(0, by)
    app.page.wait_for_function(SCROLLED, arg=[before, by])
    app.page.wait_for_timeout(100)


def click_cell(app, *cell):
    scroll_to(app, cell[0])
    x, y, width, height = cell_box(app, *cell)
    app.page.mouse.click(x + width / 2, y + height / 2)


def point_at_cell(app, *cell):
    x, y, width, height = cell_box(app, *cell)
    app.page.mouse.move(x + width / 2, y + height / 2)


def box(locator):
    found = locator.bounding_box()
    return found["x"], found["y"], found["width"], found["height"]


def events(app):
    return json.loads(app.page.locator("#events").inner_text())


def heard(app):
    return app.page.locator(".bv-live").inner_text()


@contextmanager
def sends(app, *event):
    """What the page is sent next, and nothing else."""
    before = len(events(app))
    with app.rerun():
        yield
    assert events(app)[before:] == [list(event)]


def wait_for_focus(app, selector):
    app.page.wait_for_function("selector => document.activeElement?.matches(selector)", arg=selector)
