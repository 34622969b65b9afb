"""What visitors notice when processes of the service die or are replaced: `python benchmarks/replicas.py`.

Starts `python -m deploy` with two processes, three real browsers on pages of their own, and sessions on the wire that
choose heads all the time. Then kills one process outright, waits until it is back, and has all processes replaced, one
after the other. Every browser must connect again by itself and show what it showed, answer the next click and Back, and
show the same once more when it is loaded anew, as the address alone knows; every session on the wire must go on after a
reconnect. Ends with status 1 where one does not. Needs nginx and Chromium.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from playwright.sync_api import Browser, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import FLAGS, WIDE, App  # noqa: E402

PROCESSES = 2
ON_THE_WIRE = 4
THINK_SECONDS = 2.0
PATIENCE_SECONDS = 120.0  # until what was broken must be well again, on a machine that does other things too
# A page and what was chosen on it: of these, only the address knows.
PAGES = (
    ("attention", {"text": "The bank of the river was muddy.", "layer": "3", "head": "5", "token": "2"}),
    ("", {"text": "Paris is the [MASK] of France.", "layer": "2", "head": "7", "token": "3"}),
    ("feed_forward", {"text": "She gave him the book.", "layer": "4", "token": "5"}),
)

COUNT_LINES = """
window.lines = 0;
let cut = 0;
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        this.addEventListener('open', () => { window.lines += 1; window.gap = performance.now() - cut; });
        this.addEventListener('close', () => { if (!cut || window.lines) cut = performance.now(); });
    }
};
"""


@dataclass
class Service:
    """The service as it was started, and what it has said of its processes."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def served(self) -> list[tuple[int, int]]:
        """Every process that has begun to serve, in order: its number and its pid."""
        found = re.findall(r"process (\d+) is warm and serves \(pid (\d+)\)", self.log.read_text(encoding="utf-8"))
        return [(int(number), int(pid)) for number, pid in found]

    def wait_for(self, starts: int) -> float:
        """Wait until that many processes have begun to serve since the start. Returns the seconds that it took."""
        return wait_until(lambda: len(self.served()) >= starts or self.process.poll() is not None)


@dataclass
class Session:
    """Somebody on the wire: reads a page, chooses another head, thinks, and connects again where the line breaks."""

    service: Service
    number: int
    stop: threading.Event = field(default_factory=threading.Event)
    waits: list[float] = field(default_factory=list)  # seconds, of every run that ended well
    cuts: int = 0
    errors: list[str] = field(default_factory=list)
    cookie: str = ""

    def live(self) -> None:
        while not self.stop.is_set():
            try:
                self._visit()
            except (OSError, WebSocketException, TimeoutError):
                self.cuts += 1
                self.stop.wait(0.5)

    def _visit(self) -> None:
        if not self.cookie:
            with urllib.request.urlopen(self.service.url, timeout=60) as page:
                self.cookie = "; ".join(each.partition(";")[0] for each in page.headers.get_all("Set-Cookie"))
        url, speaks = self.service.url.replace("http", "ws") + "/_stcore/stream", [Subprotocol("streamlit")]
        with connect(
            url, subprotocols=speaks, additional_headers={"Cookie": self.cookie}, max_size=None, open_timeout=60
        ) as line:
            while not self.stop.wait(THINK_SECONDS):
                start = time.monotonic()
                message = BackMsg()
                message.rerun_script.page_name = "attention"
                message.rerun_script.query_string = f"head={len(self.waits) % 12}&layer={self.number % 6}"
                line.send(message.SerializeToString())
                self._read(lambda: line.recv(timeout=60))
                self.waits.append(time.monotonic() - start)

    def _read(self, receive: Callable[[], str | bytes]) -> None:
        while True:
            answer = receive()
            assert isinstance(answer, bytes)
            said = ForwardMsg.FromString(answer)
            if said.delta.new_element.HasField("exception"):
                self.errors.append(said.delta.new_element.exception.message)
            if said.HasField("script_finished") and said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return


def wait_until(true: Callable[[], bool]) -> float:
    """Wait until something is so, but not for ever. Returns the seconds that it took."""
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > PATIENCE_SECONDS:
            raise TimeoutError(f"waited {PATIENCE_SECONDS:.0f} s in vain")
        time.sleep(0.1)
    return time.monotonic() - start


