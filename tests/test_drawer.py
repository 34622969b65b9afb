"""The drawer in a real browser: in view wherever one clicked, by a link, by keyboard; in it one walks back."""

import re

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, WIDE, visit
from tests.often import seldom

PAGE = "attention"
CELL = "encoder.layer.2.attention.self.probs[head=0,query=8,key=6]"
SMALL = {"width": 1280, "height": 720}
SIZES = [seldom(WIDE, name="wide"), pytest.param(SMALL, id="small"), pytest.param(PHONE, id="phone")]
# What of the value, the sentence and the formula worked cannot be seen.
OUT_OF_VIEW = expand("""() => {
    const frame = document.querySelector('.st-key-frame').getBoundingClientRect();
    const told = {
        value: document.querySelector('.st-key-drawer .bv-value'),
        sentence: document.querySelector('.st-key-drawer .bv-say'),
        formula: document.querySelector('.st-key-drawer .bv-formula'),
    };
    return Object.keys(told).filter(name => {
        const box = told[name]?.getBoundingClientRect();
        return !box || !box.width || box.top < frame.bottom - 1 || box.bottom > innerHeight || box.left < 0
            || box.right > innerWidth;
    });
}""")
RING_IN_VIEW = """() => {
    const drawer = document.querySelector('.st-key-drawer').getBoundingClientRect();
    const sheet = drawer.width > innerWidth / 2;
    return [...document.querySelectorAll('.bv-ring')].map(ring => ring.getBoundingClientRect()).some(
        box => box.top > 70 && box.bottom < (sheet ? drawer.top : innerHeight) && (sheet || box.right < drawer.left));
}"""


def out_of_view(app):
    return app.page.evaluate(OUT_OF_VIEW)


def find_map(app):
    """The first heat map of the page."""
    chart = app.find('[class*="st-key-chart-"] :--plot:has(:--heatmap image)').first
    chart.scroll_into_view_if_needed()
    return chart


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_click_is_answered_in_view(chromium, server, size):
    with visit(chromium, server, size) as app:
        app.open(PAGE)
        chart = find_map(app)
        box = chart.locator(expand(":--heatmap")).bounding_box()
        with app.rerun():
            app.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert app.explained.startswith("encoder.layer.2.") and out_of_view(app) == []
        ring = app.page.locator(".bv-ring").first.bounding_box()
        assert box["x"] - 2 <= ring["x"] <= box["x"] + box["width"] + 2
        with app.rerun():
            app.page.keyboard.press("Escape")
        app.wait_closed()
        assert "walk" not in app.query


@pytest.mark.slow
@pytest.mark.parametrize("size", [seldom(SMALL, name="small"), *SIZES[2:]])
def test_a_shared_link_opens_with_the_number_and_its_picture_in_view(chromium, server, size):
    with visit(chromium, server, size) as app:
        app.open(PAGE, walk=CELL)
        app.page.locator(".bv-ring").first.wait_for()
        app.page.wait_for_function(RING_IN_VIEW)
        assert app.explained == CELL and out_of_view(app) == []


@pytest.mark.rare
def test_another_head_keeps_the_cell(app):
    app.open(PAGE, walk=CELL)
    app.choose("Head", "Head 3")
    assert app.explained == CELL.replace("head=0", "head=3")
    app.choose("Layer", "Layer 4")
    assert app.explained == CELL.replace("head=0", "head=3").replace("layer.2", "layer.4")


def steps(app):
    """The operands that one can walk on to, the strongest first, without parameters."""
    return app.drawer.locator(".bv-operands td:first-child [data-step]").filter(has_not_text=re.compile("Scale|bias"))


def finished(app):
    return "A walk back ends" in app.drawer.inner_text()


def step(app, act):
    before = app.explained
    with app.rerun():
        act()
    assert app.explained != before


@pytest.mark.slow
def test_clicks_lead_down_to_the_token_id(app):
    app.open("predictions", walk="cls.predictions.probs[token=8,vocab=2111]")
    step(app, steps(app).first.click)
    step(app, app.drawer.locator("[data-story]").click)
    assert finished(app)
    app.open("embeddings", walk="embeddings.LayerNorm[token=8,hidden=267]")
    while not finished(app):
        down = steps(app).filter(has_text=re.compile(r"^(Embedding sum|word|Token id)$"))
        step(app, down.first.click)
    assert re.fullmatch(r"input_ids\[token=\d\]", app.explained)


