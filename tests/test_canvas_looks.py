"""How the canvas of the first page looks: nothing covered, cut off or faded away, with the drawer open too."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.numbers import format_percent
from tests.browser import visit
from tests.canvas import BLEMISHES
from tests.often import seldom

pytestmark = pytest.mark.rare

TEXT = "When in Rome, do as the [MASK] do."
LONG = "When in Rome, do as the [MASK] do. " * 45
SIZES = {"low": (1280, 720), "wide": (1440, 900), "projector": (1920, 1080)}
OUTPUT = "encoder.layer.{}.output.LayerNorm[token=8,hidden={}]"
# A cell of each kind of strip, far beyond the components that are drawn by themselves: [level, address].
CELLS = [
    ("pass", "encoder.layer.3.intermediate.activation[token=8,intermediate=700]"), ("pass", OUTPUT.format(4, 200)),
    ("layer", "encoder.layer.2.attention.self.query[head=0,query=8,head_dim=31]"),
    ("layer", "encoder.layer.2.attention.self.context[token=8,concat=300]"), ("head", OUTPUT.format(5, 200)),
]  # fmt: skip
# Words that the card of the likeliest ones lies on.
COVERED = """() => {
    const card = document.querySelector('.bvc-drawn rect[rx="10"]').getBoundingClientRect();
    return [...document.querySelectorAll('.bvc-drawn text')].filter(text => {
        const {left, right, top, bottom} = text.getBoundingClientRect();
        const under = text.compareDocumentPosition(document.querySelector('.bvc-drawn rect[rx="10"]')) & 4;
        return under && left < card.right && right > card.left && top < card.bottom && bottom > card.top;
    }).map(text => text.textContent);
}"""
# Where each text of the picture stands, and each of the buttons and lines around it.
PLACES = """() => [...document.querySelectorAll('.bvc-drawn text, .bvc, .bvc-actions > *, .bvc-player, h1')].filter(
    e => e.checkVisibility() && !e.closest('[data-layer="marks"]')).map(e => {
        const {left, top} = e.getBoundingClientRect();
        return [e.matches('text') ? e.textContent : e.className, Math.round(left), Math.round(top)];
    })"""
FAINT = """() => [...document.querySelectorAll('.bvc-drawn text')].filter(
    text => text.textContent && Number(text.getAttribute('opacity') ?? 1) < 0.5).map(text => text.textContent)"""
# The contrast of a button's words with what is under them.
CONTRAST = """button => {
    const read = color => color.match(/[\\d.]+/g).map(Number);
    const light = color => read(color).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((all, part, i) => all + part * [0.2126, 0.7152, 0.0722][i], 0);
    let ground = button;
    while (read(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const [one, other] = [getComputedStyle(button).color, getComputedStyle(ground).backgroundColor].map(light);
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}"""


@pytest.fixture
def app(chromium, server, request):
    """A tab of somebody who wants no motion."""
    width, height = SIZES[getattr(request, "param", "wide")]
    with visit(chromium, server, {"width": width, "height": height}, motion="reduce") as app:
        yield app


def show(app, **query):
    app.open(**query)
    app.page.wait_for_selector(".bvc-drawn text")


@pytest.mark.parametrize("app", ["wide", pytest.param("low", marks=pytest.mark.rare)], indirect=True)
def test_every_label_is_there_and_nothing_is_covered(app, rome):
    means = [rome[f"encoder.layer.{i}.attention.self.probs"][:, 8].mean(axis=0) for i in range(6)]
    texts = app.page.locator(".bvc-drawn text")
    for walk in ("", OUTPUT.format(0, 7)):
        show(app, walk=walk)
        if walk:
            app.page.wait_for_selector("[data-ring]")
        for label in ("attention", "output"):
            assert texts.get_by_text(label, exact=True).count() >= 6, (label, walk)
        assert texts.get_by_text("neurons", exact=True).count() >= (1 if walk else 7)
        for share in (format_percent(float(mean.max())) for mean in means):
            assert texts.get_by_text(share, exact=True).count() >= 1, (share, walk)
        assert [app.page.evaluate(find) for find in (BLEMISHES, COVERED, FAINT)] == [[], [], []]


def test_what_is_explained_is_always_among_what_is_drawn(app):
    for level, cell in CELLS:
        show(app, level=level, walk=cell, layer=2, head=0)
        app.page.wait_for_selector(f'[data-ring="{cell}"]')
        assert app.page.evaluate("cell => document.querySelector('.bvc').readCell(cell)", cell) is not None


def test_a_click_moves_nothing_and_the_drawer_lies_where_the_cell_is_not(app):
    show(app)
    before, width = app.page.evaluate(PLACES), app.page.viewport_size["width"]
    row = app.page.locator(".bvc-drawn text", has_text="[MASK]").first.bounding_box()
    for name, along in (("Embedding", 12), ("Layer 5", 118)):
        title = app.page.locator(".bvc-drawn text").get_by_text(name, exact=True).bounding_box()
        with app.rerun():
            app.page.mouse.click(title["x"] + along, row["y"] + 8)
        ring = app.page.wait_for_selector(f'[data-ring="{app.explained}"]').bounding_box()
        assert app.page.evaluate(PLACES) == before, name
        drawer, middle = app.drawer.bounding_box(), ring["x"] + ring["width"] / 2
        assert not drawer["x"] <= middle <= drawer["x"] + drawer["width"] <= width, name
        app.page.keyboard.press("Escape")
        app.wait_closed()


def test_a_clicked_component_stays_drawn_when_the_drawer_opens(app):
    show(app)
    label = app.page.locator(".bvc-drawn text").get_by_text("output", exact=True).first.bounding_box()
    row = app.page.locator(".bvc-drawn text", has_text="[MASK]").first.bounding_box()
    with app.rerun():  # the last of the components that are drawn
        app.page.mouse.click(label["x"] + label["width"] - 3, row["y"] + 8)
    app.page.wait_for_selector(f'[data-ring="{app.explained}"]')
    assert app.explained == OUTPUT.format(0, app.query["component"])


@pytest.mark.parametrize("app", ["projector"], indirect=True)
def test_in_a_large_window_all_of_it_is_larger_and_pointing_still_finds_the_cell(app, bundled):
    show(app, level="head")
    column, row = (app.page.locator(".bvc-drawn text").get_by_text(text, exact=True) for text in ("as", "[MASK]"))
    right, below = column.last.bounding_box(), row.first.bounding_box()
    assert below["height"] > 22
    app.page.mouse.move(right["x"] + 4, below["y"] + 10)
    cell = "encoder.layer.2.attention.self.probs[head=0,query=8,key=6]"
    assert app.page.locator(".bvc-readout .bvc-address").text_content() == cell
    value = app.page.locator(".bvc-readout [data-value]").get_attribute("data-value")
    assert np.float32(value) == bv.run(bundled, TEXT)[cell]
    lit = app.page.locator(".bvc-drawn path[stroke][data-key]")
    assert [lit.nth(i).get_attribute("data-key") for i in range(lit.count())] == ["6"]
    app.page.wait_for_selector('.bv-chips [data-token="6"].bv-lit')


@pytest.mark.parametrize("scheme", [seldom("light"), "dark"])
def test_every_button_can_be_read_under_the_pointer(app, scheme):
    app.use_up().emulate_media(color_scheme=scheme)
    show(app)
    switch = app.page.get_by_role("switch", name="without special tokens")
    special = app.page.locator(".bvc-drawn path[data-key='0']")
    assert special.count() == 6
    switch.click()
    assert switch.get_attribute("aria-checked") == "true" and special.count() == 0
    buttons = app.page.locator(".bvc-actions button, .bvc-quiet, .bvc-track button, .bvc-speed")
    for i in range(buttons.count()):
        buttons.nth(i).hover()
        assert buttons.nth(i).evaluate(CONTRAST) >= 4.5, buttons.nth(i).text_content()


def test_the_title_says_the_true_largest_weight_of_the_row(app, bundled):
    trace = bv.run(bundled, LONG.strip())
    weights = trace["encoder.layer.4.attention.self.probs[head=2,query=200]"]
    key = int(weights.argmax())
    assert not 184 <= key < 216  # out of the rows that are sent
    show(app, text=LONG.strip(), layer=4, head=2, token=200, level="head")
    title = app.page.locator(".bvc-title")
    assert title.inner_text().endswith(f"looks at “{trace.tokens[key]}” with {format_percent(float(weights[key]))}")
    show(app, level="head", layer=2, head=0, changes="encoder.layer.2.attention.self.probs[head=0]:0")
    assert title.inner_text() == "Head 0 of layer 2: “[MASK]” looks nowhere, all its attention weights are 0"
