"""What a run of a page costs the server: `python benchmarks/page_runs.py [--against REF [--python P]]`.

Starts the app on the bundled model, opens every page on the wire that browsers use, and chooses another head or layer
again and again. Prints, per page, the median milliseconds of the server's own processor time per run, over all its
threads: the script, what Streamlit does around it, and sending the result. With --against the app of another commit
runs beside it, choice by choice in turn, and the last column is the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from served import ROOT, Server, checked_out, serving
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol
from wire import SPEAKS, STREAM, Conversation

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
    """One session on one server."""

    server: Server
    socket: ClientConnection
    talk: Conversation = field(default_factory=Conversation)

    def run(self, request: bytes) -> float:
        """Have the page run once, and wait until the server rests. Returns the milliseconds that it cost."""
        start = self.server.cpu_ms()
        self.socket.send(request)
        done = False
        while not done:
            answer = self.socket.recv(timeout=120)
            assert isinstance(answer, bytes)
            done = self.talk.take(answer)
        assert not self.talk.trouble, self.talk.trouble
        end = self.server.cpu_ms()
        while True:  # after its last word the server still collects garbage
            time.sleep(0.03)
            now = self.server.cpu_ms()
            if now - end < _REST_MS:
                return end - start
            end = now


@contextmanager
def visiting(server: Server) -> Iterator[Visitor]:
    """A new session."""
    url = f"ws://127.0.0.1:{server.port}/{STREAM}"
    with connect(url, subprotocols=[Subprotocol(SPEAKS)], max_size=None) as line:
        yield Visitor(server, line)


def measure(visitors: list[Visitor], name: str, query: str) -> list[list[float]]:
    """Open a page in each session and choose, in turn. Returns the milliseconds of every counted run, by session."""
    for visitor in visitors:
        visitor.run(visitor.talk.open(name, query))
    times: list[list[float]] = [[] for _ in visitors]
    for label, option in CHOICES:
        for visitor, found in zip(visitors, times, strict=True):
            found.append(visitor.run(visitor.talk.choose(label, f"{label} {option}")))
    return [found[WARM_UP:] for found in times]


def compare(servers: list[Server], lengths: list[int]) -> None:
    """Print a row for every page and length, and the medians of all."""
    columns = "".join(f"{title:>10}" for title in ("ms", "before", "ratio")[: 1 if len(servers) == 1 else 3])
    print(f"tokens  {'page':17s}{columns}")
    every: list[list[float]] = [[] for _ in servers]
    for tokens in lengths:
        for name in sorted(page.stem for page in (ROOT / "pages").glob("*.py")):
            path, query = "" if name == "overview" else name, urlencode({"text": TEXTS[tokens]})
            with ExitStack() as stack:
                visitors = [stack.enter_context(visiting(server)) for server in servers]
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