def focused(app):
    return app.page.evaluate("document.activeElement.id || document.activeElement.textContent")


@pytest.mark.rare
def test_by_keyboard_alone(app):
    """From the address bar to a number and back: few stops, and the focus is never lost."""
    app.open(PAGE)
    keyboard = app.page.keyboard
    stops = 0
    while not app.page.evaluate("document.activeElement.getAttribute('role') === 'application'"):
        keyboard.press("Tab")
        stops += 1
        assert stops <= 40
    keyboard.press("ArrowDown")
    keyboard.press("ArrowRight")
    with app.rerun():
        keyboard.press("Enter")
    app.page.wait_for_function("() => document.activeElement.id === 'bv-drawer-title'")
    first = app.explained
    assert first
    step(app, lambda: steps(app).first.press("Enter"))
    app.page.wait_for_function("() => document.activeElement.dataset.step !== undefined")
    step(app, lambda: keyboard.press("Escape"))
    app.page.wait_for_function("() => document.activeElement.dataset.step !== undefined")
    keyboard.press("Escape")
    app.wait_closed()
    app.page.wait_for_function("() => document.activeElement.getAttribute('role') === 'application'")


@pytest.mark.rare
def test_the_table_is_one_stop_and_escape_goes_one_step_back(app):
    app.open(PAGE, walk=CELL)
    rows = app.drawer.locator(".bv-operands td:first-child button")
    assert rows.count() > 4 and app.drawer.locator('.bv-operands button:not([tabindex="-1"])').count() == 1
    rows.first.focus()
    app.page.keyboard.press("ArrowDown")
    app.page.keyboard.press("ArrowDown")
    third = rows.nth(2).get_attribute("data-step")
    step(app, lambda: app.page.keyboard.press("Enter"))
    assert app.explained == third
    step(app, lambda: app.page.keyboard.press("Escape"))
    assert app.explained == CELL
    app.page.keyboard.press("Escape")
    app.wait_closed()


@pytest.mark.slow
def test_the_foot_gives_what_the_number_was_made_from(app):
    app.open(PAGE, walk=CELL)
    foot = app.drawer.locator(".st-key-drawer-actions")
    assert re.findall("Change this number|Copy link|Download", foot.inner_text()) == [
        "Change this number",
        "Copy link",
        "Download",
    ]
    with app.page.expect_download() as given:
        foot.get_by_role("button", name="Download").click()
    lines = given.value.path().read_text().splitlines()
    assert len(lines) == 14 and lines[-1].startswith(f'"{CELL}",0.')


def open_field(app):
    """The field for another address, behind a sign in the drawer's head."""
    field = app.page.get_by_role("textbox", name="Explain another number")
    if not field.is_visible():
        app.drawer.get_by_role("button", name="Address", exact=True).click()
    return field


@pytest.mark.slow
def test_any_cell_by_its_address(app):
    app.open(PAGE, walk=CELL)
    for cell in ("encoder.layer.3.attention.self.probs[head=5,query=2,key=7]", "embeddings.sum[token=3,hidden=17]"):
        field = open_field(app)
        field.fill(cell)
        step(app, lambda field=field: field.press("Enter"))
        assert app.explained == cell
    field = open_field(app)
    field.fill("embeddings.sum[token=3]")
    with app.rerun():
        field.press("Enter")
    assert "give an index for hidden as well" in app.drawer.inner_text()


@pytest.mark.rare
@pytest.mark.parametrize(
    "cell",
    [seldom("nonsense"), "embeddings.sum[token=99,hidden=0]",
     seldom("embeddings.sum[token=1]"), "<b>x</b>"],
)  # fmt: skip
def test_a_walk_that_was_edited_by_hand(app, cell):
    app.open("embeddings", walk=cell)
    assert "cannot be explained" in app.drawer.inner_text()
    with app.rerun():
        app.drawer.locator("[data-close]").click()
    assert app.title == "Embeddings" and "walk" not in app.query
