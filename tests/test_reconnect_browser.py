"""A page that loses its line to the server, in a real browser."""

KEEP_LINES = """
window.kept = [];
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        window.kept.push(this);
    }
};
"""


def test_a_page_that_connects_again_is_run_again_so_that_any_process_can_take_it_over(app):
    app.page.add_init_script(KEEP_LINES)
    app.open("attention", text="The bank of the river was muddy.", token="2")
    before, runs = app.shown(), app.page.evaluate("window.runs")
    assert app.page.evaluate("window.kept.length") == 1
    app.page.evaluate("window.kept[0].close()")
    app.page.wait_for_function("() => window.kept.length > 1")
    app.settle(runs)
    assert app.shown() == before
    app.point(1)
    assert app.query["token"] == "1"
