"""Windows of usual sizes: the signs of a card stand together, and what belongs on the first screen is on it."""

import pytest

from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.what_if import OFFERS
from tests.browser import WIDE, visit
from tests.calm import await_findings

pytestmark = pytest.mark.slow

LOW = {"width": 1280, "height": 720}
# Of each card's head: how far the tops of its signs lie apart, and the widest gap from one to the next, in pixels.
SIGNS = expand("""() => [...document.querySelectorAll('[class*="st-key-card-head-"]')].map(head => {
    const signs = [...head.querySelectorAll('.bv-icon, button:--popover-button')].filter(e => e.checkVisibility());
    const boxes = signs.map(e => e.getBoundingClientRect()).sort((one, other) => one.left - other.left);
    const tops = boxes.map(box => box.top), gaps = boxes.slice(1).map((box, i) => box.left - boxes[i].right);
    return [head.textContent, Math.max(...tops) - Math.min(...tops), Math.max(0, ...gaps)];
})""")
ENDS = "all => all.map(each => each.getBoundingClientRect().bottom)"


@pytest.mark.rare
@pytest.mark.parametrize("page", ["embeddings", "heads"])
def test_what_is_chosen_does_not_stand_between_the_signs_of_its_card(chromium, server, page):
    with visit(chromium, server, LOW) as app:
        app.open(page)
        await_findings(app)
        heads = app.page.evaluate(SIGNS)
        assert len(heads) > 2
        for title, apart, gap in heads:
            assert apart <= 2 and gap <= 8, title


def test_the_cards_of_the_heads_end_on_the_first_screen(chromium, server):
    with visit(chromium, server, WIDE) as app:
        app.open("heads")
        await_findings(app)
        ends = app.page.locator(".st-key-head-cards [class*='st-key-panel-']").evaluate_all(ENDS)
        assert len(ends) == 5 and max(ends) <= WIDE["height"]


def test_all_that_may_be_done_to_a_layer_is_seen_in_a_low_window(chromium, server):
    with visit(chromium, server, LOW) as app:
        app.open("attention")
        app.page.get_by_role("button", name="What if", exact=True).click()
        app.page.locator(".st-key-what-if-tabs").get_by_text(OFFERS).click()
        offers = app.page.locator(".st-key-what-if-offers")
        offers.get_by_placeholder("LayerNorms").wait_for()
        assert offers.evaluate("e => e.scrollHeight - e.clientHeight") <= 0
