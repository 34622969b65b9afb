"""Pictures that leave the app: every number in its cell, cells as rectangles, in SVG, in PDF and of the canvas."""

import io
import re
import xml.etree.ElementTree as ET

import pypdfium2
import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import visit
from tests.canvas import open_canvas
from tests.often import seldom

pytestmark = pytest.mark.rare

SVG = "{http://www.w3.org/2000/svg}"
# Where the rectangles of heat maps and the numbers lie, in a page that shows a picture alone.
MEASURED = expand("""() => {
    const box = e => (({left, top, right, bottom}) => [left, top, right, bottom])(e.getBoundingClientRect());
    return {
        cells: [...document.querySelectorAll('.hm rect')].map(box), images: document.querySelectorAll('image').length,
        numbers: [...document.querySelectorAll(':--annotation, .heatmap-label text')]
            .filter(e => /^[−\\d.]+$/.test(e.textContent)).map(e => [e.textContent, ...box(e)]),
        width: document.querySelector('svg').getBoundingClientRect().width,
    };
}""")
PICTURES = [
    ("attention", "attention.self.probs", 85),
    seldom("attention_output", "attention", 174),  # a narrow one has no room for the heads and their matrices
    ("heads", "probs", 85),
    seldom("query_key_value", "query", 85),
    seldom("layers", "encoder", 85),
    seldom("embeddings", "embeddings", 85),
]


def save(app, button):
    with app.page.expect_download() as started:
        button.evaluate("e => e.click()")
    return started.value.path().read_text(encoding="utf-8")


def find_panel(app, address):
    """The first panel with a heat map of such an address."""
    there = app.page.locator(f'.bv-panel-title[data-of*="{address}"]')
    panel = app.page.locator('[class*="st-key-panel-"]').filter(has=there).filter(has=app.page.locator(".hm")).first
    panel.locator(".hm image").first.wait_for(state="attached")
    return panel


def print_picture(app, panel, wide):
    """The picture as a PDF: what the app hands to the browser's printer, printed by it."""
    app.page.evaluate("() => document.querySelector('.bv-print')?.remove()")
    panel.locator(f'[data-save="pdf"][data-width="{wide}"]').evaluate("e => e.click()")
    app.page.wait_for_function("() => document.querySelector('.bv-print')?.srcdoc")
    page = app.page.context.new_page()
    page.set_content(app.page.locator(".bv-print").get_attribute("srcdoc"))
    data = page.pdf(prefer_css_page_size=True)
    page.close()
    return pypdfium2.PdfDocument(io.BytesIO(data))


def list_printed(sheet):
    """What a sheet of a PDF has, in points from its upper left corner: the boxes of its paths, and its letters with the
    middle of each, from left to right."""
    height, read = sheet.get_height(), sheet.get_textpage()
    paths = [each.get_bounds() for each in sheet.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_PATH])]
    letters = [(read.get_text_range(i, 1), read.get_charbox(i, loose=True)) for i in range(read.count_chars())]
    middles = [((a + c) / 2, height - (b + d) / 2, letter) for letter, (a, b, c, d) in letters if letter.strip()]
    return [(left, height - top, right, height - low) for left, low, right, top in paths], sorted(middles)


def holds(box, x, y):
    left, top, right, bottom = box
    return left <= x <= right and top <= y <= bottom


@pytest.mark.parametrize(("name", "address", "wide"), PICTURES)
def test_a_saved_picture_has_its_cells_as_rectangles_and_its_numbers_in_them(app, name, address, wide):
    app.open(name)
    panel = find_panel(app, address)
    maps = panel.evaluate("p => [...p.querySelectorAll('.hm')].map(e => e.__data__[0].z.map(row => [...row]))")
    text = save(app, panel.locator(f'[data-save="svg"][data-width="{wide}"]'))
    root = ET.fromstring(text)
    assert root.get("width") == f"{wide}mm" and root.get("height").endswith("mm")
    small = [rows for rows in maps if max(len(rows), len(rows[0])) <= 64]
    known = sum(value is not None for rows in small for row in rows for value in row)
    page = app.page.context.new_page()
    page.set_content(f"<style>body {{ margin: 0 }}</style>{text}")
    seen = page.evaluate(MEASURED)
    page.close()
    assert len(seen["cells"]) == known and seen["images"] == len(maps) - len(small)
    assert seen["width"] == pytest.approx(wide / 25.4 * 96, abs=1)
    sides = list(zip(*seen["cells"], strict=True)) or [[0]] * 4  # none: all its matrices are large
    hull = min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])
    middles = [(number, (a + c) / 2, (b + d) / 2) for number, a, b, c, d in seen["numbers"]]
    inside = [each for each in middles if holds(hull, *each[1:])]  # others stand beside, such as the end of a scale
    cells = [next((cell for cell in seen["cells"] if holds(cell, x, y)), None) for _, x, y in inside]
    assert None not in cells
    (sheet,) = print_picture(app, panel, wide)
    paths, letters = list_printed(sheet)
    scale = sheet.get_width() / seen["width"]
    for cell in seen["cells"]:
        assert any(path == pytest.approx([scale * each for each in cell], abs=1.2) for path in paths), cell
    for (number, _, _), cell in zip(inside, cells, strict=True):
        place = [scale * each for each in cell]
        assert "".join(letter for x, y, letter in letters if holds(place, x, y)) == number
    assert len(list(sheet.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]))) == seen["images"]


