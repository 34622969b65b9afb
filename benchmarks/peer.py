"""A page beside the smallest Streamlit app with a picture like it: what of the time is Streamlit's, and what is ours.

Both are opened in turns, in one browser that has the programs of both in its cache, and a layer is chosen in both. Time
is the browser's: from the beginning of a page, or from the key that chooses, to the last thing that was drawn before
the page rested. The limits are ratios, since a slow machine is slow for both.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page
from served import serving

from bertviz_core.ui.components.selectors import expand

TURNS, CHOICES = 7, 4
OPEN, CHOICE = 1.3, 1.5  # times as long as the peer takes, at most
REST_MS = 250.0  # without anything drawn: the page rests
PEER = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.title("A picture of one layer")
layer = st.selectbox("Layer", [f"Layer {i}" for i in range(1, 7)])
st.plotly_chart(go.Figure(go.Heatmap(z=np.random.default_rng(int(layer[-1])).random((12, 12)))))
"""

_WATCH = """window.drawn_ms = window.pressed_ms = 0;
new MutationObserver(() => window.drawn_ms = performance.now())
    .observe(document, {childList: true, characterData: true, attributes: true, subtree: true});
document.addEventListener('keydown', ({key}) => window.pressed_ms = key === 'Enter' ? performance.now() : 0, true)"""
_RESTS = expand("""(rest) => {
    const busy = document.querySelector(':--skeleton, :--spinner, :--stale');
    const there = document.querySelector(':--app:--at-rest') && document.querySelector(':--plot-picture');
    return there && !busy && window.drawn_ms > window.pressed_ms && performance.now() - window.drawn_ms > rest;
}""")


def print_peer(browser: Browser, url: str) -> None:
    """Medians of both, and how many times as long ours takes, as a part of what it may."""
    ours, peers = _Times(), _Times()
    with _serve_peer() as peer_url:
        window = browser.new_context(viewport={"width": 1440, "height": 900})
        for turn in range(TURNS + 1):  # the first one fills the cache
            for times, address in ((ours, f"{url}/attention"), (peers, peer_url)):
                times.visit(window, address, counted=turn > 0)
        window.close()
    print(f"{'beside a minimal app':22s}{'ours ms':>9s}{'its ms':>9s}{'ratio':>8s}{'of the limit':>14s}")
    for what, own, other, most in (
        ("a page is opened", ours.opened, peers.opened, OPEN),
        ("a layer is chosen", ours.chosen, peers.chosen, CHOICE),
    ):
        mine, its = statistics.median(own), statistics.median(other)
        print(f"{what:22s}{mine:9.0f}{its:9.0f}{mine / its:8.2f}{mine / its / most:14.2f}", flush=True)


class _Times:
    """Milliseconds that one of the two has taken."""

    def __init__(self) -> None:
        self.opened, self.chosen = list[float](), list[float]()

    def visit(self, window: BrowserContext, url: str, *, counted: bool) -> None:
        """Open a page and choose some layers on it."""
        page = window.new_page()
        page.set_default_timeout(60_000)
        page.add_init_script(_WATCH)
        page.goto(url)
        opened, chosen = _rest(page), [_choose(page, f"Layer {2 + i}") for i in range(CHOICES)]
        page.close()
        if counted:
            self.opened.append(opened)
            self.chosen += chosen


def _choose(page: Page, layer: str) -> float:
    page.get_by_role("combobox", name="Layer", exact=True).click()
    page.keyboard.type(layer)
    page.get_by_role("option", name=layer, exact=True).wait_for()
    page.wait_for_timeout(REST_MS)
    page.keyboard.press("Enter")
    page.wait_for_timeout(REST_MS)
    return _rest(page)


def _rest(page: Page) -> float:
    """Milliseconds until the last thing was drawn, once the page rests."""
    page.wait_for_function(_RESTS, arg=REST_MS)
    return page.evaluate("drawn_ms - pressed_ms")


@contextmanager
def _serve_peer() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app.py").write_text(PEER, encoding="utf-8")
        with serving(Path(folder)) as server:
            yield server.url
