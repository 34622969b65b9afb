"""What BERT-base costs here: the pass beside the library's, bytes held, seconds until an address is there, loading.

    python benchmarks/engine.py [--tokens 512] [--threads 1 2] [--clock cpu] [--lens PYTHON]

The model has BERT-base's sizes and random parameters: costs do not depend on the numbers. A pass is ours with the
logits of one masked token, as a page asks for them, against the library's whole model, logits of all; both in turns.
`--lens PYTHON` adds TransformerLens with the same parameters, everything cached; PYTHON is that of an environment of
its own, after `pip install transformer-lens==4.3.0`. `--clock cpu` counts processor time, which other load on the
machine changes little; with one thread it is what an idle machine takes.

The contract decides the exit status: at most 40 MB held in memory and nothing on disk; any address, and of what is
computed by rows any row, there within an eighth of the time that the run took. Targets are printed beside what was
found.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig as LibraryConfig
from transformers import BertForPreTraining

sys.path.insert(0, str(Path(__file__).parent.parent))

import bertviz_core as bv
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.weights import load_parameters
from bertviz_core.formula.address import Address
from bertviz_core.programs.bert import MLM, NEXT_SENTENCE, POOLER, write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.sharing.lru import ByteLRU

MAX_BYTES, MAX_SHARE = 40_000_000, 1 / 8  # a layer alone is a twelfth of the run
TARGETS = {12: 0.85, 32: 0.80, 128: 0.78, 512: 0.75}  # of the library's time, by tokens
LOAD_TARGET = 0.6
TOKEN, CLOSE = 7, 1e-3
LOGITS = f"cls.predictions.decoder[token={TOKEN}]"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
LAYER = 6
HEADS = (MLM, POOLER, NEXT_SENTENCE)
ROW = "{:<54}{:>12}{:>12}"
PASS = "{:<8}{:>12}{:>12}{:>12}{:>8}{:>8}{:>12}{:>8}"


def models() -> tuple[Model, BertForPreTraining]:
    """One set of random parameters, as our model and as the library's."""
    torch.manual_seed(0)
    library = BertForPreTraining(LibraryConfig(attn_implementation="eager")).eval()
    tensors = {name.removeprefix("bert."): tensor for name, tensor in library.state_dict().items()}
    config, bundled = BertConfig(), bv.load_model()
    program = write_bert(config, frozenset(HEADS))
    parameters = load_parameters(program.parameters, tensors, config, torch.float32)
    return Model("random", "0", config, bundled.tokenizer, program, parameters, HEADS, (), torch.float32), library


def random_input(tokens: int) -> Encoding:
    ids = torch.randint(1000, 30522, (tokens,)).tolist()
    return Encoding(("token",) * tokens, tuple(ids), (0,) * tokens, (1,) * tokens)


def seconds(clock: Callable[[], float], times: int, *works: Callable[[], object]) -> list[float]:
    """The shortest of `times` calls of each, in turns, after one that does not count: other load only adds to it."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times + 1):
        for work, calls in zip(works, taken, strict=True):
            start = clock()
            work()
            calls.append(clock() - start)
    return [min(calls[1:]) for calls in taken]


def resident() -> int:
    """Bytes of this process in memory that no file backs, once freed memory has gone back to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["RssAnon"].split()[0]) * 1024


def memory(model: Model, encoding: Encoding) -> bool:
    """Print what one trace holds; whether that is within the contract."""
    bv.run(model, encoding)  # what only the first run allocates is not the trace's
    before, files = resident(), open_files()
    trace = bv.run(model, encoding)
    grown, new_files = resident() - before, open_files() - files
    held, grew = trace.nbytes / 1e6, grown / 1e6
    print(f"\nA trace of {len(encoding)} tokens holds {held:.1f} MB in memory; the process grew by {grew:.1f} MB")
    print(f"Files that it holds: {', '.join(new_files) or 'none'}")
    return max(trace.nbytes, grown) <= MAX_BYTES and not new_files


