"""The listener in a browser, on a page with one of everything that it knows: `listener_app.py`."""

import io
import json
import re
import struct
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser import PHONE, App, running, visit

pytestmark = pytest.mark.xdist_group("listener")

PROBS = "encoder.layer.1.attention.self.probs[head=2,query={},key={}]"
FAR = "encoder.layer.1.attention.self.value[head=2,key=4,head_dim=6]"  # 900 pixels down the page
TOKENS, WIDTH = 6, {"weights": 6, "vectors": 8}
CLOSE = 2  # pixels
EDGE = 16  # pixels around a saved picture
SVG = "{http://www.w3.org/2000/svg}"
FRAME = 124  # pixels at the top that the app's frame covers


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    with running(tmp_path_factory.mktemp("listener"), "tests/listener_app.py") as url:
        yield url


@pytest.fixture(scope="module")
def tab(chromium, trial):
    """One tab for all tests that need no fresh one: opening it takes longer than they do."""
    with visit(chromium, trial) as app:
        yield open_at(app)


@pytest.fixture
def app(tab):
    """The tab with no drawer open, nothing pointed at and nothing focused, at the top of the page."""
    if tab.page.locator("[data-close]").count():
        with tab.rerun():
            tab.page.locator("[data-close]").click()
    tab.page.mouse.move(5, 5)
    tab.page.evaluate("document.activeElement.blur(); document.querySelector('.stMain').scrollTo(0, 0)")
    return tab


@pytest.fixture
def phone(chromium, trial):
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    yield App(context.new_page(), trial)
    context.close()


def open_at(app, **query):
    """Opens the page, with all charts drawn and offering their cells."""
    app.open(**query)
    app.page.wait_for_function("document.querySelectorAll('.bv-chart').length === 4")
    return app


def chart(app, key):
    return app.page.locator(f".st-key-chart-{key} .js-plotly-plot")


def cell_box(app, key, row, column):
    """A cell's left, top, width and height on screen, measured in what Plotly drew."""
    image = chart(app, key).locator(".hm image").bounding_box()
    width, height = image["width"] / WIDTH[key], image["height"] / TOKENS
    return image["x"] + column * width, image["y"] + row * height, width, height


def scroll_to(app, key):
    """Brings a chart to the middle of the window by hand, as far as the page goes."""
    app.page.mouse.move(60, 500)
    _, top, _, height = box(chart(app, key))
    app.page.mouse.wheel(0, top + height / 2 - 450)
    app.page.wait_for_timeout(300)


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


def test_a_click_sends_the_cell_that_was_clicked(app):
    with sends(app, "cell", PROBS.format(2, 4)):
        click_cell(app, "weights", 2, 4)
    with sends(app, "cell", PROBS.format(1, 3)):
        chart(app, "bars").locator(".points path").nth(3).click(position={"x": 20, "y": 8}, force=True)
    with sends(app, "cell", FAR.replace("6", "2")):
        click_cell(app, "vectors", 4, 2)
    with sends(app, "cell", "encoder.layer.1.intermediate.activation[token=3,intermediate=7]"):
        scroll_to(app, "points")
        x, y, width, height = box(chart(app, "points").locator(".points path").nth(1))
        app.page.mouse.click(x + width / 2, y + height / 2)


def test_a_click_sends_what_an_element_says(app):
    cell = "a.b[token=1]"
    for selector, *event in (
        ("#chips >> text=in", "token", 2), ("[data-head]", "head", "1,2"), ("[data-cell]", "cell", cell),
        ("[data-step]", "step", f"{cell}x"), ("[data-keep]", "keep", "1"), ("[data-close]", "close", True),
    ):  # fmt: skip
        with sends(app, *event):
            app.page.locator(selector).first.click()


def test_the_name_of_a_row_chooses_its_token(app):
    left, top, _, height = cell_box(app, "weights", 4, 0)
    app.page.mouse.move(left - 20, top + height / 2)
    assert app.page.locator(".bv-lit").all_inner_texts() == ["<b>do</b>"]
    with sends(app, "token", 4):
        app.page.mouse.click(left - 20, top + height / 2)


