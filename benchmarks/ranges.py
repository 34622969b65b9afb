"""Runs the library's tests at both ends of what pyproject.toml allows: the oldest releases together, and the newest.

    python benchmarks/ranges.py                      # both ends: resolved and installed by pip, into fresh environments
    python benchmarks/ranges.py --end oldest tests/test_trace.py     # one end, and these tests alone
    python benchmarks/ranges.py --app --end oldest   # the installed app instead, of which a browser opens some pages
    python benchmarks/ranges.py --resolve            # only: does a fresh environment resolve, with which extra?

Each environment is thrown away; with PyTorch it takes some gigabytes and minutes. The exit status is 1 where anything
fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from contextlib import suppress
from pathlib import Path
from shutil import which
from urllib.request import urlopen

from playwright.sync_api import sync_playwright
from served import find_port

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bertviz_core.ui.components.selectors import expand  # noqa: E402
from tests.browser import FLAGS  # noqa: E402

PAGES = ("", "attention", "where_from", "patch", "compare", "training", "learn")  # of the app, that a browser opens
START_S, OPEN_MS = 120.0, 60_000
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
    """Have pip find and install one end of the library's ranges and of more, with whatever those releases need."""
    ranges = [*PROJECT["dependencies"], *more]
    return run(python, "pip", "install", "--quiet", *(ranges if end == NEWEST else pin_oldest(ranges)), *RUNNERS)


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


def open_app(end: str) -> bool:
    """Whether the installed app serves its pages with the releases of one end."""
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        if not (install(python, end, *EXTRAS["app"]) and run(python, "pip", "install", "-q", "--no-deps", str(ROOT))):
            return False
        run(python, "pip", "list")
        port = find_port()
        command = [python.with_name("bert-explorer"), "--port", str(port), "--model", "bundled"]
        with subprocess.Popen(command, cwd=folder) as server:
            try:
                return await_server(server, f"http://127.0.0.1:{port}") and open_pages(f"http://127.0.0.1:{port}")
            finally:
                server.terminate()


def await_server(server: subprocess.Popen[bytes], url: str) -> bool:
    end = time.monotonic() + START_S
    while server.poll() is None and time.monotonic() < end:
        with suppress(OSError), urlopen(f"{url}/_stcore/health"):
            return True
        time.sleep(0.5)
    return False


def open_pages(url: str) -> bool:
    """Whether each page comes, and none with a traceback; prints their headlines."""
    well = True
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=which("chromium"), args=FLAGS)
        page = browser.new_page()
        for name in PAGES:
            page.goto(f"{url}/{name}")
            page.locator("h1").first.wait_for(timeout=OPEN_MS)
            page.locator(expand(":--at-rest")).wait_for(timeout=OPEN_MS)
            broken = page.locator(expand(":--exception")).count()
            print(
                f"{name or 'first page':12s}{'BROKEN ' * bool(broken)}{page.locator('h1').first.inner_text()}",
                flush=True,
            )
            well &= not broken
        browser.close()
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--end", choices=(OLDEST, NEWEST), action="append", help="(both)")
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--app", action="store_true")
    parser.add_argument("tests", nargs="*")
    asked = parser.parse_args()
    if asked.resolve:
        found = {extra: resolve(extra) for extra in ("", *EXTRAS)}
        print(
            *(f"{extra or 'alone':10s}{'resolves' if well else 'DOES NOT RESOLVE'}" for extra, well in found.items()),
            sep="\n",
        )
    else:
        ends = asked.end or (OLDEST, NEWEST)
        found = {end: open_app(end) if asked.app else check(end, asked.tests) for end in ends}
        print(*(f"{end:10s}{'passes' if well else 'FAILS'}" for end, well in found.items()), sep="\n")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
