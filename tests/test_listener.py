"""The listener in a browser: clicks, rings, lit tokens, pictures and copying."""

import io
import re
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bertviz_core.ui.components.selectors import expand
from tests.browser import visit
from tests.listener import (
    CLOSE,
    FAR,
    FRAME,
    PROBS,
    TOKENS,
    box,
    cell_box,
    chart,
    click_cell,
    events,
    heard,
    open_at,
    point_at_cell,
    scroll_to,
    sends,
)

pytestmark = [pytest.mark.xdist_group("listener"), pytest.mark.slow]

EDGE = 16  # pixels around a saved picture
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def app(calm):
    return calm


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
        ("#chips >> text=in", "token", 2),
        ("[data-head]", "head", "1,2"),
        ("[data-cell]", "cell", cell),
        ("[data-step]", "step", f"{cell}x"),
        ("[data-keep]", "keep", "1"),
        ("[data-close]", "close", True),
    ):
        with sends(app, *event):
            app.page.locator(selector).first.click()


def test_the_name_of_a_row_chooses_its_token(app):
    left, top, _, height = cell_box(app, "weights", 4, 0)
    app.page.mouse.move(left - 20, top + height / 2)
    assert app.page.locator(".bv-lit").all_inner_texts() == ["<b>do</b>"]
    with sends(app, "token", 4):
        app.page.mouse.click(left - 20, top + height / 2)


def test_the_name_of_a_column_chooses_its_token_as_the_key(app):
    name = app.find(".st-key-chart-weights :--axis-x text").nth(3)
    left, top, width, height = box(name)
    end = left + width - 8, top + 8  # a slanted name ends at its column, just below it
    app.page.mouse.move(*end)
    assert app.page.locator(".bv-lit").all_inner_texts() == ["rome"]
    with sends(app, "choose", "key_token=3"):
        app.page.mouse.click(*end)
    with sends(app, "choose", "key_token=3"):
        app.page.mouse.click(left + 10, top + height - 10)  # where its letters begin, below another column
    scroll_to(app, "vectors")
    left, top, width, height = box(app.find(".st-key-chart-vectors :--axis-x text").nth(2))
    app.page.mouse.click(left + width / 2, top + height / 2)  # a component is no token
    app.page.wait_for_timeout(500)
    assert [each[0] for each in events(app)].count("choose") == 2


def test_the_cell_is_ringed_wherever_it_is_drawn_and_its_operands_are_outlined(app):
    with app.rerun():
        click_cell(app, "weights", 1, 3)
    for width in (1100, 1440):
        app.page.set_viewport_size({"width": width, "height": 900})
        app.page.wait_for_function(
            expand(
                "() => [...document.querySelectorAll('.bv-chart')].every(chart =>"
                " Math.abs(chart.clientWidth - chart.querySelector(':--plot-picture').clientWidth) < 1)"
            )
        )
        app.page.wait_for_timeout(100)
        ring = chart(app, "weights").locator(".bv-ring")
        assert box(ring) == pytest.approx(cell_box(app, "weights", 1, 3), abs=CLOSE)
        bar = chart(app, "bars").locator(".points path").nth(3)
        assert box(chart(app, "bars").locator(".bv-ring")) == pytest.approx(box(bar), abs=CLOSE)
        left, top, across, down = cell_box(app, "weights", 1, 0)
        outline = chart(app, "weights").locator(".bv-operand")  # one around two neighbours
        assert box(outline) == pytest.approx((left, top, 2 * across, down), abs=CLOSE)
    assert app.page.locator(".bv-ring").count() == 2 and app.page.locator(".bv-operand").count() == 3


@pytest.mark.rare
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


