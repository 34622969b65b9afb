"""One user with a real browser, as `classroom.py` starts some: prints what was met as one line of JSON.

A run's time is the browser's: from a choice until all that came of it is drawn.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter
from random import Random

from playwright.sync_api import Error, sync_playwright
from users import EXAMPLES, THINK_S, WAITS

from bertviz_core.ui.frame.site import PAGES
from tests.browser import FLAGS, WIDE, App

_TITLES = [info.title for info in PAGES]
_GONE = (
    "WebSocket connection",
    "server is not responding",
    "ERR_CONNECTION_REFUSED",
    "ERR_EMPTY_RESPONSE",
    "502",
    "503",
)  # while nobody answers


def act(app: App, random: Random) -> None:
    """Choose something that is not chosen already, and wait until it is drawn."""
    number = app.page.locator('[data-cell]:not([data-cell=""]):visible').first
    match random.choices(("head", "token", "number", "write", "go"), (30, 15, 20, 10, 25))[0]:
        case "head" if steppers := app.page.locator(".st-key-place").get_by_role("combobox").all():
            label = random.choice(steppers).get_attribute("aria-label") or ""
            size = {"Layer": 6, "Head": 12}[label]
            others = {f"{label} {i}" for i in range(size)}.difference(app.chosen())
            app.choose(label, random.choice(sorted(others)))
        case "token" if (others := app.page.locator('.bv-chips [aria-checked="false"]')).count():
            with app.rerun():
                others.nth(random.randrange(min(4, others.count()))).click()
        case "number" if number.count():
            with app.rerun():
                number.click()
        case "write":
            app.type(random.choice([text for text in EXAMPLES if text != app.query.get("text", EXAMPLES[0])]))
        case _:
            app.follow(random.choice([title for title in _TITLES if title != app.title]))


def visit(app: App, seconds: float, random: Random) -> dict[str, object]:
    """Use the app for some seconds; at last load the URL anew, which must show the same."""
    until, times, trouble = time.monotonic() + seconds, [], Counter[str]()
    while time.monotonic() < until:
        start = time.perf_counter()
        try:
            act(app, random) if times else app.open()
            times.append(time.perf_counter() - start)
        except (AssertionError, Error) as error:
            trouble[" ".join(str(error).split())[:300]] += 1
            app.open()
        shown = app.find(":--exception, :--alert-error")
        trouble.update(text[:200] for text in shown.all_inner_texts())
        time.sleep(random.uniform(*THINK_S))
    before = app.shown().split()
    with app.reloading():
        app.page.reload(wait_until="commit")
    after = app.shown().split()
    complete = not any(WAITS in word for word in (*before, *after))  # what is worked out meanwhile may be there by then
    if complete and before != after:
        first = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), ("more", "less"))
        trouble[f"its URL shows {first[1]!r} where there was {first[0]!r}: {app.page.url}"] += 1
    trouble.update(said[:200] for said in app.trouble if not any(gone in said for gone in _GONE))
    return {"times": times, "trouble": trouble}


def main() -> None:
    url, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_context(viewport=WIDE, reduced_motion="reduce").new_page()
        print(json.dumps(visit(App(page, url.rstrip("/")), seconds, Random(seed))))
        browser.close()


if __name__ == "__main__":
    main()
