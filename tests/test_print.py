"""On paper: as wide as the sheet, columns beside each other, cards and the drawer whole."""

import io
import re

import pypdfium2
import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import visit
from tests.canvas import open_canvas
from tests.often import seldom

pytestmark = pytest.mark.slow

WEIGHT = "encoder.layer.2.attention.self.probs[head=0,query=8,key=5]"
SHEETS = {"portrait": {"width": 718, "height": 1046}, "landscape": {"width": 1046, "height": 718}}
# What sticks out of the sheet, whether columns stand beside each other, and what of the drawer is cut.
MEASURED = expand("""() => {
    const box = (each) => each.getBoundingClientRect();
    const cards = [...document.querySelectorAll('[class*="st-key-panel-"]')].map(box);
    const blocks = [...document.querySelectorAll(':--horizontal-block')];
    const body = document.querySelector('.st-key-drawer-body').parentElement;
    return {
        wide: cards.filter(({ right, left }) => right > innerWidth + 1 || left < -1).length,
        stacked: blocks.filter(each => each.querySelector(':scope > :--column')
            && getComputedStyle(each).display !== 'flex').length,
        cut: body.scrollHeight - body.clientHeight,
        drawer: box(document.querySelector('.st-key-drawer')).top - Math.max(...cards.map(({ bottom }) => bottom)),
        frame: document.querySelector('.st-key-frame').checkVisibility(),
    };
}""")


@pytest.mark.parametrize("way", SHEETS)
def test_a_page_fits_on_a_sheet_with_the_drawer_below_it(chromium, server, way):
    with visit(chromium, server, fresh=True) as app:
        app.open("attention", walk=WEIGHT)
        page = app.use_up()
        pages = int(re.search(rb"/Count (\d+)", page.pdf(format="A4", landscape=way == "landscape"))[1])
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size(SHEETS[way])
        found = page.evaluate(MEASURED)
    assert pages > 1
    assert (found["wide"], found["stacked"], found["frame"]) == (0, 0, False)
    assert found["cut"] <= 0 < found["drawer"]


CANVAS = """() => {
    const box = e => (({ left, top, right, bottom }) => [left, top, right, bottom])(e.getBoundingClientRect());
    const cells = document.querySelector('.bvc-cells');
    return { cells: box(cells), drawn: box(document.querySelector('.bvc-drawn')),
        stage: box(document.querySelector('.bvc-stage')), sharp: [cells.width, cells.height],
        say: document.querySelector('.bvc-say').checkVisibility() };
}"""


@pytest.mark.parametrize("way", SHEETS)
@pytest.mark.parametrize(
    "stop", [0, seldom(1), seldom(2), seldom(3), 4, seldom(5), seldom(6), seldom(7), 8, seldom(9), 10]
)
def test_the_first_page_and_each_stop_are_one_sheet_with_every_number_at_its_cell(chromium, server, way, stop):
    """The numbers are drawn over the cells, which are a picture: both stand where they stood on screen."""
    with visit(chromium, server, fresh=True, motion="reduce") as app:
        open_canvas(app, play=stop)
        page = app.use_up()
        printed = pypdfium2.PdfDocument(io.BytesIO(page.pdf(format="A4", landscape=way == "landscape")))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size(SHEETS[way])
        on_paper = page.evaluate(expand(CANVAS))
    assert len(printed) == 1
    assert on_paper["cells"] == pytest.approx(on_paper["drawn"], abs=0.5)
    left, top, right, bottom = on_paper["cells"]
    sharp = [pixels / length for pixels, length in zip(on_paper["sharp"], (right - left, bottom - top), strict=True)]
    assert sharp[0] == pytest.approx(sharp[1], rel=0.01) and sharp[0] >= 1
    said = " ".join(printed[0].get_textpage().get_text_range().split())
    assert "1 / 1" in said and "bundled · weights" in said and "text=When+in+Rome" in said
    if stop:
        assert on_paper["say"] and f"{stop}/10" in said


@pytest.mark.parametrize("name", ["attention", "layers", seldom("predictions"), seldom("heads")])
@pytest.mark.parametrize("way", SHEETS)
def test_no_sheet_of_a_page_is_empty_and_each_says_where_its_numbers_are_from(chromium, server, name, way):
    with visit(chromium, server, fresh=True) as app:
        app.open(name, walk=WEIGHT)
        page = app.use_up()
        printed = pypdfium2.PdfDocument(io.BytesIO(page.pdf(format="A4", landscape=way == "landscape")))
    for number, sheet in enumerate(printed, 1):
        said = " ".join(sheet.get_textpage().get_text_range().split())
        assert f"{number} / {len(printed)}" in said and "bundled · weights" in said and name in said
        assert len(said) > 400, f"sheet {number} is almost empty"
    assert len(printed) < 7
