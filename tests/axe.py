"""What keeps somebody from a page, as axe finds it."""

from axe_playwright_python.sync_playwright import Axe

# What is half faded in or out has a contrast that nobody reads at. What follows scrolling never ends.
_STILL = """() => document.getAnimations().every((each) => each.timeline !== document.timeline ||
    each.playState !== 'running' || each.effect.getTiming().iterations === Infinity)"""


def list_violations(page, part=None):
    """What axe finds on a page at rest, or in a part of it, against WCAG 2.2 AA and its own best practice."""
    page.wait_for_function(_STILL)
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in Axe().run(page, part).response["violations"]
        for node in violation["nodes"]
    ]
