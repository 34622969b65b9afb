"""The canvas in a browser after a change: the line under it, what is added, the neurons' curve and their names."""

import re

import pytest

from tests.browser import WIDE, visit
from tests.canvas import open_canvas
from tests.often import often, seldom

pytestmark = pytest.mark.slow

LAYER = "encoder.layer.2"
RELU, ALONE = f"{LAYER}.intermediate.activation:relu", f"{LAYER}.attention.output.residual:no-residual"
SKIP, ZERO = f"{LAYER}.output.LayerNorm:skip", f"{LAYER}.attention.self.probs[head=0]:0"
TOLD = {
    "as released": ("", "attention.output.residual[token=8,hidden=3]", "u = x + o", "2 numbers · used by 3 numbers"),
    "no residual": (ALONE, "attention.output.residual[token=8,hidden=3]", "u = o", "1 number · used by 3 numbers"),
    "ReLU": (RELU, "intermediate.activation[token=8,intermediate=572]", "g = ReLU(f)",
             "1 number · used by 384 numbers"),
    "skipped": (SKIP, "output.LayerNorm[token=8,hidden=3]", "x(3) = x(2)", "1 number · used by 1,153 numbers"),
    "another head": (ZERO, "attention.self.probs[head=1,query=8,key=3]", "a = softmaxkey(s)",
                     "12 numbers · used by 32 numbers"),
}  # fmt: skip


@pytest.fixture(scope="module")
def app(chromium, server):
    with visit(chromium, server, WIDE, motion="reduce") as app:
        yield app


def see(app, changes, **query):
    open_canvas(app, layer=2, token=8, **({"changes": changes} if changes else {}), **query)
    return app.page.locator(".bvc-readout")


@pytest.mark.rare
@pytest.mark.parametrize("name", often(TOLD, ["no residual", "skipped"], str))
def test_the_line_tells_the_program_that_ran(app, name):
    changes, cell, formula, made = TOLD[name]
    line = see(app, changes, head=0, level="layer", walk=f"{LAYER}.{cell}")
    line.locator(".bvc-formula").wait_for()
    assert line.locator(".bvc-formula").text_content() == formula
    assert line.locator(".bvc-count").text_content() == f"made from {made}"
    cut = "e => e.scrollWidth > e.clientWidth + 1"
    assert not line.locator(".bvc-count").evaluate(cut) and not line.evaluate(cut)


@pytest.mark.rare
def test_a_number_that_a_change_put_there_has_no_formula(app):
    line = see(app, ZERO, head=0, level="layer", walk=f"{LAYER}.attention.self.probs[head=0,query=8,key=3]")
    line.locator(".bvc-count", has_text="put there by a change").wait_for()
    assert line.locator(".bvc-formula").text_content() == ""


@pytest.mark.rare
@pytest.mark.parametrize(("changes", "sums", "lanes"), [seldom("", 24, 2), (ALONE, 12, 1)])
def test_only_what_the_program_adds_has_a_plus_and_a_lane(app, changes, sums, lanes):
    see(app, changes, head=0, level="layer")
    drawn = app.page.locator(".bvc-drawn")
    assert drawn.locator("circle").count() == sums
    assert drawn.locator("text", has_text=re.compile("^residual( connection)?$")).count() == lanes
    said = "keeps only what it found" if changes else "adds what it found"
    assert said in app.page.locator(".bvc-title").text_content()


@pytest.mark.rare
@pytest.mark.parametrize(("changes", "name"), [seldom("", "GELU"), (RELU, "ReLU")])
def test_neurons_stand_on_the_programs_own_curve(app, changes, name):
    see(app, changes, play=9)
    drawn = app.page.locator(".bvc-drawn")
    drawn.locator("text", has_text=f"{name} at “[MASK]”").wait_for()
    place = {
        role: drawn.locator("text", has_text=role).first.bounding_box()
        for role in ("strongest", "shut off", *(["damped"] if name == "GELU" else []))
    }
    assert place["shut off"]["x"] < place.get("damped", place["strongest"])["x"]
    assert drawn.locator("text", has_text="damped").count() == (name == "GELU")
    paths = [
        path
        for path in drawn.locator("path").evaluate_all("all => all.map(e => e.getAttribute('d'))")
        if path.count("L") > 30
    ]
    points = [[float(number) for number in point.split()] for point in paths[0][1:].split("L")]
    lowest = max(y for _, y in points)
    flat = [x for x, y in points if lowest - y < 0.5]
    assert len(paths) == 1 and (len(flat) >= len(points) / 2) == (name == "ReLU")  # all that is below 0


def test_what_a_change_breaks_is_not_called_equal(app):
    see(app, f"{LAYER}.attention.self.scores[head=0]:2", head=0, play=4)
    app.page.locator(".bvc-drawn text", has_text="/ √32 ≠ 2.00").wait_for()
    see(app, "", head=0, play=4)
    app.page.locator(".bvc-drawn text", has_text="/ √32 = ").wait_for()
    see(app, "", head=0, play=10)
    assert app.page.locator(".bvc-drawn text", has_text="≠").count() == 0
