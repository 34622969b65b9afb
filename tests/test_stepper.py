"""The steppers of the bar: one press a step, and dim where a page does not depend on them."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.canvas import Spot
from bertviz_core.showing.canvas_stops import STOPS, list_stops
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.frame.stepper import UNUSED, WHOLE
from tests.often import often
from tests.settling import settle

APP = str(Path(__file__).parents[1] / "app.py")
TEXT = "The old man sat [MASK] rome."
RESTLESS = {"heads", "training"}  # what is worked out there, in part by another process, comes when it is done


def read_page(name, **place):
    """All that a page and its folds say and draw, but for the frame, links and menus."""
    at = AppTest.from_file(APP, default_timeout=120)
    asked = {"open": "all", "text": TEXT, "token": "2", **place}
    at.query_params.update(asked)
    at.run()
    at.switch_page(f"pages/{name}.py")
    at.query_params.update(asked)
    at.run()
    assert settle()  # what is worked out meanwhile is compared when it is done
    at.run()
    assert not at.exception
    return list(list_drawn(at.main))


STEPPED = [info.name for info in PAGES if info.name not in RESTLESS | {PAGES[0].name} and not info.of_two]


def list_drawn(block):
    """The elements of a block as they were sent, without the names that a session gives them."""
    for part in block.children.values():
        if hasattr(part, "children"):
            if not re.search(r'id: "[^"]*-(frame|drawer)"', str(part.proto)):
                yield from list_drawn(part)
        elif part.type not in ("page_link", "button", "selectbox"):
            yield re.sub(r'(id|key|form_id): "[^"]*"', "", str(part.proto))


@pytest.mark.parametrize(
    "name", often(STEPPED, ["query_key_value", "add_norm", "layers", "story", "parameters", "notation"], str)
)
def test_a_page_depends_on_what_can_be_stepped_on_it_and_on_nothing_that_is_dim(name):
    unused, _ = UNUSED.get(name, ((), ""))
    here = read_page(name, layer="1", head="2")
    for axis, place in (("layer", {"layer": "3", "head": "2"}), ("head", {"layer": "1", "head": "7"})):
        assert (read_page(name, **place) == here) == (axis in unused), axis


@pytest.mark.parametrize(("layer", "dim"), [(0, ["previous-layer"]), (1, []), (-2, []), (-1, ["next-layer"])])
def test_one_can_step_to_the_first_layer_and_to_the_last_and_no_further(bundled, layer, dim):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"text": TEXT, "layer": str(range(bundled.config.num_hidden_layers)[layer])})
    at.run()
    assert not at.exception
    assert [each.key for each in at.button if each.key in ("previous-layer", "next-layer") and each.disabled] == dim


@pytest.mark.parametrize(
    ("level", "stop"), [("pass", 0), ("layer", 0), ("head", 0), *(("pass", i + 1) for i in range(len(STOPS)))]
)
def test_on_the_first_page_a_head_can_be_stepped_where_one_is_in_the_picture(bundled, level, stop):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"text": TEXT, "layer": "1", "head": "2", "level": level, "play": str(stop)})
    at.run()
    assert not at.exception
    dim = [each for each in at.get("html") if 'data-axis="head"' in each.proto.body and WHOLE[1] in each.proto.body]
    whole = (STOPS[stop - 1].level if stop else level) == "pass"
    assert bool(dim) == whole and ("next-head" in [each.key for each in at.button]) != whole
    trace = bv.run(bundled, TEXT)
    one, other = (list_stops(trace, Spot(1, head, 2, None, range(len(trace.tokens)), None)) for head in (2, 7))
    assert not (whole and stop) or one[stop - 1] == other[stop - 1]


def press(app, name):
    with app.rerun():
        app.page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.slow
def test_a_press_is_one_step_and_the_focus_stays(app):
    app.open("attention", text=TEXT, layer="4", head="5")
    app.page.wait_for_timeout(300)  # a run is counted a moment after what it says is there
    runs = app.page.evaluate("window.runs")
    press(app, "Next layer")
    app.page.wait_for_timeout(300)
    assert app.chosen()[:2] == ("Layer 5", "Head 5") and app.page.evaluate("window.runs") == runs + 1
    assert app.page.get_by_role("button", name="Next layer", exact=True).is_disabled()
    press(app, "Previous head")
    assert app.page.evaluate("document.activeElement.textContent").endswith("Previous head")
    with app.rerun():
        app.page.keyboard.press("Enter")
    assert (app.query["layer"], app.query["head"]) == ("5", "3")
    with app.rerun():
        app.page.go_back()
    assert app.chosen()[:2] == ("Layer 5", "Head 4")


# Whether all four corners of an element, a little inside, are its own on screen.
IS_ON_TOP = """element => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const corners = [[left, top], [right, top], [left, bottom], [right, bottom]];
    const inside = ([x, y]) => [x + (x === left ? 6 : -6), y + (y === top ? 6 : -6)];
    return corners.every(corner => document.elementFromPoint(...inside(corner)) === element);
}"""


@pytest.mark.rare
def test_what_is_dim_says_why_to_pointer_and_keyboard(app):
    app.open("layers", text=TEXT)
    dim = app.page.locator(".bv-off")
    assert dim.count() == 1 and app.page.get_by_role("combobox", name="Layer", exact=True).is_visible()
    why = dim.get_by_role("tooltip")
    assert not why.is_visible()
    dim.focus()
    assert why.is_visible() and why.inner_text() == UNUSED["layers"][1]
    assert why.evaluate(IS_ON_TOP), "nothing cuts it off, and nothing lies over it"
