"""Waiting for what a page finds by itself, after which it runs no more unasked."""

CALM = """() => {
    if (window.runs !== window.runsSeen) [window.runsSeen, window.seenAt] = [window.runs, performance.now()];
    return performance.now() - window.seenAt > 1500;
}"""


def await_findings(app) -> None:
    """Wait until the script has not run by itself for a while."""
    app.page.wait_for_function(CALM, timeout=60_000)
