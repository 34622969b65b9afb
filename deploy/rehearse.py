"""The Dockerfile without Docker, in a fresh folder and without root's rights: `python -m deploy.rehearse [--install]`.

Reads the Dockerfile and does what it says, step by step: copies what .dockerignore lets through, runs the commands,
takes away the right to write, starts what the image starts, and asks its health check. What only root can do (Debian's
packages, the user) is left out and named. pip checks that the environment of this interpreter has what the image
installs; with --install it installs all of it into an environment of its own, which takes minutes and a network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.space import ROOT, list_shipped

USER = 1000
NEEDS_ROOT = ("apt-get", "useradd")
HOME = "/home/user"
# Ways for root to be user 1000; the second is for an interpreter in a folder that only root may enter.
WAYS = (
    ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"),
    ("unshare", "--user", f"--map-user={USER}", f"--map-group={USER}", "--"),
)


@dataclass(frozen=True)
class Step:
    """One instruction of a Dockerfile: its word, and the rest of it on one line."""

    word: str
    rest: str


def read_steps(text: str) -> list[Step]:
    """The instructions of a Dockerfile, without its comments."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [Step(*line.split(maxsplit=1)) for line in lines.splitlines() if line.strip()]


@dataclass
class Rehearsal:
    """An image in the making: its root folder, where its commands run, and what they are told."""

    root: Path
    folder: Path = field(init=False)
    environment: dict[str, str] = field(init=False)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    user: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.root
        scripts = Path(sys.executable).parent
        path = f"{scripts}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "PIP_NO_INDEX": "1", "PIP_QUIET": "1", "TMPDIR": str(self.root / "tmp")}
        self.user = find_user()
        for name in ("tmp", HOME[1:]):
            (self.root / name).mkdir(parents=True)
        self._give()

    def do(self, step: Step) -> None:
        """Do one instruction, or keep it for the start."""
        match step.word:
            case "WORKDIR":
                self.folder = self._place(step.rest)
                self.folder.mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(*step.rest.split())
            case "RUN":
                self._run(step.rest)
            case "USER":
                assert step.rest == str(USER), f"USER must be {USER}, and is {step.rest}"
                self._take_away()
            case "ENV":
                pairs = (pair.split("=", 1) for pair in shlex.split(step.rest))
                self.environment |= {name: self._inside(value) for name, value in pairs}
            case "CMD":
                self.command = json.loads(step.rest)
            case "HEALTHCHECK":
                self.health = json.loads(step.rest.partition("CMD ")[2])
            case "FROM" | "EXPOSE":
                pass
            case _:
                raise ValueError(f"{step.word} is an instruction that the rehearsal does not know")

    def _copy(self, source: str, target: str) -> None:
        files = list_shipped() if source == "." else [Path(source)]
        for file in files:
            (self.folder / target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, self.folder / target / file)
        self._give()

    def _run(self, line: str) -> None:
        if any(word in line for word in NEEDS_ROOT):
            self.left_out.append(line)
            return
        subprocess.run(
            [*self.user, "bash", "-euc", self._inside(line)], cwd=self.folder, env=self.environment, check=True
        )

    def _inside(self, text: str) -> str:
        """The folders of the image, as they are called here."""
        return re.sub(rf"(?<![\w/.])({HOME}|/tmp)\b", rf"{self.root}\1", text)

    def _place(self, path: str) -> Path:
        return Path(self._inside(path)) if path.startswith("/") else self.folder / path

    def _give(self) -> None:
        """Until USER, whoever runs a step may write: in the image, root does."""
        if self.user and self.user[0] == "setpriv":
            for path in [self.root, *self.root.rglob("*")]:
                os.chown(path, USER, USER)

    def _take_away(self) -> None:
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)

    @contextmanager
    def running(self, port: int) -> Iterator[subprocess.Popen[bytes]]:
        """What the image starts, on another port; told to end at the end, which it must do well."""
        command = [part.replace("8501", str(port)) for part in self.command]
        environment = {**self.environment, "BERTVIZ_PROCESSES": "1"}
        with subprocess.Popen([*self.user, *command], cwd=self.folder, env=environment) as service:
            try:
                yield service
            finally:
                service.send_signal(signal.SIGTERM)
                service.wait(timeout=60)
        assert service.returncode == 0, f"ended with status {service.returncode}"

    def is_healthy(self, port: int) -> bool:
        """What the image's own health check says."""
        check = [part.replace("8501", str(port)) for part in self.health]
        done = subprocess.run(
            [*self.user, *check], cwd=self.folder, env=self.environment, capture_output=True, check=False
        )
        return done.returncode == 0

    def list_files(self) -> set[Path]:
        return {path.relative_to(self.root) for path in self.root.rglob("*") if not path.is_dir()}


def find_user() -> tuple[str, ...]:
    """What to put before a command so that it runs without root's rights; nothing where we have none ourselves."""
    if os.geteuid():
        return ()
    for way in WAYS:
        if (
            shutil.which(way[0])
            and not subprocess.run(
                [*way, "bash", "-c", '"$0" -c "import streamlit"', sys.executable], capture_output=True, check=False
            ).returncode
        ):
            return way
    raise PermissionError(f"User {USER} cannot run {sys.executable}: install the app where others may read it.")


def rehearse(root: Path, install: bool = False) -> Rehearsal:
    """Do all steps of the Dockerfile in a folder."""
    rehearsal = Rehearsal(root)
    if install:
        subprocess.run([*rehearsal.user, sys.executable, "-m", "venv", root / "venv"], check=True)
        del rehearsal.environment["PIP_NO_INDEX"]
        rehearsal.environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        rehearsal.environment["PATH"] = f"{root}/venv/bin:{os.environ['PATH']}"
    for step in read_steps((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        rehearsal.do(step)
    return rehearsal


def check_start(rehearsal: Rehearsal, look: Callable[[str], None] = lambda _: None) -> float:
    """Start it and wait for its health. Returns the seconds until then; nothing may be written outside of /tmp.

    look: is given the URL while it serves.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    before, start = rehearsal.list_files(), time.monotonic()
    with rehearsal.running(port) as service:
        while not rehearsal.is_healthy(port):
            assert service.poll() is None, "what the image starts has ended"
            assert time.monotonic() - start < 120, "not healthy after two minutes"
            time.sleep(0.2)
        seconds = time.monotonic() - start
        look(f"http://127.0.0.1:{port}")
        written = {path for path in rehearsal.list_files() - before if path.parts[0] != "tmp"}
    assert not written, f"written outside of /tmp: {sorted(written)}"
    left = {path for path in rehearsal.list_files() - before if path.parts[0] == "tmp" and not _holds_classes(path)}
    assert not left, f"left in /tmp: {sorted(left)}"
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m deploy.rehearse", description="The Dockerfile without Docker.")
    parser.add_argument("--install", action="store_true", help="really install what the image installs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        rehearsal = rehearse(Path(folder), asked.install)
        for line in rehearsal.left_out:
            print(f"not done, needs root: {line}")
        print(f"healthy after {check_start(rehearsal):.1f} s, wrote nothing outside of /tmp, ended well")


if __name__ == "__main__":
    main()


def _holds_classes(path: Path) -> bool:
    """Whether a file is one of the classes, which a server that ends leaves for the next one."""
    return path.parts[1].startswith("bert-explorer-rooms-")
