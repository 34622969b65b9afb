"""The listener in a browser: keyboard and focus, and touch."""

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, visit
from tests.listener import CLOSE, FAR, FRAME, PROBS, box, cell_box, chart, events, heard, open_at, sends, wait_for_focus

pytestmark = [pytest.mark.xdist_group("listener"), pytest.mark.slow]


@pytest.fixture
def app(calm):
    return calm


@pytest.mark.rare
def test_a_chart_is_walked_through_by_keyboard(chromium, trial):
    with visit(chromium, trial) as app:
        _walk_through(open_at(app))


def _walk_through(app):
    keyboard, weights = app.page.keyboard, chart(app, "weights")
    app.page.locator('[data-save="png"]').focus()
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
        ("points", ("ArrowRight",), "intermediate 21: pre-activation 0.2500, activation 0.0156"),
    ):
        app.page.keyboard.press("Shift")  # what is focused next is focused by keyboard
        chart(app, key).focus()
        for press in ("Home", *presses):
            app.page.keyboard.press(press)
        assert heard(app).startswith(said)


@pytest.mark.rare
def test_escape_closes_what_lies_on_top(app):
    with app.rerun():
        app.page.locator("[data-cell]").click()
    keyboard, before = app.page.keyboard, len(events(app))
    app.page.get_by_role("button", name="Menu").click()
    field = app.page.get_by_role("textbox", name="Field")
    field.wait_for()
    keyboard.press("Escape")
    field.wait_for(state="detached")
    app.page.get_by_role("textbox", name="Another number").focus()
    keyboard.press("Escape")
    app.page.wait_for_timeout(200)
    assert len(events(app)) == before
    app.page.locator("[data-step]").first.focus()
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
    wait_for_focus(app, "[data-step$=x]")  # of the step that one came back to
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


@pytest.mark.rare
def test_on_a_phone_the_cell_comes_to_lie_above_the_sheet(phone):
    open_at(phone, cell=FAR)
    phone.page.wait_for_timeout(300)
    _, top, _, height = box(chart(phone, "vectors").locator(".bv-ring"))
    assert top >= FRAME and top + height <= 0.4 * PHONE["height"]


@pytest.mark.rare
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
        assert not chart(phone, "weights").locator(expand(":--pointer-words")).is_visible(), "nothing lies on it"
    with sends(phone, "cell", PROBS.format(4, 4)):
        tap(4, 4)
