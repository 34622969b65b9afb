"""What a visitor waits for, in a real browser: `python benchmarks/pages.py [PORT]`.

Starts the app on the bundled model and opens every page at 12, 64 and 512 tokens. Prints, per page: seconds until its
title stands there (first paint), until it has settled, and, after the layer is changed with the keyboard, the median
milliseconds until the new pictures stand there and the kilobytes that the interaction sent. The last column is the
worse of both as a share of its limit: 1 s for the first paint, 400 kB for an interaction. Then, for each length, the
median milliseconds and kilobytes from a click on a score until its explanation stands there, as a share of 200 ms and
60 kB.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
TEXTS = {
    12: "When in Rome, do as the [MASK] do.",
    64: "the old man went to the sea and looked at the ships " * 5 + "in the",
    512: "the old man went to the sea and looked at the ships " * 42 + "in the cold morning light now",
}
REPEATS = 3
PAINT_S, INTERACTION_KB = 1.0, 400.0
EXPLAIN_MS, EXPLAIN_KB = 200.0, 60.0

_SETTLED = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const busy = document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"], [data-stale="true"]');
    return app && app.getAttribute('data-test-script-state') === 'notRunning' && !busy;
}"""


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8599
    with _server(port), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        url = f"http://localhost:{port}"
        warm = browser.new_page()
        warm.goto(url)
        warm.wait_for_selector("h1", timeout=60_000)
        names = [page.stem for page in sorted((ROOT / "pages").glob("*.py"))]
        print("tokens  page               paint s  settled s  change ms  change kB  of the limit")
        for tokens, text in TEXTS.items():
            for name in names:
                _print_row(tokens, name, *_measure(browser.new_page(), f"{url}/{_path(name)}?text={quote(text)}"))
        print("tokens  explanation ms  kB  of the limit")
        for tokens, text in TEXTS.items():
            change, size = _explain(browser.new_page(), f"{url}/attention?text={quote(text)}")
            worst = max(change / EXPLAIN_MS, size / EXPLAIN_KB)
            print(f"{tokens:6d}  {change:14.0f}  {size:3.0f}  {worst:12.2f}", flush=True)
        browser.close()


def _path(name: str) -> str:
    return "" if name == "overview" else name


def _received(page: Page) -> list[int]:
    """The bytes that the server has sent, counted from now on, in a list of one."""
    received = [0]
    page.on(
        "websocket", lambda ws: ws.on("framereceived", lambda data: received.__setitem__(0, received[0] + len(data)))
    )
    return received


def _explain(page: Page, url: str) -> tuple[float, float]:
    received = _received(page)
    page.set_default_timeout(60_000)
    page.goto(url)
    page.wait_for_selector("h1")
    _settle(page)
    panel = page.locator('[class*="st-key-panel-encoder-layer-0-attention-self-products"]').first
    chart = panel.locator(".nsewdrag").first
    chart.scroll_into_view_if_needed()
    times, sizes = [], []
    for repeat in range(REPEATS):
        page.wait_for_timeout(1000)  # not a double click
        received[0], start = 0, time.perf_counter()
        chart.click(position={"x": 60 + 60 * repeat, "y": 40}, force=True)
        panel.locator('[class*="st-key-walk-"] .katex').nth(1).wait_for()
        times.append(1000 * (time.perf_counter() - start))
        sizes.append(received[0] / 1000)
        panel.get_by_role("button", name="Close").click()
        panel.locator('[class*="st-key-walk-"]').wait_for(state="detached")
    page.close()
    return statistics.median(times), statistics.median(sizes)


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
def _server(port: int) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=ROOT, env={**os.environ, "BERTVIZ_MODELS": "bundled"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        time.sleep(3)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


if __name__ == "__main__":
    main()
