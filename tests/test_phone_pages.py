"""On a phone each page's own numbers are there to be read: none over another, none cut, none scrolled out of sight."""

import pytest
from playwright.sync_api import expect

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, visit
from tests.calm import await_findings
from tests.often import seldom

pytestmark = pytest.mark.slow

SCREENS = 3
HIGH = expand("() => document.querySelector(':--main').scrollHeight")
# Pairs of texts of a chart that lie on each other.
OVER = expand("""where => {
    const texts = [...document.querySelectorAll(`${where} :--annotation`)].filter(e => /\\d/.test(e.textContent));
    const boxes = texts.map(e => [e.textContent, e.getBoundingClientRect()]);
    return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
        a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
        .map(([other]) => `${one} ${other}`));
}""")
# Which of the numbers below the heads' maps are not whole.
CUT = """all => all.filter(each => {
    const range = document.createRange();
    range.selectNodeContents(each);
    const [text, box] = [range.getBoundingClientRect(), each.getBoundingClientRect()];
    return !each.textContent || text.width < 6 || text.left < box.left || text.right > box.right || box.height < 14;
}).map(each => each.textContent)"""
# What scrolls sideways and how far an element of it is out of its sight, in pixels.
HIDDEN = """([where, what]) => {
    const around = document.querySelector(where).getBoundingClientRect();
    const own = document.querySelector(`${where} ${what}`).getBoundingClientRect();
    return Math.max(0, around.left - own.left, own.right - around.right);
}"""
LOWER = "where => { const e = document.querySelector(where); return e.scrollHeight - e.clientHeight; }"
WIDER = "where => { const e = document.querySelector(where); return e.scrollWidth - e.clientWidth; }"


@pytest.fixture
def phone(chromium, server):
    with visit(chromium, server, PHONE) as app:
        yield app


@pytest.mark.rare
def test_the_enlarged_numbers_of_the_embeddings_lie_beside_each_other(phone):
    phone.open("embeddings")
    assert phone.page.locator(expand(".st-key-chart-three-rows :--annotation")).count() > 30
    assert phone.page.evaluate(OVER, ".st-key-chart-three-rows") == []


@pytest.mark.rare
def test_each_head_has_its_number_below_its_map(phone):
    phone.open("heads")
    await_findings(phone)
    below = phone.page.locator(".head b:not(:empty)")
    expect(below).to_have_count(72)
    assert below.evaluate_all(CUT) == []
    numbered = (
        "all => all.map(e => [e.dataset.head, JSON.parse(getComputedStyle(e.lastElementChild, '::before').content)])"
    )
    assert all(own == shown for own, shown in phone.page.locator(".head").evaluate_all(numbered))
    assert phone.page.evaluate(HIGH) <= SCREENS * PHONE["height"]


@pytest.mark.rare
def test_the_matched_tokens_begin_at_the_word_that_the_headline_names(phone):
    phone.open("compare")
    assert phone.page.evaluate(WIDER, ".bv-matched") > 100
    assert phone.page.evaluate(HIDDEN, [".bv-matched", ".bv-main"]) <= 1


@pytest.mark.parametrize("page", ["attention_output", seldom("notebook")])
def test_no_picture_scrolls_out_of_the_screen(phone, page):
    phone.open(page)
    wide = "all => all.filter(e => e.checkVisibility()).map(e => e.scrollWidth - e.clientWidth)"
    rooms = phone.page.locator("[class*='st-key-chart-']").evaluate_all(wide)
    assert len(rooms) > 1 and max(rooms) <= 1


@pytest.mark.rare
def test_a_departure_of_a_document_is_seen_with_its_formulas_and_its_answer(phone):
    phone.open("documents")
    await_findings(phone)
    assert phone.page.evaluate(WIDER, ".bv-departures") == 0
    assert "%" in phone.page.locator(".bv-departures td:last-child").first.inner_text()


@pytest.mark.rare
def test_the_heads_in_the_way_stand_beside_those_that_are_needed(phone):
    phone.open("heads")
    expect(phone.page.locator(".bv-ranked .bv-hinders")).to_have_count(3)
    await_findings(phone)
    assert phone.page.locator(".bv-ranked button").count() == 6
    assert phone.page.evaluate(LOWER, ".st-key-worth-ranking") <= 0


def test_each_token_that_can_be_hidden_has_its_row(phone):
    phone.open("predictions")
    await_findings(phone)
    assert phone.page.locator(".bv-guesses tbody tr").count() == 10
    assert phone.page.evaluate(LOWER, ".bv-guesses") <= 0
    assert phone.page.evaluate(HIGH) <= SCREENS * PHONE["height"]


def test_no_bar_of_the_story_lies_behind_its_number(phone):
    phone.open("story")
    rooms = phone.page.locator("[class*='st-key-panel-story-'] .bv-table td").evaluate_all(
        "all => all.map(e => getComputedStyle(e)).map(e => parseFloat(e.paddingRight) - parseFloat(e.backgroundSize))"
    )
    assert len(rooms) > 20 and min(rooms) > 4


@pytest.mark.parametrize("page", ["playground", seldom("training")])
def test_a_long_page_is_three_screens_and_none_of_its_tables_is_cut(phone, page):
    phone.open(page)
    assert phone.page.evaluate(HIGH) <= SCREENS * PHONE["height"]
    wide = "all => all.filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).length"
    assert phone.find(":--main .bv-table").evaluate_all(wide) == 0