@contextmanager
def serving(folder: Path) -> Iterator[Service]:
    """The service on a free port, warm."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = folder / "service.log"
    command = [sys.executable, "-m", "deploy", "--address=127.0.0.1", f"--port={port}", f"--processes={PROCESSES}"]
    with log.open("wb") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as process:
        service = Service(process, f"http://127.0.0.1:{port}", log)
        try:
            print(f"{PROCESSES} processes warm after {service.wait_for(PROCESSES):.1f} s", flush=True)
            yield service
        finally:
            process.terminate()
            process.wait(timeout=60)
            print(f"ended with status {process.returncode}")


def open_pages(browser: Browser, service: Service) -> list[App]:
    """Each page in a browser of its own, with its own cookie."""
    apps = []
    for name, query in PAGES:
        app = App(browser.new_context(viewport=WIDE).new_page(), service.url)
        app.page.add_init_script(COUNT_LINES)
        app.open(name, **query)
        apps.append(app)
    return apps


def home(app: App) -> str:
    return next(each["value"] for each in app.page.context.cookies() if each["name"] == "bertviz_home")  # type: ignore


def read(app: App) -> tuple[str, str]:
    """What a visitor sees: the address, and all text."""
    return app.page.url, app.shown()


def is_whole(app: App, before: tuple[str, str]) -> None:
    """A page that has connected again shows what it showed, answers, goes back, and is the same when loaded anew."""
    address = before[0]
    assert read(app) == before, f"{address}: shows something else than before"
    app.point(1)
    assert app.query["token"] == "1", address
    with app.rerun():
        app.page.go_back()
    assert read(app) == before, f"{address}: Back shows something else"
    app.page.reload()
    app.settle()
    assert read(app) == before, f"{address}: loaded anew, shows something else"


def disturb(name: str, apps: list[App], harmed: list[App], harm: Callable[[], object]) -> None:
    """Do something to the processes of some pages, and see that these connect again and all are whole."""
    before = [read(app) for app in apps]
    counts = [app.page.evaluate("[window.lines, window.runs]") for app in apps]
    harm()
    start = time.monotonic()
    for app, (lines, runs) in zip(apps, counts, strict=True):
        if app not in harmed:
            assert app.page.evaluate("window.lines") == lines, "a page whose process was not touched lost its line"
            continue
        wait_until(lambda app=app, lines=lines: app.page.evaluate("window.lines") > lines)
        gap = app.page.evaluate("window.gap") / 1000
        app.settle(runs)
        whole = time.monotonic() - start
        print(f"{name}: {app.page.url}: {gap:.1f} s without a line, whole {whole:.1f} s after the signal", flush=True)
    for app, shown in zip(apps, before, strict=True):
        is_whole(app, shown)


def report(sessions: list[Session]) -> None:
    waits = sorted(wait for session in sessions for wait in session.waits)
    print(
        f"on the wire: {len(sessions)} sessions, {len(waits)} runs, median {statistics.median(waits):.2f} s, slowest "
        f"{waits[-1]:.2f} s, {sum(session.cuts for session in sessions)} reconnects, "
        f"{sum(len(session.errors) for session in sessions)} error pages"
    )
    assert not any(session.errors for session in sessions)


def main() -> None:
    chromium = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with ExitStack() as stack:
        service = stack.enter_context(serving(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        apps = open_pages(browser, service)
        sessions = [Session(service, number) for number in range(ON_THE_WIRE)]
        threads = [threading.Thread(target=session.live, daemon=True) for session in sessions]
        for thread in threads:
            thread.start()
        time.sleep(4 * THINK_SECONDS)
        number, pid = service.served()[0]
        homeless = [app for app in apps if home(app) == str(number)]
        disturb(f"process {number} killed", apps, homeless, lambda: os.kill(pid, signal.SIGKILL))
        print(f"process {number} serves again after another {service.wait_for(PROCESSES + 1):.1f} s", flush=True)
        disturb("all replaced", apps, apps, lambda: service.process.send_signal(signal.SIGHUP))
        print(f"all processes are new after another {service.wait_for(2 * PROCESSES + 1):.1f} s", flush=True)
        for session in sessions:
            before = len(session.waits)
            wait_until(lambda session=session, before=before: len(session.waits) > before + 1)
        for session, thread in zip(sessions, threads, strict=True):
            session.stop.set()
            thread.join(timeout=60)
        report(sessions)
        with suppress(Exception):
            browser.close()


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    main()
