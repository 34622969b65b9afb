"""Pages on a phone: nothing of a card is cut or torn apart, no page is longer than it may be, nothing is said twice."""

import re

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, visit
from tests.often import often

pytestmark = pytest.mark.slow

SCREENS = 3  # that a page has at most
HIGHEST = 260  # pixels from the top to the first picture
HEIGHT = expand("() => document.querySelector(':--main').scrollHeight")
# Of each card's head: how far the tops of its signs lie apart, and how far the last one stands from the card's edge.
SIGNS = expand("""() => [...document.querySelectorAll('[class*="st-key-card-head-"]')].map(head => {
    const signs = [...head.querySelectorAll('.bv-icon, button:--popover-button')].filter(e => e.checkVisibility());
    const boxes = signs.map(e => e.getBoundingClientRect());
    const tops = boxes.map(e => e.top), edge = head.parentElement.getBoundingClientRect().right;
    return [Math.max(...tops) - Math.min(...tops), edge - boxes.at(-1).right];
})""")
# Formulas that are wider than their card, and numbers of tables that one must scroll for.
CUT = """selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility()
    && each.scrollWidth > each.clientWidth + 1).map(each => each.textContent.slice(0, 60))"""
PAGES = {
    "add_norm": ".bv-formula-line .bv-symbols, .bv-sums",
    "attention": ".bv-formula-line .bv-symbols, .bv-aligned",
    "story": ".story, .bv-formula-line .bv-symbols, [class*='st-key-panel-story-'] .bv-table",
    "where_from": ".bv-formula-line .bv-symbols",
    "learn": "[class*='st-key-learn-start-']",
    "training": ".bv-formula-line .bv-symbols",
}


@pytest.mark.parametrize("page", often(list(PAGES), ["add_norm", "story"], str))
def test_a_page_fits_on_a_phone(chromium, server, page):
    with visit(chromium, server, PHONE) as app:
        app.open(page)
        assert app.page.evaluate(CUT, PAGES[page]) == []
        for apart, free in app.page.evaluate(SIGNS):
            assert apart <= 4 and 0 <= free < 30
        assert app.page.evaluate(HEIGHT) <= SCREENS * PHONE["height"]


FIRST = expand("""picture => Math.min(...[...document.querySelectorAll(`:--main :is(${picture})`)]
    .filter(e => e.offsetHeight > 30 && !e.closest('.st-key-drawer')).map(e => e.getBoundingClientRect().top))""")
PICTURES = {
    "story": ":--isolated",
    "sentence": ".bv-split",
    "add_norm": ".bv-sums",
    "patch": ".bv-patched",
    "notebook": ".bv-printed img",
}  # where it is no chart
CHARTS = ["query_key_value", "where_from", "training"]


@pytest.mark.parametrize("page", often([*CHARTS, *PICTURES], ["query_key_value", "story"], str))
def test_the_first_picture_begins_in_the_upper_third(chromium, server, page):
    with visit(chromium, server, PHONE) as app:
        app.open(page)
        picture = expand(PICTURES.get(page, ":--plot"))
        app.page.wait_for_function(f"picture => ({FIRST})(picture) < Infinity", arg=picture)
        assert app.page.evaluate(FIRST, picture) <= HIGHEST


@pytest.mark.rare
def test_every_stage_of_the_ladder_is_on_the_page_with_the_place_of_the_followed_word(chromium, server):
    with visit(chromium, server, PHONE) as app:
        app.open("layers")
        app.page.locator(".bv-ladder th.bv-at").wait_for()
        found = app.page.locator(".bv-ladder").evaluate(
            """ladder => {
                const seen = name => [...ladder.querySelectorAll(name)].filter(e => e.checkVisibility());
                return {wide: Math.max(...seen('button').map(e => e.getBoundingClientRect().right)),
                    words: seen('button:not(.bv-down)').length, below: seen('.bv-down').map(e => e.innerText.trim()),
                    rows: ladder.querySelectorAll('thead th').length - 1};
            }"""
        )
        assert found["wide"] < PHONE["width"]
        assert found["words"] == (3 if found["below"] else 4) * found["rows"]
        assert all(re.fullmatch(r"\d[\d,]*(st|nd|rd|th)", text) for text in found["below"])


# The lines of the headline but for its question, which stands above it, and how much of its words is out of sight.
LINES = """title => {
    const high = parseFloat(getComputedStyle(title).lineHeight), asks = title.querySelector('em');
    return [(title.getBoundingClientRect().height - (asks?.getBoundingClientRect().height ?? 0)) / high,
        title.scrollHeight - title.clientHeight];
}"""
CELL = "encoder.layer.2.attention.self.probs[head=0,query=8,key=5]"
# Which of these something else lies over.
HIDDEN = """all => all.filter(each => each.checkVisibility() && each.clientWidth).filter(each => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return !each.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}).map(each => each.textContent)"""
LONG = ["embeddings", "documents", "training"]


@pytest.mark.parametrize("page", often(["query_key_value", "attention_output", *LONG], ["embeddings"], str))
def test_a_headline_has_two_lines_and_what_happens_there_stands_behind_the_name(chromium, server, page):
    with visit(chromium, server, PHONE, touch=True) as app:
        app.open(page)
        lines, cut = app.find(".st-key-headline h1").evaluate(LINES)
        assert 1 <= lines <= 2 and cut <= 0
        told = app.find(".st-key-headline p")
        assert told.evaluate("e => getComputedStyle(e).fontSize") == "0px"
        told.locator("strong").tap()
        app.page.wait_for_function(
            "() => parseFloat(getComputedStyle(document.querySelector('.st-key-headline p')).fontSize) >= 14"
        )
        assert told.evaluate("e => e.scrollHeight <= e.clientHeight")


@pytest.mark.rare
def test_the_buttons_at_the_foot_of_the_sheet_can_be_touched(chromium, server):
    with visit(chromium, server, PHONE) as app:
        app.open("attention", walk=CELL)
        buttons = app.page.locator(".st-key-drawer-actions button")
        assert buttons.filter(visible=True).count() == 3
        assert buttons.evaluate_all(HIDDEN) == []


@pytest.mark.rare
def test_one_row_of_the_bar_stays_as_the_page_is_scrolled(chromium, server):
    with visit(chromium, server, PHONE) as app:
        app.open("attention")
        app.find(":--main").evaluate("e => e.scrollTo(0, 600)")
        app.page.wait_for_function("() => document.querySelector('.st-key-bar').getBoundingClientRect().bottom < 48")
        top = "e => e.getBoundingClientRect().top"
        assert app.page.get_by_role("button", name="What if", exact=True).evaluate(top) >= 0
        assert app.page.locator(".bv-chips").evaluate(top) < 0
