"""The pages of attention in a browser: what looks clickable is, and leads where it says."""

import re

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import CLICKED, visit
from tests.canvas import wait_for_query

pytestmark = pytest.mark.slow

CELL = "encoder.layer.2.attention.self.products[head=0,query=8,key=5]"
# How often the one image that a heat map's cells are is given its content: once for each time that Plotly draws it.
COUNT_DRAWN = expand("""window.drawn = 0;
new MutationObserver((seen) => {
    const given = seen.filter(({attributeName}) => attributeName === 'href');
    window.drawn += given.filter(({target}) => target.matches(':--heatmap image')).length;
}).observe(document, {attributes: true, subtree: true})""")


@pytest.mark.rare
def test_a_click_on_a_key_works_that_one_out_and_one_on_a_number_explains_it(app):
    app.open("attention", layer="2", head="0", open="product", key_token="6")
    keys = app.page.locator(".bv-aligned")
    assert keys.locator('[aria-pressed="true"]').inner_text().split() == ["as"]
    with app.rerun():
        keys.locator('[data-choose="key_token=5"]').click()
    wait_for_query(app, layer="2", head="0", open="product", key_token="5")
    app.settle()
    assert keys.locator('[aria-pressed="true"]').inner_text().split() == ["5", "do"]
    assert "key of “do”" in app.page.locator(".bv-panel-title").nth(3).inner_text()
    with app.rerun():
        keys.locator(f'[data-cell="{CELL}"]').click()
    wait_for_query(app, layer="2", head="0", open="product", key_token="5", walk=CELL)
    app.page.locator(CLICKED).wait_for()


@pytest.mark.rare
def test_another_component_of_another_projection_is_a_link(app):
    app.open("query_key_value", layer="2", head="0", projection="value", of_head="3")
    assert "One of them: value 3 of “[MASK]”" in app.page.locator(".bv-panel-title").nth(2).inner_text()
    assert app.query == {"layer": "2", "head": "0", "projection": "value", "of_head": "3"}


@pytest.mark.rare
def test_a_block_of_the_overview_explains_its_largest_weight(app):
    app.open("attention", layer="2", head="0", text="a " * 100 + "[MASK]", token="50")
    blocks = app.find(".st-key-chart-weights-overview :--heatmap image")
    blocks.wait_for()
    app.page.wait_for_function("() => document.querySelector('.st-key-chart-weights-overview .bv-chart')")
    blocks.scroll_into_view_if_needed()
    box = blocks.bounding_box()
    with app.rerun():
        app.page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.3 * box["height"])
    said = re.fullmatch(r"encoder\.layer\.2\.attention\.self\.probs\[head=0,query=(\d+),key=(\d+)\]", app.query["walk"])
    query, key = map(int, said.groups())
    assert abs(query - 0.3 * 103) < 3 and abs(key - 0.8 * 103) < 3
    app.page.locator(CLICKED).wait_for()
    app.page.locator(".st-key-chart-weights-overview .bv-ring").first.wait_for()


@pytest.mark.rare
def test_the_names_beside_and_above_the_weights_choose_query_and_key(app):
    app.open("attention", layer="2", head="0")
    weights = app.page.locator('[class*="st-key-chart-encoder-layer-2-attention-self-probs"]').first
    weights.locator(".bv-chart").wait_for()
    column = weights.locator(expand(":--axis-x text")).nth(3).bounding_box()
    with app.rerun():
        app.page.mouse.click(column["x"] + 8, column["y"] + column["height"] - 6)
    assert app.query["key_token"] == "3" and "token" not in app.query
    row = weights.locator(expand(":--axis-y text")).nth(5).bounding_box()
    with app.rerun():
        app.page.mouse.click(row["x"] + row["width"] / 2, row["y"] + row["height"] / 2)
    assert app.query["token"] == "5" and "key_token" not in app.query  # by rule again


@pytest.mark.rare
def test_the_card_of_one_number_follows_the_clicked_one(app):
    app.open("query_key_value", layer="2", head="0")
    app.page.wait_for_function("() => document.querySelector('.st-key-chart-blocks .bv-chart')")
    drawn, tokens, width = app.find(".st-key-chart-blocks :--heatmap image"), 12, 32

    def click(block, token, component):
        box = drawn.nth(block).bounding_box()
        x, y = box["width"] * (component + 0.5) / width, box["height"] * (token + 0.5) / tokens
        with app.rerun():
            app.page.mouse.click(box["x"] + x, box["y"] + y)
        return app.explained, app.page.locator(".bv-panel-title").nth(2).inner_text()

    cell, card = click(2, 8, 5)
    assert cell == "encoder.layer.2.attention.self.value[head=0,key=8,head_dim=5]"
    assert "One of them: value 5 of “[MASK]”" in card
    assert (app.query["projection"], app.query["of_head"]) == ("value", "5")
    cell, card = click(0, 3, 7)
    assert cell == "encoder.layer.2.attention.self.query[head=0,query=3,head_dim=7]"
    assert "One of them: value 5 of “[MASK]”" in card  # that is another token's


@pytest.mark.rare
def test_a_chart_of_another_layer_is_drawn_once(chromium, server):
    """Streamlit gives Plotly the same chart twice: see `to_plotly`."""
    with visit(chromium, server, fresh=True) as app:
        app.page.add_init_script(COUNT_DRAWN)
        app.open("attention", layer="2", head="0")
        before = app.page.evaluate("window.drawn")
        with app.rerun():
            app.page.get_by_role("button", name="Next layer").click()
        assert app.page.evaluate("window.drawn") == before + 1


def test_a_clicked_number_is_ringed_and_its_row_its_weight_and_its_key_are_lit(app):
    app.open("attention", layer="2", head="0", token="8")
    drawn = app.page.locator('[class*="st-key-chart-encoder-layer-2-attention-self-probs"]').first
    drawn.locator(".bv-ring").wait_for()
    with app.rerun():
        app.page.locator(f'.bv-aligned [data-cell="{CELL.replace("key=5", "key=3")}"]').click()
    app.page.locator(f'[data-cell="{CELL.replace("key=5", "key=3")}"][aria-current="true"]').wait_for()
    assert app.page.locator(".bv-row-here th").inner_text().split()[-1] == "rome"
    assert app.page.locator(".bv-rows-left .bv-picked th").inner_text().split()[-1] == "as"  # no longer lit
    ring, image = drawn.locator(".bv-ring").bounding_box(), drawn.locator(expand(":--heatmap image")).bounding_box()
    column = (ring["x"] + ring["width"] / 2 - image["x"]) / image["width"] * 12
    row = (ring["y"] + ring["height"] / 2 - image["y"]) / image["height"] * 12
    assert (int(column), int(row)) == (3, 8)
    assert app.page.locator(".key .token.here").inner_text().split()[-1] == "rome"
    with app.rerun():
        app.drawer.locator(".bv-operands tbody tr button").first.click()  # on to a component of the query
    assert app.page.locator(".bv-row-here th").inner_text().split()[-1] == "rome"
    with app.rerun():
        app.page.locator('.bv-aligned [data-choose="key_token=6"]').click()
    assert (app.query["key_token"], app.explained) == ("6", CELL.replace("key=5", "key=6"))
    assert app.page.locator(".bv-row-here th").inner_text().split()[-1] == "as"