# Of every letter that is drawn, how high its font is in millimetres, as it is printed.
LETTERS = """() => [...document.querySelectorAll('svg text')].filter(e => e.textContent.trim()).map(e => {
    const {c, d} = e.getScreenCTM(), size = Number.parseFloat(getComputedStyle(e).fontSize) * Math.hypot(c, d);
    return size / 96 * 25.4;
})"""


@pytest.mark.parametrize(
    ("name", "address"),
    [pytest.param("attention", "self.probs", marks=pytest.mark.rare), ("where_from", "decoder")],
)
def test_letters_are_as_large_as_asked_for_however_wide_a_picture_is(app, name, address):
    app.open(name)
    panel = find_panel(app, address)
    before = panel.bounding_box()
    heights = {}
    for points, wide in ((7, 85), (7, 174), (10, 174)):
        panel.locator("[data-letters]").evaluate("(e, value) => { e.value = value }", str(points))
        page = app.page.context.new_page()
        page.set_content(save(app, panel.locator(f'[data-save="svg"][data-width="{wide}"]')))
        letters = page.evaluate(LETTERS)
        page.close()
        assert len(letters) > 10
        assert sorted(letters)[len(letters) // 2] == pytest.approx(points / 72 * 25.4, rel=0.01), (points, wide)
        assert min(letters) >= 0.9 * points / 72 * 25.4, "none is smaller"
        (sheet,) = print_picture(app, panel, wide)
        assert sheet.get_width() == pytest.approx(wide / 25.4 * 72, abs=1.5)
        read = sheet.get_textpage()
        boxes = [read.get_charbox(i, loose=True) for i in range(read.count_chars())]
        tall = sorted(top - low for _, low, _, top in boxes if top > low)
        heights[points, wide] = tall[len(tall) // 2]
    assert heights[7, 85] == pytest.approx(heights[7, 174], rel=0.04)
    assert heights[10, 174] == pytest.approx(heights[7, 174] * 10 / 7, rel=0.04)
    assert panel.bounding_box() == before, "the page stands as it stood"


def test_the_menu_of_pictures_is_not_cut_off(app):
    app.open("attention")
    find_panel(app, "attention.self.probs").locator(".bv-save summary").click()
    app.page.locator(".bv-save[open] button", has_text="SVG, 174 mm").click(trial=True)  # nothing lies over it


def test_a_picture_is_printed_on_a_sheet_of_its_own_size(app):
    app.open("attention")
    panel = find_panel(app, "attention.self.probs")
    panel.locator('[data-save="pdf"]:not([data-width])').evaluate("e => e.click()")
    app.page.wait_for_function("() => document.querySelector('.bv-print')")
    sheet = app.page.locator(".bv-print").get_attribute("srcdoc")
    page = app.page.context.new_page()
    page.set_content(sheet)
    printed = pypdfium2.PdfDocument(io.BytesIO(page.pdf(prefer_css_page_size=True)))
    width, height = (float(each) for each in re.search(r"size:([\d.]+)mm ([\d.]+)mm", sheet).groups())
    assert len(printed) == 1
    assert printed[0].get_size() == pytest.approx((width / 25.4 * 72, height / 25.4 * 72), abs=1.5)
    said = printed[0].get_textpage().get_text_range()
    assert "attention.self.probs" in said and "weights" in said and "[MASK]" in said
    page.close()


def test_the_canvas_is_taken_away_as_rectangles_in_its_own_colours(chromium, server):
    with visit(chromium, server, motion="reduce") as app:
        open_canvas(app, open="export", level="head", layer=3, head=5, token=8)
        button = app.page.locator('[data-save="svg"][data-of="canvas"]').first
        button.wait_for(state="attached")
        text = save(app, button)
    root = ET.fromstring(text)
    cells = [each for each in root.iter(f"{SVG}rect") if each.get("fill", "").startswith("rgb(")]
    assert len(cells) > 144 and root.find(f".//{SVG}image") is None and "var(" not in text
    said = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert "The whole pass" in said and any("bundled" in line and "weights" in line for line in said)
