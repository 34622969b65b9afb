"""A training in a browser: it learns, is paused, stopped, begun again; others wait for it; a tab that goes frees it."""

import re
import time

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.browser import WIDE, open_window, visit

LONG = {"passes": "600"}  # of the small model: many seconds, if nobody stops it
QUIET = """() => {
    if (window.runs !== window.lastRuns) [window.lastRuns, window.lastAt] = [window.runs, performance.now()];
    return performance.now() - window.lastAt > 2500;
}"""


def button(app, name):
    return app.page.get_by_role("button", name=name, exact=True)


def count(app):
    """How many steps are taken, as the progress says."""
    told = app.page.get_by_text(re.compile(r"\d+ of [\d,]+ steps")).first.inner_text()
    return int(told.split()[0])


def wait_for(app, text, timeout=60):
    app.page.get_by_text(re.compile(text)).first.wait_for(timeout=1000 * timeout)


def read_losses(app):
    """J of every step, as the picture shows it."""
    return app.page.evaluate(
        expand("""() => document.querySelector('.st-key-chart-training-loss :--plot').data.at(-1)
            .customdata.map(([loss]) => Number(loss.replace('−', '-')))""")
    )


@pytest.mark.rare
def test_the_loss_falls_below_a_tenth_of_its_start(app):
    app.open("training")
    assert app.page.locator("h1").inner_text().startswith("Does it learn?") and not count(app)
    began = time.monotonic()
    button(app, "Start").click()
    wait_for(app, "All steps are done")
    assert time.monotonic() - began < 60
    app.settle()
    app.page.wait_for_function(
        expand("""() => document.querySelector('.st-key-chart-training-loss :--plot')
        .data.at(-1).customdata.length === 240""")
    )
    losses = read_losses(app)
    assert len(losses) == 240 and min(losses) < losses[0] / 10
    assert "per hidden word went from" in app.page.locator("h1").inner_text()
    app.page.wait_for_function(QUIET, timeout=30_000)  # at rest nothing is sent
    assert "gradient, by autograd" in app.drawer.inner_text()  # of the page's own number, a weight's update
    with app.rerun():
        app.page.locator('.bv-number[data-cell^="J.gradient_length"]').first.click()
    assert app.explained.startswith("J.gradient_length[step=240,")


@pytest.mark.rare
@pytest.mark.slow
def test_pause_go_on_stop_and_reset(app):
    app.open("training", **LONG)
    button(app, "Start").click()
    wait_for(app, r"[1-9]\d* of 1,800 steps")
    button(app, "Pause").click()
    button(app, "Go on").wait_for()
    app.page.locator('input[aria-label="T"]:enabled').wait_for()  # at rest: the step that ran then is taken
    paused = count(app)
    button(app, "Step").click()
    wait_for(app, f"\\b{paused + 1} of 1,800 steps")
    button(app, "Go on").click()
    while count(app) <= paused + 1:
        app.page.wait_for_timeout(100)
    button(app, "Stop").click()
    wait_for(app, "Stopped")
    assert button(app, "Go on").is_disabled()
    button(app, "Reset").click()
    wait_for(app, "0 of 1,800 steps")
    assert app.query == LONG


@pytest.mark.rare
def test_another_browser_waits_in_the_queue_until_the_tab_before_it_is_gone(chromium, server):
    with visit(chromium, server) as second:
        first = open_window(chromium, **WIDE).new_page()
        first.goto(f"{server}/training?passes=600&learner=copy")  # many minutes
        first.get_by_role("button", name="Start", exact=True).click()
        first.get_by_text("Running").first.wait_for(timeout=60_000)
        second.open("training", passes=500)
        button(second, "Start").click()
        wait_for(second, "1 before you")
        first.close()
        began = time.monotonic()
        wait_for(second, "Running|[1-9]\\d* of 1,500 steps", timeout=8)
        assert time.monotonic() - began < 6.5  # five seconds, and the page looks every second
        button(second, "Stop").click()
        wait_for(second, "Stopped")
