"""The pages of attention in a browser: what looks clickable is, and leads where it says."""

CELL = "encoder.layer.2.attention.self.products[head=0,query=8,key=5]"


def test_a_click_on_a_key_works_that_one_out_and_one_on_a_number_explains_it(app):
    app.open("attention", layer="2", head="0", open="product")
    keys = app.page.locator(".bv-aligned")
    assert keys.locator('[aria-pressed="true"]').inner_text().split() == ["6", "as"]
    with app.rerun():
        keys.locator('[data-choose="key_token=5"]').click()
    assert app.query["key_token"] == "5"
    assert keys.locator('[aria-pressed="true"]').inner_text().split() == ["5", "do"]
    assert "key of “do”" in app.page.locator(".bv-panel-title").nth(2).inner_text()
    with app.rerun():
        keys.locator(f'[data-cell="{CELL}"]').click()
    assert app.query["walk"] == CELL
    app.page.locator("#bv-drawer-title").wait_for()


def test_another_component_of_another_projection_is_a_link(app):
    app.open("query_key_value", layer="2", head="0", projection="value", of_head="3")
    assert "One of them: value 3 of “[MASK]”" in app.page.locator(".bv-panel-title").nth(1).inner_text()
    assert app.query == {"layer": "2", "head": "0", "projection": "value", "of_head": "3"}
