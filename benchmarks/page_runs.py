"""What a run of a page costs the server: `python benchmarks/page_runs.py [--against REF [--python P]]`.

Starts the app on the bundled model, opens every page on the wire that browsers use, and does there what visitors do:
chooses another head, layer and token, clicks a number, opens a fold, goes to another page and comes back. Prints, per
page and per kind of choice, the median milliseconds of the server's own processor time, over all its threads: the
script, what Streamlit does around it, and sending the result; and how much that is of the limit for such a run. With
--against the app of another commit runs beside it, choice by choice in turn, and the last column is the ratio. With
--memory it prints instead what the server has in memory while sessions come, choose and go.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, cycle, product
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
LIMITS = {12: 60, 64: 60, 512: 120}  # milliseconds that the median run of a page may cost, by tokens
ROUNDS = (("7", "4", "5"), ("10", "1", "3"), ("1", "2", "6"))  # head, layer and token
WARM_UP = ("3", "3", "2")  # the same, before what is counted
NUMBER = "encoder.layer.1.attention.self.probs[head=1,query=1,key=1]"  # clicked where a page writes none out
BETWEEN = "tokenization"  # where one goes to come back to a page; from there, to "embeddings"
_REST_MS = 1.0  # a server that does less than this in 30 ms rests
_DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # the widget that takes what a component sends


@dataclass
class Visitor:
    """One session on one server: knows what it was sent, and answers as a browser would."""

    server: subprocess.Popen[bytes]
    socket: ClientConnection
    query: str = ""
    page: str = ""  # the page's hash, as the server calls it
    menus: dict[str, str] = field(default_factory=dict)  # a menu's id by its label
    states: dict[str, WidgetState] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)  # a page's hash and query by its name
    pages: tuple[str, str] = ("", "")  # the id of the menu of pages, and of the part of the page that it is
    folds: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    listener: tuple[str, str] = ("", "")  # the id of what listens to clicks, and of the part of the page that it is in
    kept: dict[str, ForwardMsg] = field(default_factory=dict)  # large messages, which need not be sent again

    def run(self, name: str = "", sent: WidgetState | None = None, part: str = "") -> float:
        """Have the page run once, and wait until the server rests. Returns the milliseconds that it cost."""
        start = cpu_ms(self.server.pid)
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name = self.query, name
        asked.page_script_hash, asked.fragment_id = self.page, part
        asked.widget_states.widgets.extend([*self.states.values(), *([sent] if sent else [])])
        asked.cached_message_hashes.extend(self.kept)
        if not part:
            self.folds, self.numbers, self.links = [], [], {}
        self.socket.send(message.SerializeToString())
        while not self._receive():
            pass
        end = cpu_ms(self.server.pid)
        while True:  # after its last word the server still collects garbage
            time.sleep(0.03)
            now = cpu_ms(self.server.pid)
            if now - end < _REST_MS:
                return end - start
            end = now

    def choose(self, label: str, option: str) -> float:
        """Choose from a menu."""
        self.states[label] = WidgetState(id=self.menus[label], string_value=f"{label} {option}")
        return self.run()

    def click(self, kind: str, value: object) -> float:
        """Click what sends this: a token, a cell."""
        name, part = self.listener
        events = json.dumps([{"event": kind, "value": value}])
        return self.run(sent=WidgetState(id=_EVENTS.format(name), json_trigger_value=events), part=part)

    def turn_fold(self, opened: bool) -> float:
        """Open or close the page's last fold; one that has none runs as it is."""
        if self.folds:
            self.states["fold"] = WidgetState(id=self.folds[-1], bool_value=opened)
        return self.run()

    def go(self, page: str) -> float:
        """Follow the link to a page; where it stands in a menu, open that before."""
        cost = 0.0
        if _name_path(page) not in self.links:
            name, part = self.pages
            cost = self.run(sent=WidgetState(id=name, bool_value=True), part=part)
        self.page, self.query = self.links[_name_path(page)]
        self.states = {}
        return cost + self.run()

    def _receive(self) -> bool:
        """Take the next message. Returns whether it is the run's last."""
        answer = self.socket.recv(timeout=120)
        assert isinstance(answer, bytes)
        said = ForwardMsg.FromString(answer)
        if said.metadata.cacheable:
            self.kept[said.hash] = said
        said = self.kept.get(said.ref_hash, said)
        if said.HasField("navigation"):
            self.page = said.navigation.page_script_hash
        if said.HasField("page_info_changed"):
            self.query = said.page_info_changed.query_string
        if said.HasField("delta"):
            self._note(said)
        return said.HasField("script_finished") and said.script_finished in _DONE

    def _note(self, said: ForwardMsg) -> None:
        element, block = said.delta.new_element, said.delta.add_block
        assert not element.HasField("exception"), element.exception.message
        if element.HasField("selectbox"):
            self.menus[element.selectbox.label] = element.selectbox.id
        if element.HasField("page_link"):
            self.links[element.page_link.page] = (element.page_link.page_script_hash, element.page_link.query_string)
        if element.bidi_component.component_name.endswith("listener"):
            self.listener = element.bidi_component.id, said.delta.fragment_id
        if block.expandable.id:
            self.folds.append(block.expandable.id)
        if block.popover.label == "Pages":
            self.pages = block.popover.id, said.delta.fragment_id
        self.numbers += re.findall(r'data-cell="([^"]+)"', element.html.body)


