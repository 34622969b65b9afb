"""The command `bert-explorer`: serves the app."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bertviz_core.version import DISTRIBUTION, __version__

_PACKAGE = Path(__file__).parent
_SETTING = "BERTVIZ_MODELS"


def find_app() -> Path:
    """The folder with app.py and all that it needs beside this package: inside of it where installed, or a clone's."""
    installed = _PACKAGE / "app_files"
    return installed if installed.is_dir() else _PACKAGE.parent


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    """What was asked for. Ends the program, in words, where that cannot be."""
    parser = argparse.ArgumentParser(
        "bert-explorer", description="An interactive visual explorer of BERT, served here."
    )
    parser.add_argument("--port", type=int, default=8501, help="(%(default)s)")
    parser.add_argument("--address", default="localhost", help="0.0.0.0 lets other machines in (%(default)s)")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        help="offer this one alone: bundled, a folder, or a Hugging Face id; several times for several, the first one "
        "opens (without: the bundled one first, and whatever is named in the app)",
    )
    parser.add_argument(
        "--processes", type=int, default=1, help="behind nginx, for many visitors, where more than 1 (%(default)s)"
    )
    parser.add_argument("--version", action="version", version=f"{DISTRIBUTION} {__version__}")
    asked = parser.parse_args(words)
    if not 1 <= asked.port <= 65535:
        parser.error(f"--port is {asked.port}, and must be between 1 and 65535")
    if asked.processes < 1:
        parser.error(f"--processes is {asked.processes}, and must be at least 1")
    if any("," in name or not name.strip() for name in asked.model):
        parser.error("--model takes one name, without a comma: give it several times for several models")
    if find_spec("streamlit") is None:
        parser.error(f'the app needs more than the library: pip install "{DISTRIBUTION}[app]"')
    if asked.processes > 1 and shutil.which("nginx") is None:
        parser.error("several processes need nginx in front of them: install it, or leave --processes out")
    return asked


def write_command(asked: argparse.Namespace) -> list[str]:
    """The program that serves the app; -P, so that nothing in the folder where it was started is taken for a part."""
    if asked.processes > 1:
        many = ["-m", "deploy", f"--address={asked.address}", f"--port={asked.port}", f"--processes={asked.processes}"]
        return [sys.executable, *many]
    app = find_app() / "app.py"
    where = [f"--server.address={asked.address}", f"--server.port={asked.port}"]
    return [sys.executable, "-P", "-m", "streamlit", "run", str(app), *where]


def main(words: Sequence[str] | None = None) -> int:
    """Serve until told to end. Returns the exit status."""
    asked = read_arguments(sys.argv[1:] if words is None else words)
    told = dict(os.environ)
    if asked.model:  # a folder in full, since several processes run elsewhere
        told[_SETTING] = ",".join(str(Path(name).resolve()) if Path(name).is_dir() else name for name in asked.model)
    command = write_command(asked)
    if asked.processes > 1:
        os.chdir(find_app())  # where `deploy` is found
    if os.name == "posix":
        os.execve(command[0], command, told)  # in this one's place, so that the server itself is told to end
    return subprocess.call(command, env=told)


if __name__ == "__main__":
    sys.exit(main())
