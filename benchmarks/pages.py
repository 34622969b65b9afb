"""What a visitor waits for, in a real browser: `python benchmarks/pages.py [--port PORT] [--only PART]`.

Starts the app on the bundled model and opens every page at 12, 64 and 512 tokens. Prints, per page: seconds until its
title stands there (first paint), until it has settled, and, after the layer is changed with the keyboard, the median
milliseconds until the new pictures stand there and the kilobytes that the interaction sent. The last column is the
worse of both as a share of its limit: 1 s for the first paint, 400 kB for an interaction. Then, for each length,
scores are clicked and explained: the median milliseconds, by the browser's own clock, from a click until the worked
formula and the operands stand there, and until the chart does as well, and the kilobytes sent. The limits are 200 ms
for formula and operands, and 60 kB.

At last the first page's canvas: the median milliseconds from the page's first byte until its first picture stands
there; as a peer, in turns with it, until the title of a Streamlit page stands there that has nothing else; the
kilobytes sent by then, and of every zoom between its levels the median milliseconds between two frames. The limits are
1 s, 300 kB (400 kB at 512 tokens) and 33 ms. And *Attention* beside a minimal Streamlit app (benchmarks/peer.py): how
many times as long it takes to open it, and to choose a layer. The parts are called pages, explanation, canvas and peer.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from peer import print_peer  # noqa: E402

from bertviz_core.ui.components.selectors import expand  # noqa: E402

CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TEXTS = {
    12: "When in Rome, do as the [MASK] do.",
    64: "the old man went to the sea and looked at the ships " * 5 + "in the",
    512: "the old man went to the sea and looked at the ships " * 42 + "in the cold morning light now",
}
REPEATS = 3
CLICKS = 7
PAINT_S, INTERACTION_KB = 1.0, 400.0
EXPLAIN_MS, EXPLAIN_KB = 200.0, 60.0
PICTURE_MS, FRAME_MS = 1000.0, 33.4  # two frames of a screen that shows 60 a second take a little more than 33 ms
PICTURE_KB = {12: 300.0, 64: 400.0, 512: 400.0}
ZOOMS = ("Enter", "Enter", "Escape", "Escape")  # from the pass into a layer, into a head, and back
ZOOM_MS = 450
PICTURE, TITLE = ".bvc-drawn text", "h1"
BARE = 'import streamlit as st\nst.title("A page with nothing on it")\n'

_SETTLED = expand("""() => {
    const busy = document.querySelector(':--skeleton, :--spinner, :--stale');
    return document.querySelector(':--app:--at-rest') && !busy;
}""")

# Looks at every frame after a click: when the explanation's formulas and operands stand there, and when its chart does.
_WATCH = expand("""document.addEventListener('click', ({target, timeStamp}) => {
    if (!target.closest(':--plot')) return;
    const seen = {explained: null, drawn: null};
    const look = () => {
        const drawer = document.querySelector('.st-key-drawer:has(#bv-drawer-title)');
        const told = drawer?.querySelectorAll(':--formula').length > 1 && drawer.querySelector('[data-step]');
        if (told) seen.explained ??= performance.now() - timeStamp;
        if (drawer?.querySelector(':--plot-picture')) seen.drawn ??= performance.now() - timeStamp;
        Object.assign(window, seen);
        if (performance.now() - timeStamp < 5000 && !(seen.explained && seen.drawn)) requestAnimationFrame(look);
    };
    look();
}, true)""")

# Notes the time of every frame, and that of the first one in which there is what is waited for.
_FRAMES = """window.frames_ms = [];
const note = (now) => {
    window.frames_ms.push(now);
    if (document.querySelector('%s')) window.pictured ??= performance.now();
    requestAnimationFrame(note);
};
requestAnimationFrame(note)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--port", type=int, default=8599)
    parser.add_argument("--only", choices=PARTS)
    asked = parser.parse_args()
    with _server(asked.port), _bare_server(asked.port + 1), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        url = f"http://localhost:{asked.port}"
        warm = browser.new_page()
        warm.goto(url)
        warm.wait_for_selector("h1", timeout=60_000)
        for part, print_part in PARTS.items():
            if asked.only in (None, part):
                print_part(browser, url)
        browser.close()


@contextmanager
def _bare_server(port: int) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app.py").write_text(BARE, encoding="utf-8")
        with _server(port, Path(folder)):
            yield


def _print_pages(browser: Browser, url: str) -> None:
    names = [page.stem for page in sorted((ROOT / "pages").glob("*.py"))]
    print("tokens  page               paint s  settled s  change ms  change kB  of the limit")
    for tokens, text in TEXTS.items():
        for name in names:
            _print_row(tokens, name, *_measure(browser.new_page(), f"{url}/{_path(name)}?text={quote(text)}"))


def _print_explanations(browser: Browser, url: str) -> None:
    print("tokens  explained ms  chart ms  kB  of the limit")
    for tokens, text in TEXTS.items():
        opened, drawn, size = _explain(browser.new_page(), f"{url}/attention?text={quote(text)}")
        worst = max(opened / EXPLAIN_MS, size / EXPLAIN_KB)
        print(f"{tokens:6d}  {opened:12.0f}  {drawn:8.0f}  {size:2.0f}  {worst:12.2f}", flush=True)