def test_the_cell_is_ringed_wherever_it_is_drawn_and_its_operands_are_outlined(app):
    with app.rerun():
        click_cell(app, "weights", 1, 3)
    for width in (1100, 1440):
        app.page.set_viewport_size({"width": width, "height": 900})
        app.page.wait_for_function(
            "() => [...document.querySelectorAll('.bv-chart')].every(chart =>"
            " Math.abs(chart.clientWidth - chart.querySelector('.main-svg').clientWidth) < 1)"
        )
        app.page.wait_for_timeout(100)
        ring = chart(app, "weights").locator(".bv-ring")
        assert box(ring) == pytest.approx(cell_box(app, "weights", 1, 3), abs=CLOSE)
        bar = chart(app, "bars").locator(".points path").nth(3)
        assert box(chart(app, "bars").locator(".bv-ring")) == pytest.approx(box(bar), abs=CLOSE)
        for i, outline in enumerate(chart(app, "weights").locator(".bv-operand").all()):
            assert box(outline) == pytest.approx(cell_box(app, "weights", 1, i), abs=CLOSE)
    assert app.page.locator(".bv-ring").count() == 2 and app.page.locator(".bv-operand").count() == 4


def test_a_link_brings_its_cell_into_view_once(chromium, trial):
    with visit(chromium, trial) as app:
        open_at(app, cell="encoder.layer.1.intermediate.activation[intermediate=21,token=3]")  # axes in any order
        app.page.wait_for_timeout(300)
        x, y, width, height = box(chart(app, "points").locator(".bv-ring.bv-round"))
        left, top, across, down = box(chart(app, "points").locator(".points path").nth(2))
        assert (x + width / 2, y + height / 2) == pytest.approx((left + across / 2, top + down / 2), abs=CLOSE)
        assert y >= FRAME and y + height <= 900
        app.page.mouse.move(60, 500)
        app.page.mouse.wheel(0, -3000)
        app.page.wait_for_timeout(300)
        with app.rerun():
            app.page.locator("[data-head]").click()
        assert box(chart(app, "weights"))[1] > 0, "who scrolls by hand stays there"


def test_on_a_phone_the_cell_comes_to_lie_above_the_sheet(phone):
    open_at(phone, cell=FAR)
    phone.page.wait_for_timeout(300)
    _, top, _, height = box(chart(phone, "vectors").locator(".bv-ring"))
    assert top >= FRAME and top + height <= 0.4 * PHONE["height"]


def test_on_a_phone_a_small_cell_is_chosen_by_one_touch_and_explained_by_the_next(phone):
    open_at(phone)

    def tap(row, column):
        x, y, width, height = cell_box(phone, "weights", row, column)
        phone.page.touchscreen.tap(x + width / 2, y + height / 2)
        phone.page.wait_for_timeout(500)

    chart(phone, "weights").scroll_into_view_if_needed()
    for row, column in ((1, 2), (4, 4)):
        tap(row, column)
        assert events(phone) == []
        cursor = chart(phone, "weights").locator(".bv-cursor")
        assert box(cursor)[:2] == pytest.approx(cell_box(phone, "weights", row, column)[:2], abs=CLOSE)
        readout = chart(phone, "weights").locator(".bv-readout")
        assert readout.inner_text() == heard(phone) and heard(phone).endswith("tap again to explain")
        left, _, width, height = box(readout)
        assert left >= 0 and left + width <= PHONE["width"] and height < 50, "it can be read"
    with sends(phone, "cell", PROBS.format(4, 4)):
        tap(4, 4)


def test_a_token_that_is_pointed_at_is_lit_wherever_it_stands(app):
    before = len(events(app))
    lit, bands = app.page.locator(".bv-lit"), app.page.locator(".bv-band")
    app.page.locator("#chips button").nth(4).hover()
    assert lit.all_inner_texts() == ["<b>do</b>"]
    image = box(chart(app, "weights").locator(".hm image"))
    row, column = (box(band) for band in chart(app, "weights").locator(".bv-band").all())
    left, top, width, height = cell_box(app, "weights", 4, 4)
    assert row == pytest.approx((image[0], top, image[2], height), abs=CLOSE)
    assert column == pytest.approx((left, image[1], width, image[3]), abs=CLOSE)
    # one bar stands for this key, none for this query; one row of values
    assert [chart(app, key).locator(".bv-band").count() for key in ("bars", "vectors", "points")] == [1, 1, 0]
    point_at_cell(app, "weights", 2, 5)
    app.page.wait_for_function("document.querySelectorAll('.bv-lit').length === 2")
    assert lit.all_inner_texts() == ["in", "[SEP]"]
    app.page.mouse.move(5, 5)
    app.page.wait_for_function("document.querySelectorAll('.bv-lit').length === 0")
    assert bands.count() == 0 and len(events(app)) == before


