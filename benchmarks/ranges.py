"""Runs the library's tests at both ends of what pyproject.toml allows: the oldest releases together, and the newest.

    python benchmarks/ranges.py                      # both ends: resolved and installed by pip, into fresh environments
    python benchmarks/ranges.py --end oldest tests/test_trace.py     # one end, and these tests alone
    python benchmarks/ranges.py --resolve            # only: does a fresh environment resolve, with which extra?

Each environment is thrown away; with PyTorch it takes some gigabytes and minutes. The exit status is 1 where anything
fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OLDEST, NEWEST = "oldest", "newest"
RUNNERS = ("pytest==9.1.1", "pytest-xdist==3.8.0")
# What needs neither Streamlit nor a browser: `tests.library` is all of the fixtures that these take.
TESTS = [
    f"tests/test_{name}.py"
    for name in (
        "arguments", "bad_checkpoints", "changes", "checkpoints", "derivatives", "explain", "heads", "hub",
        "known_numbers", "many", "notebook_export", "parameters", "parity", "parts", "predictions", "program",
        "readonly", "recompute", "roles", "rules", "saved", "script", "store", "tokenizer", "tokenizer_files", "trace",
        "what_if", "wordpiece",
    )
]  # fmt: skip


def pin_oldest(requirements: list[str]) -> list[str]:
    """The first release that each range allows: `torch>=2.6,<3` to `torch==2.6`."""
    return [requirement.split(",")[0].replace(">=", "==") for requirement in requirements]


def make_environment(folder: Path) -> Path:
    """An empty virtual environment. Returns its Python."""
    venv.create(folder, symlinks=True, with_pip=True)
    return folder / "bin" / "python"


def run(python: Path, *words: str) -> bool:
    """Whether a command of an environment succeeds."""
    return subprocess.run([python, "-m", *words], cwd=ROOT, check=False).returncode == 0


def install(python: Path, end: str, *more: str) -> bool:
    """Have pip find and install one end of the library's ranges, with whatever those releases need."""
    libraries = PROJECT["dependencies"] if end == NEWEST else pin_oldest(PROJECT["dependencies"])
    return run(python, "pip", "install", "--quiet", *more, *libraries, *RUNNERS)


def resolve(extra: str) -> bool:
    """Whether pip finds releases for a fresh environment, from the index, with an extra and without building."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = [*PROJECT["dependencies"], *EXTRAS.get(extra, [])]
        return run(make_environment(Path(folder)), "pip", "install", "--quiet", "--dry-run", *wanted)


def check(end: str, tests: list[str]) -> bool:
    """Whether the tests pass with the releases of one end, which are named."""
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        if not install(python, end):
            return False
        run(python, "pip", "list")
        # What an old release says of its own future would fail every test that hears it.
        calm = ("-W", "ignore::DeprecationWarning")
        return run(python, "pytest", "--noconftest", "-p", "tests.library", *calm, *(tests or TESTS))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--end", choices=(OLDEST, NEWEST), action="append", help="(both)")
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("tests", nargs="*")
    asked = parser.parse_args()
    if asked.resolve:
        found = {extra: resolve(extra) for extra in ("", *EXTRAS)}
        print(
            *(f"{extra or 'alone':10s}{'resolves' if well else 'DOES NOT RESOLVE'}" for extra, well in found.items()),
            sep="\n",
        )
    else:
        found = {end: check(end, asked.tests) for end in asked.end or (OLDEST, NEWEST)}
        print(*(f"{end:10s}{'passes' if well else 'FAILS'}" for end, well in found.items()), sep="\n")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
