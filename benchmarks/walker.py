"""Somebody who walks through the app in a browser, as `history.py` has some do, and the server, which can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from playwright.sync_api import BrowserContext, Error, Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bertviz_core.ui.frame.site import PAGES  # noqa: E402
from tests.browser import CLOSED_PORT, App  # noqa: E402

SENTENCES = ("The bank of the river was muddy.", "She gave him the [MASK].", "He sat by the [MASK] all day long.")
CLICK_MS = 3_000  # in which something is found to click on


class Server:
    """The app's server on a port of its own, to be killed and started again."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.folder, self.log = port, folder, folder / "server.log"
        self.url = f"http://127.0.0.1:{port}"
        self.start()

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app.py",
            f"--server.port={self.port}",
            "--server.address=127.0.0.1",
            "--server.fileWatcherType=none",
        ]
        environment = {**os.environ, "HF_ENDPOINT": CLOSED_PORT, "HF_HOME": str(self.folder / "hub")}
        with self.log.open("a") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                return
            time.sleep(0.1)
        raise SystemExit(f"The server does not answer: {self.log.read_text()}")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Walker:
    """One walk: a tab, the choices still to be drawn from `random`, and what was done so far."""

    app: App
    context: BrowserContext
    server: Server
    elsewhere: str
    random: Random
    steps: list[str]

    @property
    def page(self) -> Page:
        return self.app.page

    @property
    def here(self) -> bool:
        """Whether the tab is on the app, and not on the other site."""
        return self.page.url.startswith(self.server.url)

    def click(self, selector: str) -> str:
        """Click on one of the elements that can be seen; returns which."""
        found = self.app.find(selector).filter(visible=True)
        place = self.random.randrange(8)
        count = found.count()
        if not count:
            return f"nothing at {selector}"
        found.nth(place % count).click(timeout=CLICK_MS)
        return f"{selector} {place % count}"

    def follow(self) -> str:
        return self.click(".st-key-map a")

    def open_page(self) -> str:
        """A link of the menu of pages, which has to be opened first."""
        info = self.random.choice(PAGES)
        self.page.get_by_role("button", name="Pages", exact=True).click(timeout=CLICK_MS)
        self.app.find(f":--popover-body .st-key-page-of-{info.name} a").click(timeout=CLICK_MS)
        return info.title

    def choose_menu(self) -> str:
        label, size = self.random.choice((("Layer", 6), ("Head", 12)))
        option = f"{label} {self.random.randrange(size)}"
        self.page.get_by_role("combobox", name=label, exact=True).click(timeout=CLICK_MS)
        self.page.get_by_role("option", name=option, exact=True).click(timeout=CLICK_MS)
        return option

    def choose_token(self) -> str:
        return self.click(".bv-chips [data-token]")

    def choose_cell(self) -> str:
        return self.click(':--main :is([data-cell]:not([data-cell=""]), .bv-worked)')

    def walk_on(self) -> str:
        return self.click(".st-key-drawer :is([data-step], [data-keep], [data-close])")

    def click_chart(self) -> str:
        return self.click(":--chart :--plot-area")

    def unfold(self) -> str:
        return self.click(":--expander summary")

    def change(self) -> str:
        self.page.get_by_role("button", name="What if", exact=True).click(timeout=CLICK_MS)
        self.page.get_by_role("button", name="Zero the head").first.click(timeout=CLICK_MS)
        return ""

    def close_strip(self) -> None:
        """That of a change which was not made, as what is offered there was not there in time."""
        cancel = self.page.get_by_role("button", name="Cancel", exact=True)
        if cancel.is_visible():
            cancel.click()

    def write(self) -> str:
        text = self.random.choice(SENTENCES)
        self.page.get_by_role("button", name="Edit the sentence").click(timeout=CLICK_MS)
        self.app.sentence.fill(text, timeout=CLICK_MS)
        self.app.sentence.press("Enter", timeout=CLICK_MS)
        return text

    def go(self, by: int) -> str:
        with suppress(Error):  # the page may be left before it answers
            self.page.evaluate("by => history.go(by)", by)
        return ""

    def go_quickly(self) -> str:
        """Back, and two quick Forwards; or another such way."""
        ways = ((-1, 1, 1), (-1, -1, 1, 1), (-2, 1, 1), (-1, -1, -1), (-1, 1, -1, 1), (1, 1), (-3, 1, 1, 1))
        way = self.random.choice(ways)
        pauses = [self.random.choice((50, 100, 150, 200, 300, 600)) for _ in way]
        for by, pause in zip(way, pauses, strict=True):
            self.go(by)
            self.page.wait_for_timeout(pause)
        return f"{way} {pauses}"

    def reload(self) -> str:
        self.page.reload(wait_until="commit")
        return ""

    def use_second_tab(self) -> str:
        """The same address in another tab, which goes elsewhere."""
        other = self.context.new_page()
        try:
            other.goto(self.page.url, wait_until="commit")
            other.locator(".bv-chips [data-token]").first.click(timeout=10 * CLICK_MS)
        finally:
            other.close()
        return ""

    def leave(self) -> str:
        """To another site and back, and perhaps quickly onwards where there is an onwards."""
        before = self.random.choice((0, -1, -2))
        self.go(before)
        self.page.wait_for_timeout(400)
        self.page.goto(self.elsewhere, wait_until="commit")
        after = [self.random.choice((-1, -2, 1)) for _ in range(self.random.choice((0, 1, 2)))]
        for by in (-1, *after):
            self.go(by)
            self.page.wait_for_timeout(self.random.choice((80, 250, 900)))
        return f"{before} {after}"

    def lose_network(self) -> str:
        self.context.set_offline(True)
        try:
            self.page.evaluate("(window.kept ?? []).forEach(line => line.close())")
            by = self.random.choice((-1, 1, 0, -2))
            self.go(by)
            self.page.wait_for_timeout(self.random.choice((300, 1500)))
        finally:
            self.context.set_offline(False)
        return str(by)

    def restart_server(self) -> str:
        self.server.stop()
        by = self.random.choice((-1, 0, 0))
        self.go(by)
        self.server.start()
        return str(by)


WEIGHTS: dict[Callable[[Walker], str], int] = {
    Walker.follow: 10, Walker.open_page: 4, Walker.choose_menu: 14, Walker.choose_token: 12, Walker.choose_cell: 10,
    Walker.walk_on: 6, Walker.click_chart: 4, Walker.unfold: 4, Walker.change: 5, Walker.write: 5,
    Walker.go_quickly: 24, Walker.reload: 4, Walker.use_second_tab: 2, Walker.leave: 4, Walker.lose_network: 4,
    Walker.restart_server: 1,
}  # fmt: skip
