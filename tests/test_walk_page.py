"""The walk in a browser: a click on a chart explains a cell, operands lead on to the input, the URL brings it back."""

import re

import pytest

PARAMETER = re.compile(r"weight|bias")


@pytest.fixture
def predictions(app):
    app.open("predictions")
    return app


def walk(app):
    return app.page.locator('[class*="st-key-walk-"]').first


def explained(app):
    """The address of the cell that is explained."""
    return walk(app).locator("code").first.inner_text()


def operands(app):
    """Where one can walk on to that is no parameter, the strongest first."""
    return walk(app).locator('[class*="st-key-operands-"] button').filter(has_not_text=PARAMETER)


def operand(app):
    return operands(app).first


def step(app, act):
    """Do something that explains another cell."""
    before = explained(app)
    with app.rerun():
        act()
    assert explained(app) != before


def panel(app, title):
    return app.page.locator('[class*="st-key-panel-"]').filter(has_text=title).last


def pick_the_answer(app):
    bar = panel(app, "Top predictions for").locator(".points path").first
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    with app.rerun():
        app.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def finished(app):
    return "The walk ends" in walk(app).inner_text()


def test_clicks_alone_lead_from_the_answer_to_the_token_id(predictions):
    pick_the_answer(predictions)
    assert explained(predictions) == "cls.predictions.probs[token=8,vocab=2111]"
    step(predictions, operand(predictions).click)
    step(predictions, lambda: walk(predictions).get_by_role("button", name="Shortest story").click())
    assert finished(predictions)
    crumbs = walk(predictions).locator('[class*="st-key-crumbs-"] button')
    step(predictions, crumbs.filter(has_text="embeddings.LayerNorm").click)  # and from there by the word itself
    while not finished(predictions):
        down = operands(predictions).filter(
            has_text=re.compile("^(LayerNorm.normalized|sum|word_embeddings|input_ids) ·")
        )
        step(predictions, down.first.click)
    assert explained(predictions) == "input_ids[token=7]"  # attention has led over to the word before the mask


def test_a_link_opens_the_seventh_step(predictions):
    pick_the_answer(predictions)
    for _ in range(6):
        step(predictions, operand(predictions).click)
    seen, there = walk(predictions).inner_text(), explained(predictions)
    with predictions.reloading():
        predictions.page.goto(predictions.page.url)
    walk(predictions).locator("code").first.wait_for()
    assert explained(predictions) == there
    assert walk(predictions).inner_text() == seen


def focused(app):
    return app.page.evaluate("document.activeElement.textContent")


def test_by_keyboard_alone(predictions):
    """Enter walks back along the operand that matters most; the focus is never lost."""
    keyboard = predictions.page.keyboard
    panel(predictions, "Top predictions for").get_by_role("button", name="Explain a number").focus()
    with predictions.rerun():
        keyboard.press("Enter")
    for _ in range(2):
        assert focused(predictions) == operand(predictions).inner_text()
        step(predictions, lambda: keyboard.press("Enter"))
    while focused(predictions) != operand(predictions).inner_text():  # past the weight that it is multiplied with
        keyboard.press("Tab")
    step(predictions, lambda: keyboard.press("Enter"))
    walk(predictions).get_by_role("button", name="Shortest story").focus()
    step(predictions, lambda: keyboard.press("Enter"))
    assert finished(predictions) and "This number has no operands" in focused(predictions)
    keyboard.press("Shift+Tab")  # Close
    keyboard.press("Shift+Tab")  # the last crumb
    step(predictions, lambda: keyboard.press("Enter"))
    assert focused(predictions) == walk(predictions).locator('[class*="st-key-crumbs-"] button').nth(-2).inner_text()
    walk(predictions).get_by_role("button", name="Close").focus()
    keyboard.press("Enter")
    walk(predictions).wait_for(state="detached")
    predictions.page.wait_for_function("document.activeElement.textContent.includes('Explain a number')")


def test_any_cell_by_its_address(predictions):
    panel(predictions, "Top predictions for").get_by_role("button", name="Explain a number").focus()
    with predictions.rerun():
        predictions.page.keyboard.press("Enter")
    for cell in ("encoder.layer.3.attention.self.probs[head=5,query=2,key=7]", "embeddings.sum[token=3,hidden=17]"):
        field = walk(predictions).get_by_role("textbox", name="Explain another number")
        field.fill(cell)
        step(predictions, lambda field=field: field.press("Enter"))
        assert explained(predictions) == cell
    field = walk(predictions).get_by_role("textbox", name="Explain another number")
    field.fill("embeddings.sum[token=3]")
    with predictions.rerun():
        field.press("Enter")
    assert "give an index for hidden as well" in walk(predictions).inner_text()


@pytest.mark.parametrize(
    "cell", ["nonsense", "embeddings.sum[token=99,hidden=0]", "embeddings.sum[token=1]", "", "<b>x</b>"]
)
def test_a_walk_that_was_edited_by_hand(app, cell):
    app.open("embeddings", panel="embeddings.sum", walk=cell)
    if cell:
        assert "cannot be explained" in walk(app).inner_text()
        walk(app).get_by_role("button", name="Close").click()
        walk(app).wait_for(state="detached")
    assert app.title == "Embeddings"