def test_a_chart_is_walked_through_by_keyboard(chromium, trial):
    with visit(chromium, trial) as app:
        _walk_through(open_at(app))


def _walk_through(app):
    keyboard, weights = app.page.keyboard, chart(app, "weights")
    app.page.locator('[data-picture="png"]').focus()
    keyboard.press("Tab")
    wait_for_focus(app, ".st-key-chart-weights .bv-chart")
    assert weights.get_attribute("role") == "application"
    assert weights.get_attribute("aria-label") == "Attention weights. Arrow keys move, Enter explains."
    assert heard(app).startswith("3 rome, 0 [CLS]: 0.")  # it begins at the chosen token
    for key in ("ArrowUp", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "ArrowUp"):
        keyboard.press(key)
    assert heard(app).startswith("1 when, 5 [SEP]: ") and weights.locator(".bv-readout").inner_text() == heard(app)
    assert box(weights.locator(".bv-cursor")) == pytest.approx(cell_box(app, "weights", 1, 5), abs=CLOSE)
    with sends(app, "cell", PROBS.format(1, 5)):
        keyboard.press("Enter")
    wait_for_focus(app, "#bv-drawer-title")
    with sends(app, "close", True):
        keyboard.press("Escape")
    wait_for_focus(app, ".st-key-chart-weights .bv-chart")
    assert box(weights.locator(".bv-cursor")) == pytest.approx(cell_box(app, "weights", 1, 5), abs=CLOSE)


