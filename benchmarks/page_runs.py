"""What a run of a page costs the server: `python benchmarks/page_runs.py [--against REF [--python P]]`.

Starts the app on the bundled model, opens every page on the wire that browsers use, and chooses another head or layer
again and again. Prints, per page, the median milliseconds of the server's own processor time per run, over all its
threads: the script, what Streamlit does around it, and sending the result. With --against the app of another commit
runs beside it, choice by choice in turn, and the last column is the ratio.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

ROOT = Path(__file__).parents[1]
TEXTS = {
    12: "When in Rome, do as the [MASK] do.",
    64: "the old man went to the sea and looked at the ships " * 5 + "in the",
    512: "the old man went to the sea and looked at the ships " * 42 + "in the cold morning light now",
}
CHOICES = tuple(("Head", str(head)) for head in (3, 7, 10, 1, 5)) + tuple(("Layer", str(layer)) for layer in (2, 4, 1))
WARM_UP = 2  # runs of each page that are not counted
_REST_MS = 1.0  # a server that does less than this in 30 ms rests


@dataclass
class Visitor:
    """One session on one server: knows the menus that it was sent, and answers as a browser would."""

    server: subprocess.Popen[bytes]
    socket: ClientConnection
    page: str = ""  # the page's hash, as the server calls it
    menus: dict[str, str] = field(default_factory=dict)  # a menu's id by its label
    states: dict[str, WidgetState] = field(default_factory=dict)

    def run(self, query: str, page_name: str = "") -> float:
        """Have the page run once, and wait until the server rests. Returns the milliseconds that it cost."""
        start = cpu_ms(self.server.pid)
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page_name
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.widget_states.widgets.extend(self.states.values())
        self.socket.send(message.SerializeToString())
        done = False
        while not done:
            answer = self.socket.recv(timeout=120)
            assert isinstance(answer, bytes)
            said = ForwardMsg.FromString(answer)
            self._note(said)
            done = said.HasField("script_finished") and said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        end = cpu_ms(self.server.pid)
        while True:  # after its last word the server still collects garbage
            time.sleep(0.03)
            now = cpu_ms(self.server.pid)
            if now - end < _REST_MS:
                return end - start
            end = now

    def choose(self, label: str, option: str) -> None:
        """Choose from a menu, to be told with the next run."""
        self.states[label] = WidgetState(id=self.menus[label], string_value=option)

    def _note(self, said: ForwardMsg) -> None:
        if said.HasField("navigation"):
            self.page = said.navigation.page_script_hash
        element = said.delta.new_element
        assert not element.HasField("exception"), element.exception.message
        if element.HasField("selectbox"):
            self.menus[element.selectbox.label] = element.selectbox.id


def cpu_ms(pid: int) -> float:
    """Processor time of a process so far, over all its threads, in milliseconds. Linux only."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6  # the clock that clock_getcpuclockid(3) names


@contextmanager
def serving(folder: Path, python: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The app of a folder on a free port, run by an interpreter that has what it needs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.fileWatcherType", "none"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=folder, env={**os.environ, "BERTVIZ_MODELS": "bundled"}, **quiet) as server:
        try:
            yield server, port
        finally:
            server.terminate()


@contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """The files of a commit in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, ref], cwd=ROOT, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


@contextmanager
def visiting(server: subprocess.Popen[bytes], port: int) -> Iterator[Visitor]:
    """A new session, as soon as the server answers."""
    url, speaks = f"ws://127.0.0.1:{port}/_stcore/stream", [Subprotocol("streamlit")]
    for _ in range(100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.3)
    with connect(url, subprotocols=speaks, max_size=None) as line:
        yield Visitor(server, line)


def measure(visitors: list[Visitor], name: str, query: str) -> list[list[float]]:
    """Open a page in each session and choose, in turn. Returns the milliseconds of every counted run, by session."""
    for visitor in visitors:
        visitor.run(query, name)
    times: list[list[float]] = [[] for _ in visitors]
    for label, option in CHOICES:
        for visitor, found in zip(visitors, times, strict=True):
            visitor.choose(label, option)
            found.append(visitor.run(query))
    return [found[WARM_UP:] for found in times]


def compare(servers: list[tuple[subprocess.Popen[bytes], int]], lengths: list[int]) -> None:
    """Print a row for every page and length, and the medians of all."""
    columns = "".join(f"{title:>10}" for title in ("ms", "before", "ratio")[: 1 if len(servers) == 1 else 3])
    print(f"tokens  {'page':17s}{columns}")
    every: list[list[float]] = [[] for _ in servers]
    for tokens in lengths:
        for name in sorted(page.stem for page in (ROOT / "pages").glob("*.py")):
            path, query = "" if name == "overview" else name, urlencode({"text": TEXTS[tokens]})
            with ExitStack() as stack:
                visitors = [stack.enter_context(visiting(*server)) for server in servers]
                medians = [statistics.median(found) for found in measure(visitors, path, query)]
            print_row(f"{tokens:6d}  {name:17s}", medians)
            for found, median in zip(every, medians, strict=True):
                found.append(median)
    print_row(f"{'':8s}{'median of all':17s}", [statistics.median(found) for found in every])


def print_row(head: str, medians: list[float]) -> None:
    numbers = [f"{median:10.1f}" for median in medians]
    ratio = f"{medians[0] / medians[1]:10.2f}" if len(medians) == 2 else ""
    print(head + "".join(numbers) + ratio, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--against", metavar="REF", help="a commit to run beside this tree")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of that commit's own environment")
    parser.add_argument("--tokens", type=int, nargs="+", choices=list(TEXTS), default=[12])
    asked = parser.parse_args()
    with ExitStack() as stack:
        apps = [(ROOT, sys.executable)]
        if asked.against:
            apps.append((stack.enter_context(checked_out(asked.against)), asked.python))
        servers = [stack.enter_context(serving(*app)) for app in apps]
        compare(servers, asked.tokens)


if __name__ == "__main__":
    main()
