"""What breaks under hostile input: `python benchmarks/fuzz.py [--texts N] [--checkpoints N] [--pages N] [--seed S]`.

Random texts go through tokenizer, pass and explanation of a random cell; randomly damaged checkpoints through loading,
and a pass where they load; random texts and URLs through the pages of a server of its own, on the wire that browsers
use. Refusals in words are right; anything else is printed with its number, by which `--only` repeats it: another
exception, a number that its formula does not give, more than its time, an error page, a traceback in the server's log.
Prints counts, the slowest case and the growth of memory. Status 1 where anything was found.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hostile import copy_checkpoint, damage, draw_query, draw_text
from served import ROOT, Server, measure_memory, serving
from websockets.sync.client import connect
from websockets.typing import Subprotocol
from wire import SPEAKS, STREAM, Conversation

sys.path.insert(0, str(ROOT))

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.formula.explain import Explanation
from tests.factory import random_checkpoint

LIMIT_S = 20  # that one case may take
_NEAR = 1e-4  # relative, of a recorded number to its formula in float64; single precision loses digits in long sums


@dataclass
class Found:
    """What came of the cases of one kind."""

    kind: str
    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)

    def note(self, number: int, seconds: float, outcome: str, bad: str = "") -> None:
        """A case is over."""
        self.outcomes[outcome] += 1
        self.slowest = max(self.slowest, (seconds, number))
        if bad:
            self.bad.append(f"{self.kind} {number}: {bad}")
            print(self.bad[-1][:600], flush=True)


@contextmanager
def limited() -> Iterator[None]:
    """Break off, by an exception, what takes longer than its time."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_cases(kind: str, numbers: range, seed: int, act: Callable[[random.Random], tuple[str, str]]) -> Found:
    """Run every case of a kind, each from numbers of its own. act: gives the outcome, and what is wrong with it."""
    found, begun = Found(kind), measure_memory([os.getpid()])
    for number in numbers:
        start = time.monotonic()
        try:
            with limited():
                outcome, bad = act(random.Random(f"{kind} {seed} {number}"))
        except bv.BertvizError as error:
            outcome, bad = f"refused ({type(error).__name__})", "" if str(error).strip() else "refused without a word"
        except Exception as error:
            outcome, bad = "broke", f"{type(error).__name__}: {error}"
        found.note(number, time.monotonic() - start, outcome, bad)
    grown = (measure_memory([os.getpid()]) - begun) / 1e6
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.most_common())
    print(
        f"{kind}: {told}; slowest {found.slowest[0]:.1f} s (case {found.slowest[1]}); memory {grown:+.0f} MB",
        flush=True,
    )
    return found


def run_text(model: bv.Model, rng: random.Random) -> tuple[str, str]:
    """One text, or a pair, through the pass; one cell of a random tensor explained."""
    pair = draw_text(rng) if rng.random() < 0.3 else None
    trace = bv.run(model, draw_text(rng), pair, pad_to=rng.choice((None, None, None, 64)))
    address = rng.choice(trace.addresses)
    cell = ",".join(
        f"{name}={rng.randrange(size)}" for name, size in zip(trace.dims(address), trace.shape(address), strict=True)
    )
    return "explained", check(trace.explain(f"{address}[{cell}]"))


def check(why: Explanation) -> str:
    """What is wrong with an explanation."""
    if math.isinf(why.value) and why.value == why.recomputed:
        return ""  # a score that the mask removes
    scale = max((abs(value) for _, value in why.operands), default=0.0) + abs(why.value) + 1.0
    near = math.isfinite(why.value) and abs(why.value - why.recomputed) <= _NEAR * scale
    return "" if near else f"{why.address} is {why.value}, its formula gives {why.recomputed}"


def load_damaged(good: list[Path], place: Path, rng: random.Random) -> tuple[str, str]:
    """One damaged checkpoint: loaded, or refused; what loads runs."""
    folder = copy_checkpoint(rng.choice(good), place / "spoiled")
    said = "; ".join(damage(folder, rng) for _ in range(rng.choice((1, 1, 1, 2))))
    try:
        model = bv.load_model(str(folder))
        bv.run(model, "The cat sat on the mat.")
    except bv.BertvizError as error:
        return "refused", "" if str(error).strip() else f"{said}: refused without a word"
    except Exception as error:
        return "broke", f"{said}: {type(error).__name__}: {error}"
    return "loaded", ""


def visit(server: Server, pages: list[str], rng: random.Random) -> tuple[str, str]:
    """One page by a hostile URL, or a hostile sentence typed on one; then the usual page works in the same session."""
    talk, typed, page = Conversation(), rng.random() < 0.5, rng.choice(pages)
    address = f"ws://127.0.0.1:{server.port}/{STREAM}"
    with connect(address, subprotocols=[Subprotocol(SPEAKS)], max_size=None, compression=None) as socket:

        def ask(request: bytes) -> None:
            socket.send(request)
            while not talk.take(bytes(socket.recv(timeout=LIMIT_S))):  # type: ignore[arg-type]
                pass

        ask(talk.open(page, "" if typed else draw_query(rng)))
        if typed:
            ask(talk.type("Sentence", draw_text(rng)[:6000]))
        refused = any(said.startswith("error page") for said in talk.trouble)
        broke = [said for said in talk.trouble if not said.startswith("error page")]
        talk.trouble.clear()
        ask(talk.open("", "text=All+roads+lead+to+Rome."))
        return "refused in words" if refused else "shown", "; ".join(broke + [f"after it: {t}" for t in talk.trouble])


def fuzz_pages(numbers: range, seed: int) -> Found:
    """Texts and URLs through the pages of a server, whose log must hold no traceback."""
    pages = sorted("" if page.stem == "overview" else page.stem for page in (ROOT / "pages").glob("*.py"))
    with serving(ROOT) as server:
        before = measure_memory(server.pids)
        found = try_cases("page", numbers, seed, lambda rng: visit(server, pages, rng))
        print(f"server: {before / 1e6:.0f} MB, then {measure_memory(server.pids) / 1e6:.0f} MB")
        if "Traceback" in (log := server.log.read_text(errors="replace")):
            found.bad.append(log[log.index("Traceback") :][:3000])
            print(found.bad[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--checkpoints", type=int, default=2_000)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the one case of this number, of each kind that is asked for")
    asked = parser.parse_args()

    def choose(count: int) -> range:
        return range(count) if asked.only is None else range(asked.only, asked.only + min(count, 1))

    found: list[Found] = []
    if asked.texts:
        model = bv.load_model(str(BUNDLED_FOLDER))
        found.append(try_cases("text", choose(asked.texts), asked.seed, lambda rng: run_text(model, rng)))
    if asked.checkpoints:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            kinds = ("pretraining", "base", "sequence-classification", "question-answering")
            good = [random_checkpoint(place / kind, kind=kind) for kind in kinds]
            found.append(
                try_cases(
                    "checkpoint", choose(asked.checkpoints), asked.seed, lambda rng: load_damaged(good, place, rng)
                )
            )
    if asked.pages:
        found.append(fuzz_pages(choose(asked.pages), asked.seed))
    return 1 if any(one.bad for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
