"""A hundred sentences through BERT-base here, beside the library's padded batch, in turns.

    python benchmarks/many.py [--texts 100] [--threads 1 2] [--times 5] [--clock cpu]

The model has BERT-base's sizes and random parameters, the sentences random ids and lengths drawn around 24 tokens. The
library runs its encoder with `output_attentions` and `output_hidden_states`: all sentences as one padded batch, and,
for whoever sorts by length first, in batches of 32. Ours gives a trace of each, of which then the same is read:
attention weights and hidden states of all layers. The contract decides the exit status: with all of that read, at most
0.8 of the padded batch, by every number of threads; and every tensor of every trace as `run` gives it, but for the last
digits of float32 where the processor's products depend on how many rows they have: how many are equal to the bit, and
the worst difference, are printed.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Callable

import numpy as np
import torch
from engine import CLOCKS, models, seconds

import bertviz_core as bv
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model

MOST, CLOSE = 0.8, 1e-5
LENGTHS = (24, 10, 6, 64)  # tokens of a sentence: mean and deviation of those drawn, shortest, longest
SORTED = 32
LAYERS = range(12)
READ = [f"encoder.layer.{i}.{leaf}" for i in LAYERS for leaf in ("attention.self.probs", "output.LayerNorm")]
ROW = "{:<52}{:>10}{:>10}"


def draw(texts: int) -> list[Encoding]:
    mean, deviation, least, most = LENGTHS
    random = np.random.default_rng(0)
    lengths = random.normal(mean, deviation, texts).clip(least, most).astype(int).tolist()
    drawn = [random.integers(1000, 30522, length).tolist() for length in lengths]
    return [Encoding(("token",) * len(ids), tuple(ids), (0,) * len(ids), (1,) * len(ids)) for ids in drawn]


def pad(encodings: list[Encoding]) -> dict[str, torch.Tensor]:
    longest = max(map(len, encodings))
    rows = [[row + (0,) * (longest - len(row)) for row in (each.ids, each.mask)] for each in encodings]
    ids, mask = torch.tensor(rows).unbind(1)
    return {"input_ids": ids, "attention_mask": mask}


def run_library(library: Callable[..., object], batches: list[dict[str, torch.Tensor]]) -> list[object]:
    with torch.inference_mode():
        return [library(**batch, output_attentions=True, output_hidden_states=True) for batch in batches]


def run_ours(model: Model, encodings: list[Encoding], read: list[str]) -> None:
    for trace in bv.run_many(model, encodings):
        for address in read:
            trace[address]


def compare(model: Model, encodings: list[Encoding]) -> bool:
    """Print how the traces differ from those of each text alone; whether by no more than rounding."""
    equal, every, worst = 0, 0, 0.0
    for encoding, trace in zip(encodings, bv.run_many(model, encodings), strict=True):
        alone = bv.run(model, encoding)
        for address in READ:
            one, other = trace[address], alone[address]
            equal, every = equal + np.array_equal(one, other), every + 1
            worst = max(worst, float(np.abs(one - other).max() / np.abs(other).max()))
    print(f"\nOf {every} tensors {equal} equal those of the text alone to the bit; the worst is {worst:.1e} away")
    return worst < CLOSE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    asked = parser.parse_args()
    model, library = models()
    encodings = draw(asked.texts)
    tokens = [len(encoding) for encoding in encodings]
    print(f"{asked.texts} sentences of {min(tokens)} to {max(tokens)} tokens, {np.mean(tokens):.1f} on average")
    ordered = sorted(encodings, key=len)
    padded, sorted_ = [pad(encodings)], [pad(ordered[i : i + SORTED]) for i in range(0, len(ordered), SORTED)]
    kept = [compare(model, encodings)]
    works = {
        "the library, one padded batch": lambda: run_library(library.bert, padded),
        f"the library, sorted by length, {SORTED} at once": lambda: run_library(library.bert, sorted_),
        "run_many, the same read": lambda: run_ours(model, encodings, READ),
        "run_many": lambda: run_ours(model, encodings, []),
        "run, one text after the other": lambda: deque((bv.run(model, each) for each in encodings), maxlen=0),
    }
    for threads in asked.threads:
        torch.set_num_threads(threads)
        taken = seconds(CLOCKS[asked.clock], asked.times, *works.values())
        print("\n" + ROW.format(f"{threads} thread{'s' * (threads > 1)}, {asked.clock} clock", "seconds", "ratio"))
        for name, took in zip(works, taken, strict=True):
            print(ROW.format(name, f"{took:.2f}", f"{took / taken[0]:.2f}"))
        kept.append(taken[2] <= MOST * taken[0])
    print("\nThe contract", "holds" if all(kept) else "is broken")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
