"""The drawer's place is kept free from the start, so that what is drawn before the drawer comes stays where it is."""

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.ui.frame.site import PAGES
from tests.often import seldom
from tests.settling import settle
from tests.test_pages import APP

WATCH_WIDTHS = """
window.widths = [];
const watch = () => {
    const headline = document.querySelector(".st-key-headline");
    const styled = getComputedStyle(document.documentElement).getPropertyValue("--bv-text");
    if (headline && styled) window.widths.push(headline.getBoundingClientRect().width);
    requestAnimationFrame(watch);
};
requestAnimationFrame(watch);
"""


@pytest.mark.parametrize(
    "info",
    [pytest.param(info, id=info.name, marks=[pytest.mark.slow] if info.name == "patch" else []) for info in PAGES],
)
def test_the_place_is_kept_where_a_page_has_a_number_of_its_own(info):
    at = AppTest.from_file(APP, default_timeout=60).run()
    at.switch_page(f"pages/{info.name}.py").run()
    if info.name == "patch":  # its number is one of those that are worked out meanwhile
        assert settle()
        at = AppTest.from_file(APP, default_timeout=60).run()
        at.switch_page("pages/patch.py").run()
    assert ("page-number" in at.session_state) == info.explains


def test_where_no_number_comes_the_place_is_the_pages():
    """On the first page, and where what was asked for cannot be read."""
    for text in ("the cat", "\u200b"):
        at = AppTest.from_file(APP, default_timeout=60)
        at.query_params["text"] = text
        assert any("bv-nothing" in element.proto.body for element in at.run().get("html")), text


@pytest.mark.slow
@pytest.mark.parametrize(("page", "query"), [("attention", {}), seldom("formulas", {}), seldom("heads", {"text": ""})])
def test_what_is_drawn_first_is_as_wide_as_in_the_end(app, page, query):
    app.use_up().add_init_script(WATCH_WIDTHS)
    app.open(page, **query)
    widths = app.page.evaluate("window.widths")
    assert widths and set(widths) == {widths[-1]}
