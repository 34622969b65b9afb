"""What is seen without scrolling: on a large screen a page's two first cards whole; and nothing lies on anything."""

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, WIDE, visit
from tests.often import often, seldom
from tests.test_phones import HEIGHT

pytestmark = pytest.mark.slow

COMPOSED = ["parameters", "formulas", "playground", "notation"]

ENDS = """() => [...document.querySelectorAll('[class*="st-key-panel-"], [class*="st-key-stage-"]')]
    .map(e => Math.round(e.getBoundingClientRect().bottom)).sort((a, b) => a - b)"""
# The right edges of the rows' words and the left edge of the cells, of the last heat map.
ROWS = expand("""() => {
    const plot = [...document.querySelectorAll(':--plot')].at(-1);
    const words = [...plot.querySelectorAll('.ytick text')].map(e => e.getBoundingClientRect().right);
    return [Math.max(...words), plot.querySelector(':--plot-area').getBoundingClientRect().left];
}""")


@pytest.mark.parametrize("page", often(COMPOSED, ["notation"], str))
def test_the_first_two_cards_are_seen_whole(chromium, server, page):
    with visit(chromium, server, WIDE) as app:
        app.open(page)
        assert app.page.evaluate(ENDS)[1] <= WIDE["height"]


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        seldom("query_key_value", ".bv-aligned tbody tr:nth-child(8)"),  # which keys fit, best first
        ("predictions", '[class*="st-key-panel-"]'),  # four cards, and no fifth that repeats them
        seldom("patch", '[class*="st-key-panel-"]'),
        seldom("compare", '[class*="st-key-panel-"]'),
        ("story", '[class*="st-key-panel-"]'),
        ("attention", '[class*="st-key-panel-"]'),
        seldom("attention_output", '[class*="st-key-panel-"]'),
        seldom("feed_forward", '[class*="st-key-panel-"]'),
        seldom("add_norm", '[class*="st-key-panel-"]'),
    ],
)
def test_what_answers_is_on_the_first_screen(chromium, server, page, answer):
    with visit(chromium, server, WIDE) as app:
        app.open(page)
        app.page.locator(answer).last.wait_for()
        bottoms = app.page.locator(answer).evaluate_all("all => all.map(e => e.getBoundingClientRect().bottom)")
        assert max(bottoms) <= WIDE["height"]


@pytest.mark.parametrize("page", ["story", seldom("compare")])
def test_all_of_a_page_is_one_screen(chromium, server, page):
    with visit(chromium, server, WIDE) as app:
        app.open(page)
        assert app.page.evaluate(HEIGHT) <= WIDE["height"]


@pytest.mark.rare
def test_both_columns_of_formulas_end_alike(chromium, server):
    with visit(chromium, server, WIDE) as app:
        app.open("formulas")
        cards = app.page.locator('[class*="st-key-stage-"]')
        boxes = cards.evaluate_all("all => all.map(e => e.getBoundingClientRect()).map(e => [e.left, e.bottom])")
        ends = {left: max(bottom for at, bottom in boxes if at == left) for left, _ in boxes}
        assert len(ends) == 2 and max(ends.values()) - min(ends.values()) <= 1


@pytest.mark.rare
def test_the_frame_of_a_cell_leaves_the_word_of_its_row_whole(chromium, server):
    with visit(chromium, server, WIDE) as app:
        app.open("parameters")
        words, cells = app.page.evaluate(ROWS)
        assert cells - words >= 3


LIT = (
    "() => [...document.querySelectorAll('.st-key-map a.bv-in-view')].map(each => each.querySelector('p').textContent)"
)


@pytest.mark.rare
def test_the_map_lights_the_stages_that_are_in_view(chromium, server):
    with visit(chromium, server, WIDE) as app:
        app.open("formulas")
        app.page.wait_for_function(f"() => ({LIT})().length > 0")
        first = app.page.evaluate(LIT)
        assert "Embeddings" in first and "Sentence" not in first
        app.find(":--main").evaluate("e => e.scrollTo(0, e.scrollHeight)")
        app.page.wait_for_function(f"() => ({LIT})().includes('Sentence')")
        assert "Embeddings" not in app.page.evaluate(LIT)
        app.follow("Attention")
        app.page.wait_for_function(f"() => ({LIT})().length === 0")


# Of the numbers in cells that are seen: how far each is narrower than its cell, of all maps.
IN_CELLS = expand("""() => [...document.querySelectorAll(':--plot')].flatMap(plot => {
    const wide = Math.abs(plot._fullLayout.xaxis.c2p(1) - plot._fullLayout.xaxis.c2p(0));
    return [...plot.querySelectorAll('.annotation text')].filter(text => plot._fullLayout.annotations[
        text.closest('.annotation').dataset.index].name === 'in-cell' && getComputedStyle(text).visibility !== 'hidden')
        .map(text => wide - text.getBoundingClientRect().width);
})""")


@pytest.mark.parametrize(
    ("text", "instead", "all_seen"),
    [
        ("The doctor said that [MASK] was late.", "The nurse said that [MASK] was late.", True),
        ("The doctor said that [MASK] was late for lunch, as every day of the week.",
         "The nurse said that [MASK] was late for lunch, as every day of the week.", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [seldom(WIDE, name="wide"), seldom(PHONE, name="phone")])
def test_numbers_stand_in_the_cells_of_grids_where_they_have_room(chromium, server, size, text, instead, all_seen):
    with visit(chromium, server, size) as app:
        app.open("patch", text=text, **{"with": instead, "patch-word": "he", "patch-instead": "she"})
        app.find(':--plot .annotation[data-index="5"]').first.wait_for(state="attached")
        spare = app.page.evaluate(IN_CELLS)
        assert min(spare) >= 0 and (len(spare) > 15) is all_seen