@pytest.mark.rare
def test_a_token_that_is_pointed_at_is_lit_wherever_it_stands(app):
    before = len(events(app))
    lit, bands = app.page.locator(".bv-lit"), app.page.locator(".bv-band")
    app.page.locator("#chips button").nth(4).hover()
    assert lit.all_inner_texts() == ["<b>do</b>"]
    image = box(chart(app, "weights").locator(expand(":--heatmap image")))
    row, column = (box(band) for band in chart(app, "weights").locator(".bv-band").all())
    left, top, width, height = cell_box(app, "weights", 4, 4)
    assert row == pytest.approx((image[0], top, image[2], height), abs=CLOSE)
    assert column == pytest.approx((left, image[1], width, image[3]), abs=CLOSE)
    # one bar stands for this key, none for this query; one row of values
    assert [chart(app, key).locator(".bv-band").count() for key in ("bars", "vectors", "points")] == [1, 1, 0]
    point_at_cell(app, "weights", 2, 5)
    app.page.wait_for_function("() => document.querySelectorAll('.bv-lit').length === 2")
    assert lit.all_inner_texts() == ["in", "[SEP]"]
    app.page.locator("#chips button").first.hover()  # a chart says late that the pointer has left it
    app.page.wait_for_timeout(300)
    assert lit.all_inner_texts() == ["[CLS]"]
    app.page.mouse.move(5, 5)
    app.page.wait_for_function("() => document.querySelectorAll('.bv-lit').length === 0")
    assert bands.count() == 0 and len(events(app)) == before


def save(app, kind, folder):
    with app.page.expect_download() as started:
        app.page.locator(f'[data-save="{kind}"]').click()
    file = folder / started.value.suggested_filename
    started.value.save_as(file)
    assert file.name == f"encoder.layer.1.attention.self.probs-head=2.{kind}"
    return file


@pytest.mark.rare
def test_a_chart_is_taken_away_as_a_picture_that_says_what_it_is(app, tmp_path):
    drawn = ET.fromstring(save(app, "svg", tmp_path).read_text(encoding="utf-8"))
    texts = ["".join(text.itertext()) for text in drawn.iter(f"{SVG}text")]
    caption = [
        "Who attends to whom",
        "encoder.layer.1.attention.self.probs[head=2]",
        "a checkpoint",
        "When in <Rome> & do",
        app.page.url,
    ]
    assert texts[-len(caption) :] == caption and "1 when" in texts
    assert drawn.find(f"{SVG}rect").get("fill").startswith("#")
    size = struct.unpack(">II", save(app, "png", tmp_path).read_bytes()[16:24])
    assert size == (2 * int(drawn.get("width")), 2 * int(drawn.get("height")))
    assert heard(app) == "Saved"


@pytest.mark.rare
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
    app.page.wait_for_function("() => window.copied === 'some text'")
    app.page.evaluate("delete navigator.clipboard")


@pytest.mark.rare
@pytest.mark.parametrize("forbids", [
    "{value: undefined, configurable: true}",
    "{value: {writeText: () => Promise.reject(new Error('no'))}, configurable: true}",
])  # fmt: skip
def test_what_could_not_be_copied_is_said(app, forbids):
    app.page.evaluate(
        f"() => {{ Object.defineProperty(navigator, 'clipboard', {forbids}); document.execCommand = () => false; }}"
    )
    app.page.get_by_role("button", name="copy", exact=True).click()
    app.page.locator(".bv-told", has_text="Not copied: this browser forbids it.").first.wait_for()
    app.page.evaluate("delete navigator.clipboard; delete document.execCommand")


def test_the_listener_writes_no_html():
    """What it writes comes from the page, and may be anybody's text."""
    texts = [file.read_text(encoding="utf-8") for file in Path("bertviz_core/ui/components/listener").glob("*.js")]
    assert len(texts) > 1 and not any("innerHTML" in text for text in texts)


@pytest.mark.rare
def test_dark(chromium, trial):
    with visit(chromium, trial, theme="dark") as app:
        open_at(app, cell=PROBS.format(1, 3))
        outline, surface = app.page.evaluate(
            "() => [getComputedStyle(document.querySelector('.bv-ring')).outlineColor,"
            " getComputedStyle(document.documentElement).getPropertyValue('--bv-surface')]"
        )
        assert min(map(int, re.findall(r"\d+", outline))) > 200 and surface.startswith("#1")
