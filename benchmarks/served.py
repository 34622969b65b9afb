"""The app as a server of its own, of this tree or of another commit, and what it takes of the machine. Linux only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
START_S = 120.0
FINDINGS = "findings"  # as the system calls the thread that works them out
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_ms(pid: int) -> float:
    """Processor time of a process so far, over all its threads, in milliseconds."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6  # the clock that clock_getcpuclockid(3) names


def findings_ms(pid: int) -> float:
    """What of that the thread took that works out findings, in the background."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            if (task / "comm").read_text(encoding="ascii", errors="replace").strip() == FINDINGS:
                spent += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return spent / 1e6


def list_family(pids: Sequence[int]) -> list[int]:
    """Processes and all that they have started, as far as these are alive."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found, waiting = [], list(pids)
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def measure_memory(pids: Sequence[int]) -> int:
    """Bytes of memory that processes have in use now (resident), together."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    return total


@dataclass
class Server:
    """The app of a folder on a port of its own, which can be killed and started again.

    processes: as many behind nginx, as `python -m deploy` starts them; 0 is Streamlit's one process by itself.
    environment: what it is told besides; spent: milliseconds of processor time of the processes that are gone.
    """

    folder: Path
    log: Path
    python: str = sys.executable
    processes: int = 0
    port: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    spent: float = 0.0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> list[int]:
        return list_family([self._process.pid]) if self._process else []

    def start(self) -> None:
        """Start it, and wait until it listens: as a cold server, which has drawn no page yet."""
        self.port = self.port or find_port()
        alone = [
            "streamlit",
            "run",
            "app.py",
            "--server.port",
            str(self.port),
            "--server.address",
            "127.0.0.1",
            "--server.fileWatcherType",
            "none",
        ]
        many = ["deploy", "--address=127.0.0.1", f"--port={self.port}", f"--processes={self.processes}"]
        command = [self.python, "-m", *(many if self.processes else alone)]
        told = {**os.environ, "BERTVIZ_MODELS": "bundled", **self.environment}
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                command, cwd=self.folder, env=told, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_S
        while not listens(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The server did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it: by SIGTERM, as an operator does, or by SIGKILL, as a machine that has no memory left."""
        if self._process is not None:
            self.spent += self._count_ms()
            self._process.send_signal(how)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def cpu_ms(self) -> float:
        """Processor time so far, also of processes that were killed."""
        return self.spent + self._count_ms()

    def findings_ms(self) -> float:
        """What of that went to findings, in processes that live."""
        return sum(map(findings_ms, self.pids))

    def _count_ms(self) -> float:
        total = 0.0
        for pid in self.pids:
            with suppress(OSError):
                total += cpu_ms(pid)
        return total


@contextmanager
def serving(
    folder: Path,
    python: str = sys.executable,
    processes: int = 0,
    port: int = 0,
    environment: dict[str, str] | None = None,
) -> Iterator[Server]:
    """The app of a folder on a port, a free one by itself, run by an interpreter that has what it needs."""
    with tempfile.TemporaryDirectory() as place:
        server = Server(folder, Path(place) / "server.log", python, processes, port, environment or {})
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """The files of a commit in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, ref], cwd=ROOT, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
