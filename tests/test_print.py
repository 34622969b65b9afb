"""On paper: as wide as the sheet, columns beside each other, cards and the drawer whole."""

import re

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import visit

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
