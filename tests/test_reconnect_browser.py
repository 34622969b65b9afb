"""A page that loses its line to the server, in a real browser."""

import pytest

from tests.browser import visit

KEEP_LINES = """
window.kept = [];
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        window.kept.push(this);
    }
};
"""


@pytest.mark.rare
def test_a_page_that_connects_again_is_run_again_so_that_any_process_can_take_it_over(app):
    app.use_up().add_init_script(KEEP_LINES)
    app.open("attention", text="The bank of the river was muddy.", token="2")
    before, runs = app.shown(), app.page.evaluate("window.runs")
    assert app.page.evaluate("window.kept.length") == 1
    app.page.evaluate("window.kept[0].close()")
    app.page.wait_for_function("() => window.kept.length > 1")
    app.settle(runs)
    assert app.shown() == before
    app.point(1)  # of the runs that come now, one may still be that of the new line
    app.page.wait_for_function("() => new URLSearchParams(location.search).get('token') === '1'")


@pytest.mark.rare
def test_what_the_framework_could_not_fetch_of_itself_is_there_once_the_network_is(chromium, server):
    """Part of a page was missing for good: what draws it had been asked for while there was no network."""
    with visit(chromium, server) as app:
        app.open("embeddings")
        whole = app.shown()
    with visit(chromium, server, fresh=True) as app:
        app.open()
        app.use_up().route("**/PlotlyChart*.js", lambda route: route.abort())
        with app.page.expect_event("requestfailed"):
            app.page.get_by_role("link", name="Embeddings", exact=True).click()
        with app.reloading():
            app.page.unroute("**/PlotlyChart*.js")
        assert app.shown() == whole
        app.trouble.clear()
