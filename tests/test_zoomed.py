"""Every page at 320 px and at a zoom of 200 %: nothing lies on anything, nothing is cut off, and axe finds nothing."""

import pytest

from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.site import PAGES
from tests.axe import list_violations
from tests.browser import visit
from tests.test_browser import BLEMISHES
from tests.test_frame import NARROW, OVERLAPS, ZOOMED

pytestmark = pytest.mark.slow

SIZES = {"narrow": NARROW, "zoomed": ZOOMED}
# Cards, and what stands in their heads, that lie on each other.
CARDS = expand("""() => {
    const main = document.querySelector(':--main'), found = [];
    const seen = e => e.checkVisibility() && e.getBoundingClientRect().width > 1;
    const overlap = (one, two) => {
        const [a, b] = [one, two].map(e => e.getBoundingClientRect());
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        return across > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    };
    const check = (all, what) => all.forEach((one, i) => all.slice(i + 1).forEach(two => {
        if (!one.contains(two) && !two.contains(one) && overlap(one, two))
            found.push(`${what}: ${one.textContent.slice(0, 40)} / ${two.textContent.slice(0, 40)}`);
    }));
    const cards = [...main.querySelectorAll('[class*="st-key-panel-"], .st-key-headline')].filter(seen)
        .filter(e => !e.closest('.st-key-drawer'));
    check(cards, 'cards');
    for (const head of main.querySelectorAll('[class*="st-key-card-head-"]'))
        check([...head.querySelectorAll('.bv-said b, .bv-icon, button')].filter(seen), 'in a head');
    return found;
}""")


OFTEN = {("embeddings", "narrow"), ("layers", "zoomed")}
CASES = [
    pytest.param(
        name,
        size,
        id=f"{name}-{size}",
        marks=[pytest.mark.rare] * ((name, size) not in OFTEN),
    )
    for name in (info.name for info in PAGES)
    for size in SIZES
]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_nothing_overlaps(chromium, server, name, size):
    with visit(chromium, server, SIZES[size]) as app:
        app.open("" if name == PAGES[0].name else name)
        app.page.wait_for_timeout(300)
        assert app.page.evaluate(BLEMISHES) == [] and app.page.evaluate(CARDS) == []
        assert app.page.evaluate(OVERLAPS) == [0, 0]
        assert app.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
        assert list_violations(app.page) == []