def _name_path(page: str) -> str:
    """What stands in the URL for a page."""
    return "" if page == "overview" else page


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


def measure(visitors: list[Visitor], page: str, text: str) -> dict[str, list[list[float]]]:
    """Open a page in each session and choose, in turn.

    Returns the milliseconds of every counted run, by kind of choice, and of each kind by session.
    """
    found: dict[str, list[list[float]]] = {}
    for visitor in visitors:
        visitor.query = urlencode({"text": text})
        visitor.run(_name_path(page))
        for _ in act(visitor, page, *WARM_UP):
            pass
    for choices in ROUNDS:
        for turn in zip(*(act(visitor, page, *choices) for visitor in visitors), strict=True):
            for i, (kind, cost) in enumerate(turn):
                found.setdefault(kind, [[] for _ in visitors])[i].append(cost)
    return found


def act(visitor: Visitor, page: str, head: str, layer: str, token: str) -> Iterator[tuple[str, float]]:
    """What a visitor does on a page: each kind of choice, as it is made, and what it cost."""
    yield "head", visitor.choose("Head", head)
    yield "layer", visitor.choose("Layer", layer)
    yield "token", visitor.click("token", int(token))
    yield "number", visitor.click("cell", next(iter(visitor.numbers), NUMBER))
    visitor.click("close", True)
    yield "fold", visitor.turn_fold(True)
    visitor.turn_fold(False)
    visitor.go("embeddings" if page == BETWEEN else BETWEEN)
    yield "page", visitor.go(page)


def compare(servers: list[tuple[subprocess.Popen[bytes], int]], lengths: list[int]) -> None:
    """Print a row for every page and length, and the medians of all, by kind of choice too."""
    two = len(servers) == 2
    print(f"tokens  {'page':17s}{'ms':>10}{'of limit':>10}" + (f"{'before':>10}{'ratio':>10}" if two else ""))
    for tokens in lengths:
        kinds: dict[str, list[list[float]]] = {}
        pages: list[list[float]] = []
        for name in list_pages():
            with ExitStack() as stack:
                visitors = [stack.enter_context(visiting(*server)) for server in servers]
                found = measure(visitors, name, TEXTS[tokens])
            for kind, by_session in found.items():
                before = kinds.get(kind, [[] for _ in servers])
                kinds[kind] = [[*one, *more] for one, more in zip(before, by_session, strict=True)]
            pages.append([statistics.median(chain(*each)) for each in zip(*found.values(), strict=True)])
            print_row(tokens, name, pages[-1])
        for kind, by_session in kinds.items():
            print_row(tokens, f"  {kind}, all pages", [statistics.median(costs) for costs in by_session])
        print_row(tokens, "median of pages", [statistics.median(each) for each in zip(*pages, strict=True)])


def print_row(tokens: int, name: str, medians: list[float]) -> None:
    """Medians in ms, of this tree and of the one before, as a part of the limit and of each other."""
    ratio = f"{medians[1]:10.1f}{medians[0] / medians[1]:10.2f}" if len(medians) == 2 else ""
    print(f"{tokens:6d}  {name:17s}{medians[0]:10.1f}{medians[0] / LIMITS[tokens]:10.2f}{ratio}", flush=True)


def watch_memory(servers: list[tuple[subprocess.Popen[bytes], int]], runs: int) -> None:
    """Have sessions come, choose on every page and go; print the memory of each server after every hundred runs."""
    print("   runs" + "".join(f"{title:>12}" for title in ("MB", "MB before")[: len(servers)]))
    done, printed = 0, 0
    places = product(range(12), range(6), range(1, 9))
    for (head, layer, token), name in zip(cycle(places), cycle(list_pages())):
        with ExitStack() as stack:
            visitors = [stack.enter_context(visiting(*server)) for server in servers]
            for visitor in visitors:
                visitor.query = urlencode({"text": TEXTS[12]})
                visitor.run(_name_path(name))
            for _ in zip(*(act(visitor, name, str(head), str(layer), str(token)) for visitor in visitors), strict=True):
                done += 1
        if done >= printed + 100:
            printed = done
            print(f"{done:7d}" + "".join(f"{read_memory(server.pid):12.0f}" for server, _ in servers), flush=True)
        if done >= runs:
            return


def read_memory(pid: int) -> float:
    """What a process has in memory, in megabytes. Linux only."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def list_pages() -> list[str]:
    return sorted(page.stem for page in (ROOT / "pages").glob("*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--against", metavar="REF", help="a commit to run beside this tree")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of that commit's own environment")
    parser.add_argument("--tokens", type=int, nargs="+", choices=list(TEXTS), default=[12])
    parser.add_argument("--memory", metavar="RUNS", type=int, help="instead: the memory, during so many runs")
    asked = parser.parse_args()
    with ExitStack() as stack:
        apps = [(ROOT, sys.executable)]
        if asked.against:
            apps.append((stack.enter_context(checked_out(asked.against)), asked.python))
        servers = [stack.enter_context(serving(*app)) for app in apps]
        if asked.memory:
            watch_memory(servers, asked.memory)
        else:
            compare(servers, asked.tokens)


if __name__ == "__main__":
    main()
