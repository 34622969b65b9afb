"""On paper: as wide as the sheet, columns beside each other, cards and the drawer whole."""

import io
import re
from urllib.parse import parse_qs, urlsplit

import pypdfium2
import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import visit
from tests.canvas import open_canvas
from tests.often import seldom

pytestmark = pytest.mark.rare

WEIGHT = "encoder.layer.2.attention.self.probs[head=0,query=8,key=5]"
MARGIN = 10  # millimetres at a sheet's sides
# What writes the foot may be the last part of a page that comes.
READY = "() => dispatchEvent(new Event('beforeprint')) && document.querySelector('#bv-foot')"
FOOT = "document.querySelector('#bv-foot').textContent.match(/margin-bottom: ([\\d.]+)mm/)[1]"
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


def print_page(page, way):
    """The sheets of a page, and how high the margin is below which nothing but their foot stands, in points."""
    page.wait_for_function(READY)
    printed = pypdfium2.PdfDocument(io.BytesIO(page.pdf(format="A4", landscape=way == "landscape")))
    return printed, float(page.evaluate(FOOT)) / 25.4 * 72


def check_foot(sheet, foot):
    """What stands in a sheet's lower margin is all there, and nothing lies on its number at the right."""
    read = sheet.get_textpage()
    letters = [(read.get_text_range(i, 1), *read.get_charbox(i)) for i in range(read.count_chars())]
    letters = [each for each in letters if each[4] < foot and each[0].strip()]
    end = sheet.get_width() - MARGIN / 25.4 * 72 + 1
    assert all(right <= end for *_, right, _ in letters)
    number = [each for each in letters if each[1] > end - 30]
    assert re.fullmatch(r"\d/\d", "".join(each[0] for each in number))
    assert max(each[2] for each in number) - min(each[2] for each in number) < 2  # on one line
    said = "".join(each[0] for each in letters if each not in number)
    link = urlsplit(f"http{said.partition('http')[2]}")
    assert {"text", "model", "weights", "layer", "head", "token"} <= parse_qs(link.query).keys()


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
        printed, foot = print_page(page, way)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size(SHEETS[way])
        on_paper = page.evaluate(expand(CANVAS))
    assert len(printed) == 1
    check_foot(printed[0], foot)
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
        printed, foot = print_page(page, way)
    for number, sheet in enumerate(printed, 1):
        said = " ".join(sheet.get_textpage().get_text_range().split())
        assert f"{number} / {len(printed)}" in said and "bundled · weights" in said and name in said
        check_foot(sheet, foot)
        assert len(said) > 400, f"sheet {number} is almost empty"
    assert len(printed) < 7
