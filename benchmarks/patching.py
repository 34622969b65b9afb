"""What the page Patch waits for: every patch of every grid, beside as many plain runs of the whole model.

    python benchmarks/patching.py [--threads 1 2] [--times 3] [--clock cpu]

The bundled model reads a sentence of twelve tokens into another that differs in one; a model of BERT-base's sizes and
random parameters reads twelve random ids, one of them another. Each token of the residual, of attention's output and of
the feed-forward in each layer is patched by itself, and each head, as the page does it: what lies above the patch is
run, several patches at once. The peer runs the library's whole model once a patch, one after the other, which is what a
loop with hooks costs at least. The contract decides the exit status: by the most threads asked for, all patches of the
bundled model within 1 s, of BERT-base's sizes within 15 s, and each within half of its peer's time.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from engine import CLOCKS, models, random_input, seconds
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.patching import Measure, patch_each
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

FROM, INTO = (f"The {who} said that [MASK] was late again today." for who in ("doctor", "nurse"))
TOKENS, TOKEN = 12, 5
LIMITS = {"bundled": 1.0, "BERT-base's sizes": 15.0}  # seconds
OF_PEER = 0.5  # of the peer's time, at most
ROW = "{:<20}{:>9}{:>10}{:>10}{:>14}{:>10}{:>16}"


@dataclass(frozen=True)
class Case:
    """Two passes, what is measured of both, and the library's model of the same sizes."""

    name: str
    source: Trace
    target: Trace
    measure: Measure
    library: BertForPreTraining


def list_cases() -> list[Case]:
    """The bundled model, and one of BERT-base's sizes."""
    bundled, (base, library) = bv.load_model(), models()
    here = random_input(TOKENS)
    ids = (*here.ids[:3], here.ids[3] + 1, *here.ids[4:])
    own = BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype=torch.float32, attn_implementation="eager").eval()
    pairs = {
        "bundled": (bundled, FROM, INTO, own),
        "BERT-base's sizes": (base, here, Encoding(here.tokens, ids, here.segments, here.mask), library),
    }
    cell = Address("cls.predictions.decoder").fix(token=TOKEN)
    measure = Measure(cell.fix(vocab=2002), cell.fix(vocab=2016))
    return [Case(name, bv.run(m, one), bv.run(m, other), measure, hf) for name, (m, one, other, hf) in pairs.items()]


def patch_all(case: Case) -> int:
    """Run every patch; how many there were."""
    pairs = tuple((i, i) for i in range(len(case.target.tokens)))
    (last,) = deque(patch_each(case.source, case.target, pairs, case.measure), maxlen=1)
    return sum(int(np.isfinite(grid.values).sum()) for grid in last[1].grids.values())


@torch.inference_mode()
def run_plainly(case: Case, times: int) -> None:
    """The library's whole model, so many times."""
    read = case.target.encoding
    ids, mask, segments = (torch.tensor([row]) for row in (read.ids, read.mask, read.segments))
    for _ in range(times):
        case.library(ids, mask, segments)


def measure(case: Case, clock: Callable[[], float], times: int, threads: int) -> bool:
    """Print what all patches of a case take; whether that is within the contract."""
    count = patch_all(case)
    ours, peer = seconds(clock, times, lambda: patch_all(case), lambda: run_plainly(case, count))
    limit = LIMITS[case.name]
    told = (f"{ours:.2f}", f"{peer:.2f}", f"{ours / peer:.2f}", f"{ours / limit:.2f}")
    print(ROW.format(case.name, threads, count, *told[:2], told[2], told[3]), flush=True)
    return ours <= limit and ours <= OF_PEER * peer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    asked = parser.parse_args()
    kept, cases = True, list_cases()
    assert {len(case.target.tokens) for case in cases} == {TOKENS}
    print(ROW.format("", "threads", "patches", "seconds", "plain runs", "ratio", "of the limit"))
    for threads in sorted(asked.threads):
        torch.set_num_threads(threads)
        within = [measure(case, CLOCKS[asked.clock], asked.times, threads) for case in cases]
        kept = all(within)
    print("\nThe contract", "holds" if kept else "is broken")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
