"""Whether the page is always what its address says: `python benchmarks/history.py --walks 300 --seed 1`.

Walks at random through the app in a real browser: links, choices, cells, a what-if, another sentence, Back and Forward,
many of them before the one before is answered; reload, a second tab, another site and back, no network for a while, a
server that is killed and started again. After each walk, once nothing moves any more, the page must show what its
address shows in a tab that has seen nothing. Prints each walk that does not, with its steps; `--only SEED` walks that
one again. Ends with status 1 where one failed. Needs Chromium.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from shutil import which

from playwright.sync_api import BrowserContext, Error, Page, sync_playwright
from walker import WEIGHTS, Server, Walker

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bertviz_core.ui.components.selectors import expand  # noqa: E402
from tests.browser import FLAGS, WIDE, App  # noqa: E402

QUICK_MS = (50, 300)  # between two steps of which the second does not wait for the answer to the first
PATIENCE_MS = 120_000  # until a page that was walked through must stand still
STILL_MS = 700
HEALED_MS = 3_000  # in which the page notices that its address is another one
LATENCY_MS = (0, 0, 150, 600)  # of the line, each way; of each walk one of these
# Kept, since a socket outlives the loss of the network in the browser's tools: it is closed by hand. And slow: what the
# server says, and what it is asked, arrives later.
SLOW_LINES = """
window.kept = [];
window.latency = LATENCY;
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        window.kept.push(this);
        this.addEventListener('message', (event) => {
            if (event.late || !LATENCY) return;
            event.stopImmediatePropagation();
            const late = Object.assign(new MessageEvent('message', { data: event.data }), { late: true });
            setTimeout(() => this.dispatchEvent(late), LATENCY);
        });
    }
    send(data) {
        if (LATENCY) setTimeout(() => this.readyState === 1 && super.send(data), LATENCY);
        else super.send(data);
    }
};
"""
STILL = expand(f"""() => {{
    if (location.href === 'about:blank') return true;  // who went back further than the walk is long: `come_back`
    const app = document.querySelector(':--app');
    const moves = document.querySelector(':--skeleton, :--spinner, :--stale');
    const now = `${{location.href}} ${{app?.dataset.testScriptState}} ${{window.runs}}`;
    if (window.seen !== now) Object.assign(window, {{ seen: now, since: performance.now() }});
    return app?.matches(':--at-rest') && !moves && document.querySelector('h1, [role="alert"]')
        && performance.now() - Math.max(window.drawnAt, window.since) > {STILL_MS} + 2 * (window.latency ?? 0);
}}""")
# How a number came into the drawer, which no link says.
HOW_IT_CAME = re.compile(r"Moved along to layer \d+(, head \d+)?")
# What the browser says when there is no network, or no server.
UNREACHABLE = ("ERR_", "WebSocket", "server is not responding", "Failed to fetch", "not connected", "disconnected")


def wait_until_still(page: Page) -> None:
    """Raises Error where it does not become so, or shows nothing of the app."""
    page.wait_for_function(STILL, timeout=PATIENCE_MS, polling=100)


def come_back(walker: Walker) -> None:
    """From the other site: a walk ends on the app."""
    for by in (-1, -1, 1, 1, 1):
        if walker.here:
            return
        walker.go(by)
        walker.page.wait_for_timeout(1000)
    walker.page.goto(walker.server.url)


def step(walker: Walker, act: Callable[[Walker], str]) -> None:
    """Do something; what is not there just now to be clicked on is passed over, as by somebody who was too slow."""
    walker.steps.append(act.__name__)
    try:
        said = act(walker)
    except Error as error:
        said = f"({str(error).splitlines()[0][:90]})"
    walker.steps[-1] += f" {said}" if said else ""


def walk(walker: Walker) -> None:
    """Some steps, each after a moment, or after all has come to rest."""
    random = walker.random
    walker.page.goto(f"{walker.server.url}/{random.choice(('attention', ''))}")
    wait_until_still(walker.page)
    first = random.choices((Walker.choose_menu, Walker.choose_token, Walker.follow), k=3)  # a history to walk in
    for act in (*first, *random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=random.randint(3, 9))):
        if walker.here or act in (Walker.go_quickly, Walker.reload):
            step(walker, act)
        if random.random() < 0.5 and walker.here:
            wait_until_still(walker.page)
            walker.steps[-1] += ", and waited"
        else:
            pause = random.randint(*QUICK_MS)
            walker.page.wait_for_timeout(pause)
            walker.steps[-1] += f", {pause} ms"
    come_back(walker)
    walker.page.keyboard.press("Escape")  # a menu that is open is no place
    walker.page.mouse.move(0, 0)  # nor is a value that is pointed at


def describe(app: App) -> list[str]:
    """What is shown, word by word, and where."""
    return [
        app.page.url.partition("?")[0],
        *app.chosen(),
        app.explained,
        *(word for word in HOW_IT_CAME.sub("From the page", app.shown()).split() if "expand_" not in word),
    ]


def compare(walker: Walker) -> str:
    """What its address shows in a fresh tab, where that is something else."""
    wait_until_still(walker.page)
    walker.close_strip()  # it is no place either, and may have come late
    walker.page.wait_for_timeout(HEALED_MS)
    wait_until_still(walker.page)
    found = describe(walker.app)
    page = walker.context.new_page()
    try:
        other = App(page, walker.server.url)
        page.goto(walker.page.url)
        wait_until_still(page)
        wanted = describe(other)
    finally:
        page.close()
    if found == wanted:
        return ""
    pairs = [pair for pair in zip(found, wanted, strict=False) if pair[0] != pair[1]]
    return f"{walker.page.url} shows {wanted[1:5]}, the page {found[1:5]}; {(pairs or [(len(found), len(wanted))])[0]}"


def try_walk(context: BrowserContext, server: Server, elsewhere: str, seed: int) -> list[str]:
    """Walk; returns what is wrong then, and the steps."""
    page, random = context.new_page(), Random(seed)
    latency = random.choice(LATENCY_MS)
    walker = Walker(App(page, server.url), context, server, elsewhere, random, [f"a line of {latency} ms"])
    page.add_init_script(SLOW_LINES.replace("LATENCY", str(latency)))
    try:
        walk(walker)
        wrong = compare(walker)
    except (Error, AssertionError) as error:
        state = "?"
        with suppress(Error):
            state = page.evaluate(expand("document.querySelector(':--app')?.dataset.testScriptState"))
        wrong = f"{page.url} does not come to rest ({state}): {str(error).splitlines()[0]}"
    finally:
        page.close()
    trouble = [said for said in walker.app.trouble if not any(known in said for known in (*UNREACHABLE, elsewhere))]
    return [text for text in (wrong, *trouble[:3]) if text] and [wrong, *trouble[:3], *walker.steps]


def serve_elsewhere(port: int, folder: Path) -> str:
    """Another site, of one page."""
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text(
        '<title>Elsewhere</title><link rel="icon" href="data:,">Elsewhere.', encoding="utf-8"
    )

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder / "site"))
    threading.Thread(target=http.server.HTTPServer(("127.0.0.1", port), handler).serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{port}/index.html"


def warm_up(context: BrowserContext, server: Server) -> None:
    """The first page of a process is its slowest one, and no part of any walk."""
    page = context.new_page()
    page.add_init_script("window.runs = window.drawnAt = 0")
    page.goto(server.url)
    wait_until_still(page)
    page.close()


def walk_all(seeds: list[int], port: int) -> int:
    """Walk with each seed; returns how many walks failed."""
    program = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        elsewhere = serve_elsewhere(port + 1, Path(folder))
        server = Server(port, Path(folder))
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
        try:
            warm_up(context, server)
            for seed in seeds:
                began = time.monotonic()
                wrong = try_walk(context, server, elsewhere, seed)
                failed += bool(wrong)
                print(
                    f"walk {seed}: {'FAILED' if wrong else 'as its address'}, {time.monotonic() - began:.0f} s",
                    *wrong,
                    sep="\n    ",
                    flush=True,
                )
        finally:
            browser.close()
            server.stop()
        if "Traceback" in server.log.read_text():
            failed += 1
            print(server.log.read_text()[-4000:])
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walks", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first walk; the others have the next ones")
    parser.add_argument("--only", type=int, help="walk with this seed alone")
    parser.add_argument("--port", type=int, default=9400, help="of the server; the next one is the other site's")
    asked = parser.parse_args()
    seeds = [asked.only] if asked.only is not None else list(range(asked.seed, asked.seed + asked.walks))
    failed = walk_all(seeds, asked.port)
    print(f"{len(seeds)} walks, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
