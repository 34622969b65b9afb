"""How much memory the process that trains comes to, beside what was estimated before it began.

    python benchmarks/training_memory.py
    python benchmarks/training_memory.py --words 8 500 --steps 3

A copy of the bundled model learns all its weights, as printed and as practised, in a process of its own each time.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bertviz_core as bv
from bertviz_core.learning import Host, Hosted, Settings
from bertviz_core.learning.limits import read_status
from bertviz_core.learning.room import PROCESS_BYTES

WORDS = "the cat sat on a mat and saw many dogs"


def measure(model: bv.Model, words: int, practised: bool, steps: int) -> tuple[float, float, float]:
    """Megabytes that were estimated, and the most that the process had; seconds of the longest step."""
    text = " ".join((WORDS.split() * words)[:words])
    settings = Settings(passes=steps, eta=1e-4, practised=practised)
    host = Host()
    hosted = Hosted(host, model, [text], settings)
    while not hosted.finished:
        hosted.advance(steps)
    status = Path(f"/proc/{host.pid}/status")
    most = read_status("VmHWM", status)
    seconds = max(record.seconds for record in hosted.records)
    hosted.reset()
    while host.pid:
        time.sleep(0.1)
    return (PROCESS_BYTES + hosted.room.peak) / 1e6, most / 1e6, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="+", default=[8, 100, 500])
    parser.add_argument("--steps", type=int, default=3)
    given = parser.parse_args()
    model = bv.load_model()
    print("words | practised | estimated MB | most MB | longest step")
    for words, practised in product(given.words, (False, True)):
        estimated, most, seconds = measure(model, words, practised, given.steps)
        print(f"{words:5} | {practised!s:9} | {estimated:12,.0f} | {most:7,.0f} | {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
