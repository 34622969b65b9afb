"""While the server does not answer, the page says so in one sentence, in place of Streamlit's window."""

import pytest

from bertviz_core.ui.components.selectors import expand

pytestmark = pytest.mark.slow

# What Streamlit does when the line is lost: it says so of the app, and opens a window that can be closed.
LOSE = """() => {
    document.querySelector(':--app').dataset.testConnectionState = 'PINGING_SERVER';
    const dialog = document.createElement('div');
    dialog.className = 'stDialog';
    dialog.append(document.createElement('button'));
    dialog.firstChild.addEventListener('click', () => dialog.remove());
    document.body.append(dialog);
}"""
FIND = "() => { document.querySelector(':--app').dataset.testConnectionState = 'CONNECTED'; }"


@pytest.mark.rare
def test_a_server_that_is_gone_is_told_of_in_a_sentence_that_ends_with_the_silence(app):
    app.open("attention")
    told = app.page.get_by_role("alert").filter(has_text="server")
    app.page.evaluate(expand(LOSE))
    told.wait_for(timeout=10_000)
    assert "does not answer" in told.inner_text() and not app.page.locator(expand(":--dialog")).count()
    app.page.evaluate(expand(LOSE))
    assert told.count() == 1
    app.page.evaluate(expand(FIND))
    told.wait_for(state="detached", timeout=10_000)
    app.page.evaluate(expand(LOSE))
    app.page.evaluate(expand(FIND))  # before anybody could have noticed
    app.page.wait_for_timeout(2000)
    assert not told.count()


@pytest.mark.rare
def test_a_fold_pressed_while_the_server_is_gone_stays_as_its_address_says(app):
    """It had opened in the browser alone: the page showed what neither its address nor its server knew of."""
    app.open("attention")
    fold = app.page.locator(expand(":--expander")).first
    summary, opens = fold.locator("summary").first, "summary => summary.parentElement.open"
    before, address = summary.evaluate(opens), app.page.url
    app.page.evaluate(expand(LOSE))
    summary.click()
    app.page.wait_for_timeout(300)  # as long as it would take to open
    assert summary.evaluate(opens) is before and app.page.url == address
    app.page.evaluate(expand(FIND))
    runs = app.page.evaluate("window.runs")
    summary.click()
    app.settle(runs)
    assert summary.evaluate(opens) is not before and app.page.url != address
