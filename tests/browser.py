"""The app in a real browser: a server on a free port, and Debian's Chromium with a page on it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Error, Locator, Page, expect, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.site import PAGES

ROOT = Path(__file__).parent.parent
CLICKED = ".st-key-drawer:has(#bv-drawer-title):not(:has(.bv-own-number))"  # the drawer with what was clicked
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
# The field for addresses, which nobody sees, would load two pages of its own for every page of a test.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades,MediaRouter,OptimizationHints,"
    "PaintHolding",
)
HARMLESS = re.compile(r"_stcore/(health|host-config)")  # asked for below every deep link, answered by 404
_RESTING = defaultdict(list)  # tabs that no test has at the moment, by their window and server
CLOSED_PORT = "http://127.0.0.1:9"  # where the Hugging Face hub is looked for: nobody answers

# Counts the server's word that no script is running any more: field 9, empty; not where a script ended only to begin
# anew, which field 6 says. What it sent is drawn two frames later or more: `drawnAt` says when the page, but for its
# canvas, which may be in motion, changed last.
COUNT_RUNS = """
window.runs = 0;
const readEnd = (bytes) => {
    let i = 0;
    const readNumber = () => {
        let [value, size, byte] = [0, 1, 128];
        for (; byte & 128; size *= 128) value += ((byte = bytes[i++]) & 127) * size;
        return value;
    };
    while (i < bytes.length) {
        const key = readNumber(), value = readNumber();
        if (key === (6 << 3)) return value;
        if ((key & 7) === 2) i += value;
        else if (key & 7) return undefined;
    }
};
let anew = false;
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        this.addEventListener('message', ({data}) => {
            const end = readEnd(new Uint8Array(data));
            if (end !== undefined) anew = end === FINISHED_EARLY_FOR_RERUN;
            if (anew || data.byteLength !== 2 || new Uint8Array(data)[0] !== (9 << 3 | 2)) return;
            setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => window.runs += 1)), 20);
        });
    }
};
window.drawnAt = 0;
new MutationObserver(seen => {
    const page = seen.some(({target}) => !(target.parentElement ?? target).closest?.('.bvc'));
    if (page) window.drawnAt = performance.now();
}).observe(document, {childList: true, characterData: true, subtree: true});
"""
COUNT_RUNS = COUNT_RUNS.replace("FINISHED_EARLY_FOR_RERUN", str(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
# What is still to come, by name; nothing once the script has run and everything it said is on screen.
AWAITED = expand("""before => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const awaited = {
        'a run': window.runs <= before,
        'the end of the run': all(':--app:--at-rest').length === 0,
        'a title': all('h1, :--alert').length === 0,
        'new elements': all(':--skeleton, :--spinner, :--stale').length > 0,
        'the canvas': all('.bvc').some(canvas => !canvas.querySelector('.bvc-drawn text')),
        'what is worked out meanwhile': all('[class*="st-key-again-"]').length > 0,
        'rest': performance.now() - window.drawnAt < 60,
        'charts': all(':--chart').some(chart => !chart.querySelector(':--plot-picture')),
    };
    return Object.keys(awaited).filter(name => awaited[name]);
}""")
SETTLED = f"before => ({AWAITED})(before).length === 0"


class App:
    """One tab on the app. What goes wrong in it, visibly or not, is collected in `trouble`; `sent` counts messages."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.trouble: list[str] = []
        self.sent, self.used_up = 0, False
        page.add_init_script(COUNT_RUNS)
        page.on("console", lambda said: self._note(said.type == "error", f"console: {said.text} {said.location}"))
        page.on("pageerror", lambda error: self._note(True, f"script: {error}"))
        page.on("request", lambda request: self._note(self._elsewhere(request.url), f"request: {request.url}"))
        page.on("dialog", lambda dialog: (self._note(True, f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("websocket", lambda socket: socket.on("framesent", self._count_sent))

    def _count_sent(self, _: object) -> None:
        self.sent += 1

    def _note(self, bad: bool, what: str) -> None:
        if bad and not HARMLESS.search(what):
            self.trouble.append(what)

    def _elsewhere(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != urlsplit(self.url).netloc

    def open(self, path: str = "", **query: object) -> None:
        """Load a page anew, as a link to it does."""
        self.page.goto(f"{self.url}/{path}" + (f"?{urlencode(query, doseq=True)}" if query else ""))
        self.settle()

    def use_up(self) -> Page:
        """The page, for something that outlasts its being loaded anew: no other test gets this tab."""
        self.used_up = True
        return self.page

    def rest(self) -> Self:
        """Leave the app for a page of its server without a script, as good as new for whoever opens the app next."""
        self.page.goto(f"{self.url}/_stcore/health")
        self.page.evaluate("sessionStorage.clear(), localStorage.clear()")
        self.page.mouse.move(0, 0)
        self.trouble, self.sent = [], 0
        return self

    def settle(self, before: int = 0) -> None:
        """Wait until the script has run and everything it said is on screen."""
        try:
            self.page.wait_for_function(SETTLED, arg=before, timeout=120_000)
        except Error as error:
            raise AssertionError(f"waited in vain for: {', '.join(self.page.evaluate(AWAITED, before))}") from error

    @contextmanager
    def rerun(self):
        """Do something that makes the script run, and wait for it."""
        before = self.page.evaluate("window.runs")
        yield
        self.settle(before)

    @contextmanager
    def reloading(self):
        """Do something that loads the page anew, and wait for it."""
        with self.page.expect_navigation(wait_until="commit"):
            yield
        self.settle()

    def type(self, text: str) -> None:
        """Read another sentence."""
        self.page.get_by_role("button", name="Edit the sentence").click()
        self.sentence.fill(text)
        with self.rerun():
            self.sentence.press("Enter")
        self.sentence.wait_for(state="hidden")

    def choose(self, label: str, option: str) -> None:
        """Pick from one of the menus."""
        self.page.get_by_role("combobox", name=label, exact=True).click()
        self.page.keyboard.type(option)  # of a long list only what is near is drawn
        with self.rerun():
            self.page.get_by_role("option", name=option, exact=True).click()

    def open_menu(self, name: str) -> None:
        """Open a menu of the bar; what is in it is made then."""
        with self.rerun():
            self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, title: str) -> None:
        """Go to a page by its link in the menu of pages."""
        self.open_menu("Pages")
        (info,) = (info for info in PAGES if info.title == title)
        link = self.find(f":--popover-body .st-key-page-of-{info.name}").get_by_role("link")
        with self.rerun():
            link.click()
            self.wait_for_title(title)

    def wait_for_title(self, title: str) -> None:
        """Until another page stands there."""
        name = self.page.locator(".st-key-headline p strong").first
        expect(name).to_have_text(f"{title}.", timeout=60_000)

    def point(self, token: int) -> None:
        """Choose a token in the bar."""
        with self.rerun():
            self.page.locator(f'.bv-chips [data-token="{token}"]').click()

    def find(self, selector: str) -> Locator:
        """What is on screen of a selector, which may have names of ours for Streamlit's elements."""
        return self.page.locator(expand(selector))

    @property
    def sentence(self) -> Locator:
        return self.page.get_by_role("textbox", name="Sentence", exact=True)

    @property
    def title(self) -> str:
        """The page's own title, which stands below its headline."""
        return self.page.locator(".st-key-headline p strong").first.inner_text().removesuffix(".")

    @property
    def query(self) -> dict[str, str]:
        return {key: values[-1] for key, values in parse_qs(urlsplit(self.page.url).query).items()}

    @property
    def drawer(self) -> Locator:
        return self.page.locator(".st-key-drawer")

    @property
    def explained(self) -> str:
        """The address of the cell that the drawer explains; empty where it is closed."""
        found = self.page.locator(f"{CLICKED} #bv-drawer-title")
        return (found.get_attribute("data-address") or "") if found.count() else ""

    def wait_closed(self) -> None:
        """Until the drawer explains no number that was clicked."""
        self.page.locator(CLICKED).wait_for(state="detached")

    def chosen(self) -> tuple[str, ...]:
        """What stands in the steppers of layer and head, and the token that is chosen."""
        places = self.page.locator(".st-key-place").evaluate(
            """place => [...place.querySelectorAll('input, .bv-off')].map(
                (each) => each.matches('input') ? each.value : each.firstChild.textContent)"""
        )
        token = self.page.locator('.bv-chips [aria-checked="true"]')
        return (*places, token.get_attribute("aria-label") or "")

    def shown(self) -> str:
        """All text of frame, page and drawer, charts too, but of the canvas and of rows without room, tested apart."""
        return self.page.evaluate(
            expand("""() => [...document.querySelector(':--main').querySelectorAll(
                ':is(h1, h2, p, code, span, text, td, th, .bv-cell, .bv-token, [aria-checked="true"])')]
                .filter(e => !e.closest(':--popover-body, .bv-live, .bv-readout, .bvc, .bv-more'))
                .map(e => e.textContent).join(' ')""")
        )


@contextmanager
def running(folder: Path, script: str = "app.py"):
    """The app's server with nothing remembered; gives its URL. What it logs must hold no traceback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, log = f"http://127.0.0.1:{port}", folder / "server.log"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        script,
        f"--server.port={port}",
        "--server.address=127.0.0.1",
        "--server.fileWatcherType=none",
    ]
    environment = {**os.environ, "HF_ENDPOINT": CLOSED_PORT, "HF_HOME": str(folder / "hub")}
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while not answers(f"{url}/_stcore/health"):
                assert server.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            yield url
        finally:
            server.kill()
    assert "Traceback" not in log.read_text(), log.read_text()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture(scope="session")
def chromium():
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("No Chromium: install Debian's package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@cache
def open_window(chromium, width, height, theme="light", motion="no-preference", touch=False):
    """A browser window for many tests, each with a tab of its own: what Streamlit sends once need not be sent again."""
    return chromium.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        reduced_motion=motion,
        has_touch=touch,
        is_mobile=touch,
        accept_downloads=True,
    )


@contextmanager
def visit(chromium, url, size=WIDE, theme="light", motion="no-preference", touch=False, fresh=False):
    """A tab on the app, in which nothing may go wrong. Unless it is to be fresh, another test may have had it. What
    is stored in the browser is forgotten at its begin: a tab that was used up has left it there. What stays are the
    app's programs as the browser has read them: half of what opening a page costs."""
    window = open_window(chromium, theme=theme, motion=motion, touch=touch, **size)
    resting = _RESTING[window, url]
    app = (resting.pop() if resting and not fresh else App(window.new_page(), url)).rest()
    try:
        yield app
        assert app.trouble == [], app.trouble
    except BaseException:
        app.use_up()
        raise
    finally:
        if app.used_up:
            app.page.close()
        else:
            resting.append(app.rest())


@pytest.fixture
def window(chromium):
    return open_window(chromium, **WIDE)


@pytest.fixture
def app(chromium, server):
    with visit(chromium, server) as app:
        yield app


@pytest.fixture
def still(chromium, server):
    """A tab of somebody who wants no motion."""
    with visit(chromium, server, motion="reduce") as app:
        yield app
