"""The canvas of the first page in a browser: what is pointed at, clicked, walked through by keyboard, and played."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.numbers import format_percent
from tests.browser import PHONE, visit
from tests.canvas import Drawn, draw, look, open_canvas, pick, press, wait_for_query
from tests.often import seldom

TEXT = "When in Rome, do as the [MASK] do."
CELL = "encoder.layer.3.attention.self.probs[head=5,query=8,key=6]"
LEVELS = {"pass": {}, "layer": {"level": "layer"}, "head": {"level": "head"}}
# Points at random places of the picture and notes what the readout says there: [address, value].
POINT = """count => {
    const stage = document.querySelector('.bvc-stage');
    const readout = document.querySelector('.bvc-readout');
    const {left, top, width, height} = stage.getBoundingClientRect();
    const found = [];
    for (let i = 0; i < 20000 && found.length < count; i++) {
        const place = {clientX: left + width * Math.random(), clientY: top + height * Math.random(), bubbles: true};
        stage.dispatchEvent(new PointerEvent('pointermove', {...place, pointerType: 'mouse'}));
        const value = readout.querySelector('[data-value]');
        if (value) found.push([readout.querySelector('.bvc-address').textContent, Number(value.dataset.value)]);
    }
    return found;
}"""
# The server gets no message any more.
SILENCE = "WebSocket.prototype.send = () => {}"


@pytest.fixture(scope="module")
def trace(bundled):
    return bv.run(bundled, TEXT)


@pytest.fixture
def phone(chromium, server):
    with visit(chromium, server, PHONE, motion="reduce", touch=True) as app:
        yield app


@pytest.mark.slow
@pytest.mark.parametrize("level", [seldom("pass"), "layer", "head"])
def test_what_is_pointed_at_is_the_traces_own_number(still, trace, level):
    open_canvas(still, **LEVELS[level])
    found = still.page.evaluate(POINT, 50)
    assert len(found) == 50 and len({address for address, _ in found}) > 25
    for address, value in found:
        assert np.float32(value) == trace[address], address


@pytest.mark.slow
def test_500_cells_of_all_levels_are_read_back_bit_for_bit(still, trace):
    open_canvas(still)
    drawn = Drawn(draw(look(trace)))
    cells = [str(cell) for _, _, cell in pick(drawn, 500)]
    read = still.page.evaluate("cells => cells.map(cell => document.querySelector('.bvc').readCell(cell))", cells)
    assert np.array_equal(np.array(read, np.float32), [trace[cell] for cell in cells])


@pytest.mark.rare
def test_the_first_cell_pointed_at_is_read_out_and_stays_so(still):
    stage = open_canvas(still, level="head")
    box = stage.bounding_box()
    still.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    value = still.page.locator(".bvc-readout [data-value]")
    value.wait_for()
    still.page.evaluate("document.fonts.dispatchEvent(new Event('loadingdone'))")  # of the value's own letters
    assert value.count() == 1


@pytest.mark.rare
def test_whoever_wants_to_write_writes_at_once(app):
    open_canvas(app)
    app.page.get_by_role("button", name="Type your own").click()
    app.page.wait_for_function("() => getSelection().toString().startsWith('When in Rome')")
    with app.rerun():
        app.page.keyboard.type("A [MASK] day.")
        app.page.keyboard.press("Enter")
    app.sentence.wait_for(state="hidden")
    assert app.query["text"] == "A [MASK] day."


@pytest.mark.slow
def test_the_chosen_rows_weights_are_printed_in_it(still, trace):
    open_canvas(still, level="head")
    weights = trace["encoder.layer.2.attention.self.probs[head=0,query=8]"]
    printed = set(still.page.locator(".bvc-drawn text").filter(has_text=re.compile(r"^[\d.]+%$")).all_text_contents())
    shown = {format_percent(float(weight)).replace("\N{NO-BREAK SPACE}", "") for weight in weights if weight >= 0.005}
    assert shown <= printed


@pytest.mark.slow
def test_ribbons_are_as_opaque_as_their_weights(still, trace):
    open_canvas(still)
    ribbons = still.page.evaluate(
        "[...document.querySelectorAll('path[data-weight]')].map(({dataset, attributes}) => "
        "[dataset.layer, dataset.key, dataset.weight, attributes['fill-opacity'].value])"
    )
    assert len(ribbons) == 6 * 12
    for layer, key, weight, opacity in ribbons:
        mean = trace[f"encoder.layer.{layer}.attention.self.probs"][:, 8, int(key)].mean()
        assert weight == opacity and float(weight) == pytest.approx(float(mean), rel=1e-6)


@pytest.mark.rare
def test_three_clicks_lead_to_one_number_of_another_layers_head(app):
    open_canvas(app)
    app.page.locator(".bvc-drawn text", has_text="Layer 3").click(force=True)
    wait_for_query(app, layer="3", level="layer")
    app.page.wait_for_timeout(700)
    box = app.page.locator(".bvc-drawn text", has_text="head 5").bounding_box()
    app.page.mouse.click(box["x"] + 20, box["y"] + 40)
    wait_for_query(app, layer="3", head="5", level="head")
    app.page.wait_for_timeout(700)
    column = app.page.locator(".bvc-drawn text", has_text=re.compile("^as$")).last.bounding_box()
    row = app.page.locator(".bvc-drawn text", has_text="[MASK]").first.bounding_box()
    app.page.mouse.click(column["x"] + 4, row["y"] + 8)
    wait_for_query(app, walk=CELL)
    app.page.wait_for_selector(f'[data-ring="{CELL}"]')


@pytest.mark.slow
def test_the_keyboard_alone_leads_there_and_back(app):
    open_canvas(app).focus()
    press(app, "]", "Enter", "}", "}", "}", "}", "}", "Enter")  # faster than they are answered
    wait_for_query(app, layer="3", head="5", level="head")
    app.settle()
    press(app, "ArrowRight", "Enter")
    app.page.wait_for_selector("[data-ring]")
    app.page.wait_for_function("() => document.activeElement.id === 'bv-drawer-title'")
    assert "attention.self.probs[head=5,query=8," in app.query["walk"]
    press(app, "Escape")
    app.page.wait_for_function("() => document.activeElement.matches('.bvc-stage')")
    press(app, "Escape")
    wait_for_query(app, level="layer")
    press(app, "Escape")
    app.page.wait_for_function("() => !new URLSearchParams(location.search).has('level')")
    with app.rerun():
        app.page.go_back()
    app.page.wait_for_function("() => document.querySelector('.bvc').dataset.level === 'layer'")
    assert app.trouble == []


@pytest.mark.slow
def test_a_link_opens_the_same_view(still):
    open_canvas(still, level="head", layer=3, head=5, walk=CELL)
    still.page.wait_for_selector(f'[data-ring="{CELL}"]')
    assert "Head 5 of layer 3" in still.page.locator(".bvc-title").inner_text()
    assert still.explained == CELL


@pytest.mark.slow
def test_pointing_sends_nothing(app):
    open_canvas(app, level="layer")
    before = app.sent
    assert before
    for i in range(40):
        app.page.mouse.move(200 + 25 * i, 300 + 8 * i)
    app.page.wait_for_timeout(500)
    assert app.sent == before


@pytest.mark.rare
def test_a_row_lights_its_token_in_the_bar_and_the_other_way_round(still):
    stage = open_canvas(still)
    row = still.page.locator(".bvc-drawn text", has_text="rome").first.bounding_box()
    still.page.mouse.move(row["x"] + 5, row["y"] + 5)
    still.page.wait_for_selector('.bv-chips [data-token="3"].bv-lit')
    still.page.locator('.bv-chips [data-token="5"]').hover()
    still.page.wait_for_function(
        "() => document.querySelectorAll('.bvc-drawn path[stroke][data-key=\"5\"]').length > 0"
    )
    assert stage.count() == 1


@pytest.mark.slow
def test_on_a_phone_one_stage_is_seen_at_a_time(phone):
    open_canvas(phone)
    titles = phone.page.locator(".bvc-drawn text", has_text="Layer ")
    assert titles.all_text_contents() == ["Layer 2"]
    phone.page.get_by_role("button", name="Layer 4", exact=True).tap()
    phone.page.wait_for_function("() => document.querySelector('.bvc-drawn').textContent.includes('Layer 4')")
    assert titles.all_text_contents() == ["Layer 4"]
    phone.page.locator(".bvc-tabs").get_by_role("button", name="Head").tap()
    phone.page.wait_for_selector('.bvc[data-level="head"]')
    assert phone.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.rare
def test_a_finger_chooses_a_small_cell_before_it_explains_it(phone):
    open_canvas(phone, level="head")
    row = phone.page.locator(".bvc-drawn text", has_text="rome").first.bounding_box()
    phone.page.touchscreen.tap(200, row["y"] + 6)
    phone.page.wait_for_selector(".bvc-readout :text('tap again')")
    assert phone.explained == ""
    with phone.rerun():
        phone.page.touchscreen.tap(200, row["y"] + 6)
    phone.page.wait_for_selector("[data-ring]")
    assert "query=3" in phone.explained


@pytest.mark.rare
def test_the_window_of_a_long_sentence_moves_by_wheel(still):
    stage = open_canvas(still, text="When in Rome, do as the [MASK] do. " * 30, token=8)
    rail = still.page.locator(".bvc-rail")
    before = rail.get_attribute("title")
    stage.hover()
    for _ in range(20):
        still.page.mouse.wheel(0, 300)
    still.page.wait_for_function("before => document.querySelector('.bvc-rail').title !== before", arg=before)
    still.page.wait_for_function("() => document.querySelector('.bvc-rail').title.endsWith('301 of 302')")
    assert still.trouble == []


@pytest.mark.rare
def test_a_word_opens_its_story_and_back_comes_back(app):
    stage = open_canvas(app, level="layer")
    app.page.locator(".bvc-drawn text", has_text="others").click(force=True)
    wait_for_query(app, **{"token": "8", "story-of": "“others” at position 8"})
    app.settle()
    assert app.title == "Shortest story"
    with app.rerun():
        app.page.go_back()
        app.wait_for_title("Overview")
    assert app.query == {"level": "layer"}
    stage.focus()
    press(app, "ArrowRight", *["Control+ArrowRight"] * 20, "ArrowUp")
    assert app.page.locator(".bvc-live").text_content().startswith("the: the 9")
    press(app, "Enter")
    app.page.wait_for_function("() => location.pathname === '/story'")
    app.settle()
    assert app.title == "Shortest story" and app.query["token"] == "7"
    assert "Where does “the” lead back to?" in app.page.get_by_role("heading", level=1).inner_text()


@pytest.mark.rare
def test_a_clicked_component_stays_lit_in_every_stage_until_it_is_let_go_of(app, trace):
    open_canvas(app)
    title, row = (app.page.locator(".bvc-drawn text", has_text=text).first.bounding_box() for text in ("Embed", "rome"))
    before = app.sent
    with app.rerun():
        app.page.mouse.click(title["x"] + 22, row["y"] + 6)
    assert app.sent == before + 1
    component = app.query["component"]
    assert app.explained == app.query["walk"] == f"embeddings.LayerNorm[token=3,hidden={component}]"
    app.page.mouse.move(700, 890)
    lit = app.page.locator(f'.bvc-drawn [data-component="{component}"]')
    assert lit.count() == 7  # the embedding, and every layer's output
    app.page.locator(".bvc-stage").focus()
    with app.rerun():
        press(app, "Escape")
    assert (lit.count(), app.query) == (7, {"component": component})
    press(app, "Escape")
    app.page.wait_for_function("() => location.search === ''")
    assert lit.count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("pause", [seldom(0), seldom(30), 100, seldom(300)])
def test_escape_twice_closes_the_drawer_and_lets_go_of_the_component(app, pause):
    stage = open_canvas(app, walk="embeddings.LayerNorm[token=3,hidden=5]", component=5)
    assert app.explained and app.query["component"] == "5"
    stage.focus()
    press(app, "Escape")
    app.page.wait_for_timeout(pause)
    press(app, "Escape")
    app.page.wait_for_function("() => location.search === ''")
    app.wait_closed()


@pytest.mark.rare
def test_a_strips_title_opens_all_its_components(app, trace):
    stage = open_canvas(app, level="layer")
    with app.rerun():
        app.page.locator(".bvc-drawn text", has_text=re.compile("^LayerNorm$")).first.click(force=True)
    assert app.query == {"level": "layer", "strip": "norm"}
    app.page.wait_for_function("() => document.querySelector('.bvc-drawn').textContent.includes('384 numbers')")
    app.page.wait_for_timeout(500)  # the zoom's own motion
    found = app.page.evaluate(POINT, 100)
    columns = {int(re.search(r"hidden=(\d+)", address)[1]) for address, _ in found}
    assert max(columns) > 300 and len(columns) > 50
    for address, value in found:
        assert address.startswith("encoder.layer.2.attention.output.LayerNorm[") and np.float32(value) == trace[address]
    stage.focus()
    with app.rerun():
        press(app, "Escape")
    assert app.query == {"level": "layer"}


@pytest.mark.rare
def test_the_keyboard_opens_a_strip_by_its_title(still):
    open_canvas(still, level="layer").focus()
    press(still, "ArrowRight", *["Control+ArrowRight"] * 2, *["ArrowUp"] * 9)
    assert still.page.locator(".bvc-live").text_content() == (
        "Residual sum after attention. Enter: all its 384 numbers of each token."
    )
    press(still, "Enter")
    wait_for_query(still, level="layer", strip="sum")
    still.page.locator('.bvc-crumbs [aria-current="true"]', has_text="Residual sum").wait_for()


@pytest.mark.rare
def test_a_layer_and_head_that_were_visited_are_drawn_before_the_server_answers(still, trace):
    cell = "encoder.layer.{}.attention.self.query[head={},query=8,head_dim=3]"
    open_canvas(still, level="head", layer=3, head=5).focus()
    read = "cell => document.querySelector('.bvc').readCell(cell)"
    with still.rerun():
        press(still, "]", "}")
    assert still.page.evaluate(read, cell.format(3, 5)) is None
    still.page.evaluate(SILENCE)
    press(still, "[", "{")
    assert np.float32(still.page.evaluate(read, cell.format(3, 5))) == trace[cell.format(3, 5)]
    assert "Head 5 of layer 3: “[MASK]” looks at" in still.page.locator(".bvc-title").inner_text()
    press(still, "[")
    assert still.page.evaluate(read, cell.format(2, 5)) is None