def _print_canvas(browser: Browser, url: str) -> None:
    print("tokens  picture ms  bare ms  kB  frames of four zooms, ms  of the limit")
    _, _, port = url.rpartition(":")
    bare_url = f"http://localhost:{int(port) + 1}"
    for tokens, text in TEXTS.items():
        opened = [
            (
                *_open(browser.new_page(), f"{url}?text={quote(text)}", PICTURE),
                _open(browser.new_page(), bare_url, TITLE)[0],
            )
            for _ in range(REPEATS)
        ]
        picture, size, bare = (statistics.median(row) for row in zip(*opened, strict=True))
        frames = _zoom(browser.new_page(), f"{url}?text={quote(text)}")
        worst = max(picture / PICTURE_MS, size / PICTURE_KB[tokens], max(frames) / FRAME_MS)
        shown = " ".join(f"{frame:5.1f}" for frame in frames)
        print(f"{tokens:6d}  {picture:10.0f}  {bare:7.0f}  {size:3.0f}  {shown}  {worst:12.2f}", flush=True)


PARTS = {"pages": _print_pages, "explanation": _print_explanations, "canvas": _print_canvas, "peer": print_peer}


def _open(page: Page, url: str, awaited: str) -> tuple[float, float]:
    """Milliseconds from a page's first byte until what is awaited stands there; kilobytes received by the end."""
    received = _received(page)
    page.add_init_script(_FRAMES % awaited)
    page.goto(url)
    page.wait_for_function("() => window.pictured")
    picture = page.evaluate("pictured - performance.getEntriesByType('navigation')[0].responseStart")
    _settle(page)
    page.close()
    return picture, received[0] / 1000


def _zoom(page: Page, url: str) -> list[float]:
    """Of every zoom, the median milliseconds between two frames."""
    page.add_init_script(_FRAMES % PICTURE)
    page.goto(url)
    page.wait_for_function("() => window.pictured")
    _settle(page)
    page.locator(".bvc-stage").focus()
    page.wait_for_timeout(1000)
    found = []
    for key in ZOOMS:
        page.evaluate("frames_ms.length = 0")
        page.keyboard.press(key)
        page.wait_for_timeout(ZOOM_MS)
        times = page.evaluate("frames_ms")
        found.append(statistics.median(later - earlier for earlier, later in pairwise(times)))
        page.wait_for_timeout(1500)  # the answer of the server, and what it changes
    page.close()
    return found


def _path(name: str) -> str:
    return "" if name == "overview" else name


def _received(page: Page) -> list[int]:
    """The bytes that the server has sent, counted from now on, in a list of one."""
    received = [0]
    page.on(
        "websocket", lambda ws: ws.on("framereceived", lambda data: received.__setitem__(0, received[0] + len(data)))
    )
    return received


def _explain(page: Page, url: str) -> tuple[float, float, float]:
    """Medians over some clicks: milliseconds until formula and operands stand there, until the chart; kilobytes."""
    received = _received(page)
    page.set_default_timeout(60_000)
    page.add_init_script(_WATCH)
    page.goto(url)
    page.wait_for_selector("h1")
    _settle(page)
    chart = page.locator(expand(":--plot-area")).first
    drawer = page.locator(".st-key-drawer")
    chart.scroll_into_view_if_needed()
    rows = []
    for repeat in range(CLICKS):
        page.wait_for_timeout(1000)  # not a double click
        received[0] = 0
        chart.click(position={"x": 60 + 24 * repeat, "y": 40}, force=True)
        drawer.locator(expand(":--plot-picture")).first.wait_for()
        page.wait_for_timeout(300)
        rows.append((*page.evaluate("[window.explained, window.drawn]"), received[0] / 1000))
        drawer.locator("[data-close]").click()
        page.locator("#bv-drawer-title").wait_for(state="detached")
    page.close()
    opened, drawn, sizes = zip(*rows, strict=True)
    return statistics.median(opened), statistics.median(drawn), statistics.median(sizes)


def _measure(page: Page, url: str) -> tuple[float, float, float, float]:
    received = _received(page)
    page.set_default_timeout(60_000)
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("h1")
    paint = time.perf_counter() - start
    _settle(page)
    settled = time.perf_counter() - start
    times, sizes = [], []
    for _ in range(REPEATS):
        layer = page.get_by_role("combobox", name="Layer", exact=True)
        layer.click()
        page.keyboard.press("ArrowDown")
        received[0], start = 0, time.perf_counter()
        page.keyboard.press("Enter")
        page.wait_for_timeout(30)
        _settle(page)
        times.append(1000 * (time.perf_counter() - start))
        sizes.append(received[0] / 1000)
    page.close()
    return paint, settled, statistics.median(times), statistics.median(sizes)


def _settle(page: Page) -> None:
    page.wait_for_function(_SETTLED)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _print_row(tokens: int, name: str, paint: float, settled: float, change: float, size: float) -> None:
    worst = max(paint / PAINT_S, size / INTERACTION_KB)
    print(
        f"{tokens:6d}  {name:17s}  {paint:7.2f}  {settled:9.2f}  {change:9.0f}  {size:9.0f}  {worst:12.2f}", flush=True
    )


@contextmanager
def _server(port: int, folder: Path = ROOT) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=folder,
        env={**os.environ, "BERTVIZ_MODELS": "bundled"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(3)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


if __name__ == "__main__":
    main()
