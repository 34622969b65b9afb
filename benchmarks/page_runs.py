"""What a run of a page costs the server: `python benchmarks/page_runs.py [--against REF [--python P]]`.

Starts the app on the bundled model, opens every page on the wire that browsers use, and does there what visitors do:
chooses another head, layer and token, clicks a number, opens a fold, goes to another page and comes back. Prints, per
page and per kind of choice, the median milliseconds of the server's own processor time, over all its threads but the
one that works out findings, in the background: the script, what Streamlit does around it, and sending the result; and
how much that is of the limit for such a run. In the last row what the findings took, as a mean over these runs. With
--against the app of another commit runs beside it, choice by choice in turn, and the last column is the ratio.

--first measures what a sentence costs that nobody has written before: the run of the page, and what it has worked out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from urllib.parse import urlencode

from served import ROOT, Server, checked_out, serving
from users import WORDS
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol
from wire import SPEAKS, STREAM, Conversation

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
SENTENCES = 5  # new ones on each page
_REST_MS = 1.0  # a server that does less than this in 30 ms rests


@dataclass
class Visitor:
    """One session on one server."""

    server: Server
    socket: ClientConnection
    talk: Conversation = field(default_factory=Conversation)
    findings_ms: float = 0.0
    runs: int = 0

    def run(self, request: bytes) -> float:
        """Have the page run once, and wait until the server rests. Returns the milliseconds that it cost."""
        before = self.server.findings_ms()
        cost = self._run(request)
        found = self.server.findings_ms() - before
        self.findings_ms, self.runs = self.findings_ms + found, self.runs + 1
        return cost - found

    def _run(self, request: bytes) -> float:
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

    def choose(self, label: str, option: str) -> float:
        """Choose from a menu; a page without it runs as it is."""
        talk = self.talk
        return self.run(talk.choose(label, f"{label} {option}") if label in talk.menus else talk.rerun())

    def turn_fold(self, opened: bool) -> float:
        """Open or close the page's last fold; one that has none runs as it is."""
        folds = self.talk.folds
        return self.run(self.talk.turn_fold(folds[-1], opened) if folds else self.talk.rerun())

    def go(self, page: str) -> float:
        """Follow the link to a page; where it stands in a menu, open that before."""
        name, cost = _name_path(page), 0.0
        if self.talk.must_open_menu(name):
            cost = self.run(self.talk.open_menu())
        return cost + self.run(self.talk.follow(name))


def _name_path(page: str) -> str:
    """What stands in the URL for a page."""
    return "" if page == "overview" else page


@contextmanager
def visiting(server: Server) -> Iterator[Visitor]:
    """A new session."""
    url = f"ws://127.0.0.1:{server.port}/{STREAM}"
    with connect(url, subprotocols=[Subprotocol(SPEAKS)], max_size=None) as line:
        yield Visitor(server, line)


def measure(visitors: list[Visitor], page: str, text: str) -> dict[str, list[list[float]]]:
    """Open a page in each session and choose, in turn.

    Returns the milliseconds of every counted run, by kind of choice, and of each kind by session.
    """
    found: dict[str, list[list[float]]] = {}
    for visitor in visitors:
        visitor.run(visitor.talk.open(_name_path(page), urlencode({"text": text})))
        for _ in act(visitor, page, *WARM_UP):
            pass
    for choices in ROUNDS:
        for turn in zip(*(act(visitor, page, *choices) for visitor in visitors), strict=True):
            for i, (kind, cost) in enumerate(turn):
                found.setdefault(kind, [[] for _ in visitors])[i].append(cost)
    return found


def measure_first(visitors: list[Visitor], page: str, tokens: int) -> list[list[tuple[float, float]]]:
    """Open a page in each session, and write there in turn what nobody has written. Returns the milliseconds of each
    first run and those of what was found beside it, by session."""
    found: list[list[tuple[float, float]]] = [[] for _ in visitors]
    words = Random(page)
    for visitor in visitors:
        visitor.run(visitor.talk.open(_name_path(page), urlencode({"text": TEXTS[tokens]})))
    for _ in range(SENTENCES):
        text = " ".join(["the", "[MASK]", *words.choices(WORDS[:-1], k=tokens - 4)])
        for visitor, costs in zip(visitors, found, strict=True):
            before = visitor.findings_ms
            cost = visitor.run(visitor.talk.type("Sentence", text))
            costs.append((cost, visitor.findings_ms - before))
    return found


