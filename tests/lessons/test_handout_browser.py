"""Handouts in a real browser: two sheets of A4, and a page that is downloaded on Learn, whose code leads to step 1."""

import re
from urllib.parse import urlencode

import pytest

from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.drawing import draw_code
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.printing import find_browser, print_page
from tests.browser import visit
from tests.lessons.scenes import find_scene
from tests.often import seldom

# What is wider than the sheet or sticks out of its own place.
STICKS_OUT = """() => [...document.querySelectorAll('.sheet *')].filter(each => {
    const box = each.getBoundingClientRect(), sheet = each.closest('.sheet').getBoundingClientRect();
    return box.width && (box.right > sheet.right - 50 || box.left < sheet.left + 50);
}).map(each => each.outerHTML.slice(0, 200))"""
LINK = "https://bert.example.org/attention?" + urlencode({"text": "When in Rome, do as the [MASK] do.", "step": 1})


def count_pages(pdf):
    return int(re.search(rb"/Count (\d+)", pdf)[1])


@pytest.mark.rare
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_usual_sentence_fills_two_sheets(chromium, models, lesson):
    scene = find_scene(models, "bundled", "usual")
    page = chromium.new_page(viewport={"width": 900, "height": 1100})
    page.set_content(write_handout(Handout(lesson, scene, lesson.text, LINK), with_key=True))
    assert page.evaluate(STICKS_OUT) == []
    assert count_pages(page.pdf(prefer_css_page_size=True)) == 2
    page.set_content(write_handout(Handout(lesson, scene, lesson.text, LINK)))
    assert count_pages(page.pdf(prefer_css_page_size=True)) == 1
    page.close()


@pytest.mark.parametrize("kind", ["forty tokens", seldom("long"), seldom("shortest"), seldom("not English")])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_nothing_sticks_out_of_the_sheet(chromium, models, lesson, kind):
    page = chromium.new_page(viewport={"width": 900, "height": 1100})
    page.set_content(write_handout(Handout(lesson, find_scene(models, "random", kind), "x" * 300), with_key=True))
    assert page.evaluate(STICKS_OUT) == []
    page.close()


def test_a_page_is_printed_by_the_browser_of_the_machine(models, tmp_path):
    browser = find_browser()
    if browser is None:
        pytest.skip("No Chromium")
    page, pdf = tmp_path / "a page.html", tmp_path / "a page.pdf"
    scene = find_scene(models, "bundled", "usual")
    page.write_text(write_handout(Handout(find_lesson("embeddings"), scene, ""), with_key=True), encoding="utf-8")
    print_page(browser, page, pdf)
    assert count_pages(pdf.read_bytes()) == 2
    with pytest.raises(OSError, match="could not print"):
        print_page("false", page, pdf)


@pytest.mark.rare
def test_learn_gives_the_sheet_and_to_the_teacher_the_key(chromium, server):
    with visit(chromium, server, fresh=True) as app:
        app.open("learn", text="The <b>cat</b> sat on the [MASK].", changes="embeddings.position_embeddings:0")
        with app.rerun():
            app.page.locator(".st-key-panel-learn-words").get_by_role("button", name="Class").click()
        with app.page.expect_download() as sheet:
            app.page.locator(".st-key-learn-handout-card-words").get_by_role("button").click()
        app.page.keyboard.press("Escape")
        with app.rerun():
            app.page.get_by_role("button", name="handouts with key").click()
        with app.page.expect_download() as keyed:
            app.page.get_by_role("button", name="From the last vector to a word").click()
        query = {"text": "The <b>cat</b> sat on the [MASK].", "model": "bundled"}
    alone, both = (download.value.path().read_text(encoding="utf-8") for download in (sheet, keyed))
    assert (sheet.value.suggested_filename, keyed.value.suggested_filename) == ("words.html", "words-with-key.html")
    assert "Usual misconception" in both and "Usual misconception" not in alone
    layer, head = re.search(r"layer (\d+), head (\d+)", alone).groups()
    token = find_token(alone)
    place = {"layer": layer, "head": head, "token": token, "lesson": "words", "step": "1"}
    assert draw_code(f"{server}/predictions?{urlencode({**query, **place})}") in alone


def find_token(page):
    """The position of [MASK]: behind what stands before it, which the table of visible tokens lists."""
    visible = [int(each) for each in re.findall(r"<tr><td>(\d+) ", page)]
    return str(next(i for i in range(1, 99) if i not in visible))
