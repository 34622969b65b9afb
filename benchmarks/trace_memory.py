"""What a trace of BERT-base costs: bytes held, seconds to run, seconds until an address is there.

    python benchmarks/trace_memory.py [--tokens 512] [--threads 1 2]

The model has BERT-base's sizes and random parameters: costs do not depend on the numbers. The contract, which decides
the exit status: at most 40 MB held in memory, and any address there within a tenth of the time that the run took; of
what is computed by rows, the row of one token.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import BertConfig as LibraryConfig
from transformers import BertForPreTraining

sys.path.insert(0, str(Path(__file__).parent.parent))

import bertviz_core as bv
from bertviz_core.checkpoint.lru import ByteLRU
from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.tokenizer import Encoding
from bertviz_core.checkpoint.weights import load_parameters
from bertviz_core.formula.address import Address
from bertviz_core.programs.bert import MLM, NEXT_SENTENCE, POOLER, write_bert
from bertviz_core.programs.config import BertConfig

MAX_BYTES, MAX_SHARE = 40_000_000, 0.1
LAYER = 6
HEADS = (MLM, POOLER, NEXT_SENTENCE)
ROW = "{:<54}{:>12}{:>12}"


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


def seconds(times: int, *works: Callable[[], object]) -> list[float]:
    """The shortest of `times` calls of each, in turns, after one that does not count: other load only adds to it."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times + 1):
        for work, calls in zip(works, taken, strict=True):
            start = time.perf_counter()
            work()
            calls.append(time.perf_counter() - start)
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
    before = resident()
    trace = bv.run(model, encoding)
    grown = resident() - before
    held, grew = trace.nbytes / 1e6, grown / 1e6
    print(f"\nA trace of {len(encoding)} tokens holds {held:.1f} MB in memory; the process grew by {grew:.1f} MB")
    return max(trace.nbytes, grown) <= MAX_BYTES


def access(model: Model, encoding: Encoding, times: int) -> bool:
    """Print how long each address takes with nothing cached, worst first; whether all are within the contract."""
    trace = bv.run(model, encoding, cache=ByteLRU(0))
    wanted = [address for address in trace.addresses if Address(address).layer in (None, LAYER)]
    asked = [f"{each}[token=7]" if each in trace.program.by_rows else each for each in wanted]
    reads = [lambda address=address: trace[address].sum() for address in asked]
    run, *read = seconds(times, lambda: bv.run(model, encoding), *reads)
    print(f"\nThe run takes {run:.3f} s. Until an address is there, as a share of that:")
    for taken, address in sorted(zip(read, wanted, strict=True), reverse=True):
        print(ROW.format(address, f"{1000 * taken:.1f} ms", f"{taken / run:.2%}"))
    return max(read) <= MAX_SHARE * run


def passes(model: Model, library: BertForPreTraining, lengths: list[int], times: int) -> None:
    """Print the run, with every tensor recorded, against the library's plain forward pass."""
    print("\n" + ROW.format("tokens", "run", "of library"))
    for length in lengths:
        encoding = random_input(length)
        batch = {
            "input_ids": torch.tensor([encoding.ids]),
            "attention_mask": torch.tensor([encoding.mask]),
            "token_type_ids": torch.tensor([encoding.segments]),
        }
        with torch.inference_mode():
            ours, theirs = seconds(
                times, lambda encoding=encoding: bv.run(model, encoding), lambda batch=batch: library(**batch)
            )
        print(ROW.format(length, f"{1000 * ours:.1f} ms", f"{ours / theirs:.2f}"))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tokens", type=int, default=512)
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--times", type=int, default=5)
    asked = options.parse_args()
    model, library = models()
    encoding = random_input(asked.tokens)
    kept = [memory(model, encoding)]
    for threads in asked.threads:
        torch.set_num_threads(threads)
        print(f"\n{threads} thread{'s' if threads > 1 else ''}")
        kept.append(access(model, encoding, asked.times))
        passes(model, library, [12, 32, 128, 512], asked.times)
    print("\nThe contract", "holds" if all(kept) else "is broken")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
