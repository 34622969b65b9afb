"""What is pointed at is what opens: tooltip, ring and drawer name one cell, and a click moves nothing by a pixel."""

from dataclasses import dataclass

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import CLICKED, WIDE, visit
from tests.often import seldom

pytestmark = pytest.mark.slow

LOW = {"width": 1280, "height": 720}
TOOLTIP = expand("""() => [...document.querySelectorAll(':--plot :--pointer-words .hovertext tspan')]
    .map(each => each.textContent).join(' ')""")
# All rings that are seen: how far their middles are from a point, the nearest first.
RINGS = """([x, y]) => [...document.querySelectorAll('.bv-ring')].map(each => each.getBoundingClientRect())
    .filter(box => box.width)
    .map(box => [Math.abs(box.left + box.width / 2 - x), Math.abs(box.top + box.height / 2 - y)])
    .sort((a, b) => a[0] + a[1] - b[0] - b[1])"""


@dataclass(frozen=True)
class Case:
    """A cell of a heat map. image: which of the page's; size: its rows and columns; at: row and column."""

    page: str
    image: str
    size: tuple[int, int]
    at: tuple[int, int]
    cell: str

    def find(self, app):
        """Its middle on screen, and the image's box."""
        image = app.find(self.image).first
        image.scroll_into_view_if_needed()
        app.page.wait_for_timeout(100)
        box = image.bounding_box()
        (rows, columns), (row, column) = self.size, self.at
        return (box["x"] + box["width"] * (column + 0.5) / columns, box["y"] + box["height"] * (row + 0.5) / rows), box


WEIGHT = Case(
    "attention",
    '[class*="st-key-chart-encoder-layer-2-attention-self-probs"] :--heatmap image',
    (12, 12),
    (8, 5),
    "encoder.layer.2.attention.self.probs[head=0,query=8,key=5]",
)
QUERY = Case(
    "query_key_value",
    ".st-key-chart-blocks :--heatmap image",
    (12, 32),
    (3, 7),
    "encoder.layer.2.attention.self.query[head=0,query=3,head_dim=7]",
)


def read_number(text):
    """The number that a tooltip ends with, whose sign is no hyphen."""
    return float(text.split()[-1].replace("−", "-"))


@pytest.mark.parametrize(
    ("size", "case"),
    [(WIDE, WEIGHT), seldom(LOW, QUERY), seldom(LOW, WEIGHT), seldom(WIDE, QUERY)],
    ids=lambda one: None,
)
def test_tooltip_ring_and_drawer_name_the_cell_that_is_pointed_at_and_nothing_moves(chromium, server, rome, size, case):
    with visit(chromium, server, size, motion="reduce") as app:
        app.open(case.page, layer="2", head="0")
        point, before = case.find(app)
        app.page.mouse.move(*point)
        app.page.wait_for_function(f"() => ({TOOLTIP})().length > 0")
        told = app.page.evaluate(TOOLTIP)
        assert read_number(told) == pytest.approx(rome[case.cell].item(), rel=1e-3)
        with app.rerun():
            app.page.mouse.click(*point)
        app.page.locator(CLICKED).wait_for()
        assert app.explained == case.cell
        value = app.drawer.locator(".bv-value b").inner_text()
        assert read_number(value) == pytest.approx(rome[case.cell].item(), abs=1e-4)
        app.page.locator(".bv-ring").first.wait_for()
        (across, down), *_ = app.page.evaluate(RINGS, list(point))
        assert across < 1.5 and down < 1.5
        assert app.find(case.image).first.bounding_box() == before
        assert app.page.evaluate(TOOLTIP) in (told, "")  # none, or that of the cell below the pointer