def open_files() -> set[str]:
    """The files on disk that this process holds open or mapped, also those without a name."""
    opened = {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
    mapped = {line.split(maxsplit=5)[5] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    return {name for name in opened | mapped if name.startswith("/") and not name.startswith(("/proc", "/dev"))}


def access(model: Model, encoding: Encoding, clock: Callable[[], float], times: int) -> bool:
    """Print how long each address takes with nothing cached, worst first; whether all are within the contract."""
    trace = bv.run(model, encoding, cache=ByteLRU(0))
    wanted = [address for address in trace.addresses if Address(address).layer in (None, LAYER)]
    asked = [f"{each}[token=7]" if each in trace.program.by_rows else each for each in wanted]
    reads = [lambda address=address: trace[address].sum() for address in asked]
    run, *read = seconds(clock, times, lambda: bv.run(model, encoding), *reads)
    print(f"\nThe run takes {run:.3f} s. Until an address is there, as a share of that:")
    for taken, address in sorted(zip(read, wanted, strict=True), reverse=True):
        print(ROW.format(address, f"{1000 * taken:.1f} ms", f"{taken / run:.2%}"))
    return max(read) <= MAX_SHARE * run


class Lens:
    """TransformerLens in a process of its own, with the parameters of `library`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, encoding: Encoding, token: int | None = None) -> dict[str, Any]:
        """One pass with everything cached, and a token's logits. Raises RuntimeError where the process has ended."""
        assert self._process.stdin and self._process.stdout
        asked = {"ids": encoding.ids, "threads": torch.get_num_threads(), "token": token}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"TransformerLens ended with status {self._process.wait()}; it says above why.")
        return json.loads(line)

    def check(self, model: Model, encoding: Encoding) -> str:
        """What it keeps, once its logits are found to be ours."""
        answer = self.run(encoding, TOKEN)
        apart = np.abs(np.array(answer["logits"]) - bv.run(model, encoding)[LOGITS]).max()
        if not apart <= CLOSE:
            raise RuntimeError(f"TransformerLens gives other logits: they are up to {apart} apart.")
        return f"TransformerLens caches {answer['entries']} entries; logits at most {apart:.0e} from ours"


@contextmanager
def open_lens(python: str, library: BertForPreTraining) -> Iterator[Lens | None]:
    if not python:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        library.save_pretrained(folder)
        words = [python, str(Path(__file__).with_name("lens_peer.py")), folder]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield Lens(process)
            assert process.stdin
            process.stdin.close()


def passes(
    model: Model, library: BertForPreTraining, lens: Lens | None, clock: Callable[[], float], times: int
) -> None:
    """Print the run, alone and with one token's logits, against the library's whole model, and TransformerLens."""
    print("\n" + PASS.format("tokens", "run", "and a row", "library", "ratio", "target", "Lens" if lens else "", ""))
    for length, target in TARGETS.items():
        encoding = random_input(length)
        batch = {
            "input_ids": torch.tensor([encoding.ids]),
            "attention_mask": torch.tensor([encoding.mask]),
            "token_type_ids": torch.tensor([encoding.segments]),
        }
        works = [
            lambda encoding=encoding: bv.run(model, encoding),
            lambda encoding=encoding: bv.run(model, encoding)[LOGITS],
            lambda batch=batch: library(**batch),
        ]
        if lens:
            works.append(lambda encoding=encoding: lens.run(encoding))
        with torch.inference_mode():
            taken = seconds(clock, times, *works)
        ours, theirs = taken[1:3]
        beside = (f"{1000 * taken[3]:.1f} ms", f"{ours / taken[3]:.2f}") if lens else ("", "")
        found = (*(f"{1000 * each:.1f} ms" for each in taken[:3]), f"{ours / theirs:.2f}", target)
        print(PASS.format(length, *found, *beside))


def loading(library: BertForPreTraining, clock: Callable[[], float], times: int) -> None:
    """Print how long a checkpoint of these parameters takes to load, against `from_pretrained`."""
    with tempfile.TemporaryDirectory() as folder:
        library.save_pretrained(folder)
        shutil.copy(BUNDLED_FOLDER / "vocab.txt", folder)
        ours, theirs = seconds(
            clock, times, lambda: bv.load_model(folder), lambda: BertForPreTraining.from_pretrained(folder)
        )
    ratio = f"{ours / theirs:.2f}, target {LOAD_TARGET}"
    print(f"\nLoading takes {ours:.3f} s; from_pretrained, without a tokenizer, {theirs:.3f} s: {ratio}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tokens", type=int, default=512)
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--times", type=int, default=5)
    options.add_argument("--clock", choices=CLOCKS, default="wall")
    options.add_argument("--lens", metavar="PYTHON", default="", help="where transformer-lens is installed")
    asked = options.parse_args()
    if asked.lens and asked.clock != "wall":
        options.error("--lens needs the wall clock: it is another process")
    clock = CLOCKS[asked.clock]
    model, library = models()
    encoding = random_input(asked.tokens)
    kept = [memory(model, encoding)]
    with open_lens(asked.lens, library) as lens:
        if lens:
            print(f"\n{lens.check(model, random_input(12))}")
        for threads in asked.threads:
            torch.set_num_threads(threads)
            print(f"\n{threads} thread{'s' if threads > 1 else ''}, {asked.clock} clock")
            passes(model, library, lens, clock, asked.times)
            kept.append(access(model, encoding, clock, asked.times))
    loading(library, clock, asked.times)
    print("\nThe contract", "holds" if all(kept) else "is broken")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