def test_every_kind_of_chart_is_read_out(app):
    for key, presses, said in (
        ("bars", ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown"), "2 in: "),
        ("bars", ("End", "ArrowDown"), "5 [SEP]: "),
        ("vectors", ("Control+Home", "ArrowRight", "ArrowDown"), "1 when, head_dim 1: "),
        ("points", (), "intermediate 7: pre-activation −1, activation −1"),
        ("points", ("ArrowRight",), "intermediate 21: pre-activation 0.25, activation 0.015625"),
    ):
        app.page.keyboard.press("Shift")  # what is focused next is focused by keyboard
        chart(app, key).focus()
        for press in ("Home", *presses):
            app.page.keyboard.press(press)
        assert heard(app).startswith(said)


def test_escape_closes_what_lies_on_top(app):
    with app.rerun():
        app.page.locator("[data-cell]").click()
    keyboard, before = app.page.keyboard, len(events(app))
    app.page.get_by_role("button", name="Menu").click()
    field = app.page.get_by_role("textbox", name="Field")
    field.wait_for()
    keyboard.press("Escape")
    field.wait_for(state="detached")
    assert len(events(app)) == before
    with sends(app, "close", True):
        keyboard.press("Escape")
    keyboard.press("Escape")  # nothing is open any more
    app.page.wait_for_timeout(200)
    assert len(events(app)) == before + 1


def test_the_focus_stays_in_the_drawer_and_returns_to_what_opened_it(app):
    app.page.locator("[data-cell]").focus()
    with app.rerun():
        app.page.keyboard.press("Enter")
    wait_for_focus(app, "#bv-drawer-title")
    app.page.locator("[data-step]").first.focus()
    for _ in range(2):
        with app.rerun():
            app.page.keyboard.press("Enter")
        wait_for_focus(app, "[data-step$=x]")
    app.page.locator("[data-keep]").focus()
    with app.rerun():
        app.page.keyboard.press("Enter")
    wait_for_focus(app, "[data-keep]")
    app.page.locator("[data-close]").focus()
    with app.rerun():
        app.page.keyboard.press("Enter")
    wait_for_focus(app, "[data-cell]")


def test_arrow_keys_lead_along_the_tokens(app):
    app.page.locator("#chips button").first.focus()
    for key in ("End", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        app.page.keyboard.press(key)
    wait_for_focus(app, '#chips [data-token="3"][tabindex="0"]')
    assert app.page.locator("#chips [tabindex='0']").count() == 1
    app.page.keyboard.press("Home")
    with sends(app, "token", 0):
        app.page.keyboard.press("Enter")
    wait_for_focus(app, '#chips [data-token="0"][aria-pressed="True"]')


def save(app, kind, folder):
    with app.page.expect_download() as started:
        app.page.locator(f'[data-picture="{kind}"]').click()
    file = folder / started.value.suggested_filename
    started.value.save_as(file)
    assert file.name == f"encoder.layer.1.attention.self.probs-head=2.{kind}"
    return file


def test_a_chart_is_taken_away_as_a_picture_that_says_what_it_is(app, tmp_path):
    drawn = ET.fromstring(save(app, "svg", tmp_path).read_text(encoding="utf-8"))
    texts = ["".join(text.itertext()) for text in drawn.iter(f"{SVG}text")]
    caption = ["Who attends to whom", "encoder.layer.1.attention.self.probs[head=2]", "a checkpoint",
               "When in <Rome> & do", app.page.url]  # fmt: skip
    assert texts[-len(caption) :] == caption and "1 when" in texts
    assert drawn.find(f"{SVG}rect").get("fill").startswith("#")
    size = struct.unpack(">II", save(app, "png", tmp_path).read_bytes()[16:24])
    assert size == (2 * int(drawn.get("width")), 2 * int(drawn.get("height")))
    assert heard(app) == "Saved"


def test_a_picture_looks_like_the_chart(app, tmp_path):
    picture = save(app, "png", tmp_path)
    left, top, _, _ = box(chart(app, "weights"))
    screen, saved = (Image.open(file).convert("RGB") for file in (io.BytesIO(app.page.screenshot()), picture))
    colors = set()
    for row, column in np.ndindex(TOKENS, TOKENS):
        x, y, width, height = cell_box(app, "weights", row, column)
        across, down = x + width / 2, y + height / 2
        colors.add(screen.getpixel((round(across), round(down))))
        there = saved.getpixel((round(2 * (across - left + EDGE)), round(2 * (down - top + EDGE))))
        assert there == pytest.approx(screen.getpixel((round(across), round(down))), abs=2)
    assert len(colors) > TOKENS


def test_copying(app):
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, copied in (("copy", "some text"), ("link", app.page.url)):
        app.page.get_by_role("button", name=name, exact=True).click()
        app.page.locator(".bv-told", has_text="Copied").first.wait_for()
        assert app.page.evaluate("navigator.clipboard.readText()") == copied and heard(app) == "Copied"


def test_copying_where_the_page_may_not_use_the_clipboard(app):
    app.page.evaluate("""() => {
        Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});
        document.execCommand = () => (window.copied = document.activeElement.value);
    }""")
    app.page.get_by_role("button", name="copy", exact=True).click()
    app.page.wait_for_function("window.copied === 'some text'")
    app.page.evaluate("delete navigator.clipboard")


def test_the_parts_of_the_listener_are_one_module():
    """None of them says `import`: the browser gets them as one file."""
    parts = sorted(Path("bertviz_core/ui/components").glob("listener*.js"))
    texts = [part.read_text(encoding="utf-8") for part in parts]
    assert len(parts) > 1 and sum("export default" in text for text in texts) == 1
    assert not any(re.search(r"^import |innerHTML", text, re.M) for text in texts)


def test_dark(chromium, trial):
    with visit(chromium, trial, theme="dark") as app:
        open_at(app, cell=PROBS.format(1, 3))
        outline, surface = app.page.evaluate(
            "() => [getComputedStyle(document.querySelector('.bv-ring')).outlineColor,"
            " getComputedStyle(document.documentElement).getPropertyValue('--bv-surface')]"
        )
        assert min(map(int, re.findall(r"\d+", outline))) > 200 and surface.startswith("#1")
