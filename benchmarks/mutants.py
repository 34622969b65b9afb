"""Plants mistakes in the code, one at a time, and lists those that no test notices.

    python benchmarks/mutants.py [--jobs 2] [--only 3 17] [--seconds 300]

Each mistake of `mutants.toml` is made in a copy of the tree, and the tests that should notice it are run there.
Exit status 1 where a mistake survived, 2 where one could not be planted or the tests fail without any.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("mutants.toml")
CORE = "bertviz_core"
MODELS = Path(CORE, "models")  # large and never changed: linked, not copied
KILLED, SURVIVED, BROKEN = "killed", "SURVIVED", "ERROR"
_PASSED, _FAILED = 0, 1  # pytest's exit statuses
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "models", "mock", "node_modules")


@dataclass(frozen=True)
class Mutant:
    """One mistake. file: as seen from `bertviz_core`; old: stands there once; tests: what pytest runs against it."""

    file: str
    what: str
    old: str
    new: str
    tests: str


MUTANTS = tuple(Mutant(**row) for row in tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"])


@dataclass(frozen=True)
class Outcome:
    """What became of a mistake, after how many seconds, and what the tests said last."""

    verdict: str
    seconds: float
    said: str


def find_fault(mutant: Mutant, root: Path = ROOT) -> str:
    """Why a mistake can no longer be planted; empty if it can."""
    file = root / CORE / mutant.file
    if not file.is_file():
        return f"there is no {CORE}/{mutant.file}"
    count = file.read_text(encoding="utf-8").count(mutant.old)
    if count != 1:
        return f"its text stands {count} times in {CORE}/{mutant.file}, not once"
    if mutant.old == mutant.new or not mutant.what or not mutant.tests:
        return "it changes nothing, or lacks what is wrong or the tests that should notice"
    missing = [test for test in shlex.split(mutant.tests) if test.endswith(".py") and not (root / test).is_file()]
    return f"there is no {missing[0]}" if missing else ""


def plant(mutant: Mutant, tree: Path) -> str:
    """The text of a mistake's file with the mistake in it."""
    return (tree / CORE / mutant.file).read_text(encoding="utf-8").replace(mutant.old, mutant.new)


def copy_tree(folder: Path) -> Path:
    """A copy of the tree to make mistakes in."""
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=_LEFT_OUT)
    shutil.copytree(ROOT / ".streamlit", tree / ".streamlit")
    (tree / MODELS).symlink_to(ROOT / MODELS)
    return tree


@contextmanager
def planting(mutant: Mutant, tree: Path) -> Iterator[None]:
    """The mistake in the copy, for as long as the tests run."""
    file = tree / CORE / mutant.file
    before = file.read_text(encoding="utf-8")
    file.write_text(plant(mutant, tree), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def run_tests(tests: str, tree: Path, seconds: float) -> Outcome:
    """Run tests in a copy, up to the first that fails."""
    start = time.monotonic()
    quick = ["-x", "-q", "-n0", "--tb=line", "-p", "no:cacheprovider", "-m", ""]  # slow ones too
    command = [sys.executable, "-B", "-m", "pytest", *quick, *shlex.split(tests)]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            timeout=seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(KILLED, time.monotonic() - start, f"no end within {seconds:g} s")
    verdict = {_PASSED: SURVIVED, _FAILED: KILLED}.get(done.returncode, BROKEN)
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-1:]
    return Outcome(verdict, time.monotonic() - start, " ".join(last))


def try_one(mutant: Mutant, trees: Queue[Path], seconds: float) -> Outcome:
    """Plant one mistake in a free copy."""
    fault = find_fault(mutant)
    if fault:
        return Outcome(BROKEN, 0.0, fault)
    tree = trees.get()
    try:
        with planting(mutant, tree):
            return run_tests(mutant.tests, tree, seconds)
    finally:
        trees.put(tree)


def check_unharmed(chosen: Sequence[int], tree: Path, seconds: float) -> str:
    """What the chosen tests say without any mistake, if they do not pass: then they could not tell one."""
    for tests in dict.fromkeys(MUTANTS[i].tests for i in chosen):
        found = run_tests(tests, tree, seconds)
        if found.verdict != SURVIVED:
            return f"Without a mistake {tests} does not pass: {found.said}"
    return ""


def read_wishes() -> argparse.Namespace:
    wishes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wishes.add_argument("--jobs", type=int, default=2, help="copies that are tested at the same time")
    wishes.add_argument("--only", type=int, nargs="+", help="numbers of mistakes")
    wishes.add_argument("--seconds", type=float, default=300.0, help="after which tests are given up")
    return wishes.parse_args()


def main() -> int:
    wishes = read_wishes()
    chosen = wishes.only or list(range(len(MUTANTS)))
    with tempfile.TemporaryDirectory(prefix="bertviz-mutants-") as folder, ThreadPoolExecutor(wishes.jobs) as pool:
        trees: Queue[Path] = Queue()
        for i in range(wishes.jobs):
            trees.put(copy_tree(Path(folder, str(i))))
        tree = trees.get()
        harm = check_unharmed(chosen, tree, wishes.seconds)
        if harm:
            print(harm)
            return 2
        trees.put(tree)
        count: Counter[str] = Counter()
        outcomes = pool.map(lambda i: try_one(MUTANTS[i], trees, wishes.seconds), chosen)
        for i, found in zip(chosen, outcomes, strict=True):
            count[found.verdict] += 1
            told = "" if found.verdict == KILLED else f": {found.said}"
            where = f"{MUTANTS[i].file}, {MUTANTS[i].what}"
            print(f"{i:3} {found.verdict:8} {found.seconds:6.1f} s  {where}{told}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    return 2 if count[BROKEN] else int(count[SURVIVED] > 0)


if __name__ == "__main__":
    sys.exit(main())