def compare_first(servers: list[Server], lengths: list[int]) -> None:
    """Print for every page and length what a new sentence costs: the run, then with what is found at once."""
    print(f"tokens  {'page':17s}" + "".join(f"{name:>10}{'found':>10}" for name in ("ms", "before")[: len(servers)]))
    for tokens in lengths:
        for name in list_pages(servers):
            with ExitStack() as stack:
                visitors = [stack.enter_context(visiting(server)) for server in servers]
                found = measure_first(visitors, name, tokens)
            medians = [statistics.median(each) for costs in found for each in zip(*costs, strict=True)]
            print(f"{tokens:6d}  {name:17s}" + "".join(f"{median:10.1f}" for median in medians), flush=True)


def act(visitor: Visitor, page: str, head: str, layer: str, token: str) -> Iterator[tuple[str, float]]:
    """What a visitor does on a page: each kind of choice, as it is made, and what it cost."""
    yield "head", visitor.choose("Head", head)
    yield "layer", visitor.choose("Layer", layer)
    yield "token", visitor.run(visitor.talk.click("token", int(token)))
    yield "number", visitor.run(visitor.talk.click("cell", next(iter(visitor.talk.cells), NUMBER)))
    visitor.run(visitor.talk.click("close", True))
    yield "fold", visitor.turn_fold(True)
    visitor.turn_fold(False)
    visitor.go("embeddings" if page == BETWEEN else BETWEEN)
    yield "page", visitor.go(page)


def compare(servers: list[Server], lengths: list[int]) -> None:
    """Print a row for every page and length, and the medians of all, by kind of choice too."""
    two = len(servers) == 2
    print(f"tokens  {'page':17s}{'ms':>10}{'of limit':>10}" + (f"{'before':>10}{'ratio':>10}" if two else ""))
    for tokens in lengths:
        kinds: dict[str, list[list[float]]] = {}
        pages: list[list[float]] = []
        findings: list[list[tuple[float, int]]] = [[] for _ in servers]
        for name in list_pages(servers):
            with ExitStack() as stack:
                visitors = [stack.enter_context(visiting(server)) for server in servers]
                found = measure(visitors, name, TEXTS[tokens])
            for spent, visitor in zip(findings, visitors, strict=True):
                spent.append((visitor.findings_ms, visitor.runs))
            for kind, by_session in found.items():
                before = kinds.get(kind, [[] for _ in servers])
                kinds[kind] = [[*one, *more] for one, more in zip(before, by_session, strict=True)]
            pages.append([statistics.median(chain(*each)) for each in zip(*found.values(), strict=True)])
            print_row(tokens, name, pages[-1])
        for kind, by_session in kinds.items():
            print_row(tokens, f"  {kind}, all pages", [statistics.median(costs) for costs in by_session])
        print_row(tokens, "median of pages", [statistics.median(each) for each in zip(*pages, strict=True)])
        means = [sum(ms for ms, _ in spent) / sum(runs for _, runs in spent) for spent in findings]
        print(f"{tokens:6d}  {'findings, a run':17s}{means[0]:10.1f}" + (f"{means[1]:20.1f}" if two else ""))


def list_pages(servers: list[Server]) -> list[str]:
    """The pages that the apps of all servers have."""
    return sorted(
        set.intersection(*({page.stem for page in (server.folder / "pages").glob("*.py")} for server in servers))
    )


def print_row(tokens: int, name: str, medians: list[float]) -> None:
    """Medians in ms, of this tree and of the one before, as a part of the limit and of each other."""
    ratio = f"{medians[1]:10.1f}{medians[0] / medians[1]:10.2f}" if len(medians) == 2 else ""
    print(f"{tokens:6d}  {name:17s}{medians[0]:10.1f}{medians[0] / LIMITS[tokens]:10.2f}{ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--against", metavar="REF", help="a commit to run beside this tree")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of that commit's own environment")
    parser.add_argument("--first", action="store_true", help="measure new sentences instead")
    parser.add_argument("--tokens", type=int, nargs="+", choices=list(TEXTS), default=[12])
    asked = parser.parse_args()
    with ExitStack() as stack:
        apps = [(ROOT, sys.executable)]
        if asked.against:
            apps.append((stack.enter_context(checked_out(asked.against)), asked.python))
        servers = [stack.enter_context(serving(*app)) for app in apps]
        (compare_first if asked.first else compare)(servers, asked.tokens)


if __name__ == "__main__":
    main()
