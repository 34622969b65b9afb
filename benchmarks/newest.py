"""Runs the tests with the newest releases of Streamlit and Plotly: what of their inside is gone, and what else fails.

    python benchmarks/newest.py                                             # all tests but slow and rare ones
    python benchmarks/newest.py tests/test_inside.py tests/test_selectors.py    # or whatever pytest is given

They are installed into a virtual environment that is thrown away; all else is found in the one that runs this. The exit
status is pytest's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import tempfile
import venv
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARIES = ("streamlit", "plotly")
# Fails with any other versions than the pinned ones.
PINNED = "tests/test_packaging.py::test_the_pinned_versions_are_the_tested_ones"
_TELL = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"


def make_environment(folder: Path) -> Path:
    """A virtual environment with the newest releases, in front of what the running one has. Returns its Python."""
    venv.create(folder, symlinks=True, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (packages / "inherited.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--upgrade", *LIBRARIES], check=True)
    return python


def read_versions(python: Path) -> dict[str, str]:
    """The versions that an environment has, by library."""
    told = subprocess.run([python, "-c", _TELL, *LIBRARIES], check=True, capture_output=True, text=True).stdout
    return dict(zip(LIBRARIES, told.split(), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        for name, newest in read_versions(python).items():
            own = version(name)
            print(f"{name} {newest}, " + ("as pinned" if newest == own else f"instead of {own}"), flush=True)
        return subprocess.run(
            [python, "-m", "pytest", f"--deselect={PINNED}", *arguments], cwd=ROOT, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
