"""Questions of each kind for a class, and databases to keep them in."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from rooms.plan import CHOOSE, NUMBER, PICK, Answer, Plan, Question
from rooms.sqlite import Sqlite

TOKENS = ("[CLS]", "do", "as", "[MASK]", "do", "[SEP]")
WORDS = tuple(
    Answer(f"{i} {TOKENS[i]}", f"It keeps {shown}.", shown, i)
    for i, shown in ((1, "5.1 %"), (2, "2.6 %"), (4, "0.27 %"))
)
PLAN = Plan(
    "What if",
    "3 questions · 18 min",
    (
        Question("Which word", "Each is taken out.", "Without which?", PICK, 2, WORDS, 0.0, "The second “do”",
                 "It falls.", below="what it keeps", misconception="Words with much meaning.", link="heads?step=6",
                 tokens=TOKENS),
        Question("Two at once", "", "What is lost?", CHOOSE, 0,
                 (Answer("Less", "Right, less."), Answer("More", "No, less.")), right="Right, less."),
        Question("How long", "", "How long?", NUMBER, 19.6, (), 0.1, "19.6", "The root of 384.", "Take the root."),
    ),
    "learn?text=x",
)  # fmt: skip


def find_postgres():
    """The folder of PostgreSQL's programs, the newest one; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@contextmanager
def run_postgres(folder):
    """A PostgreSQL server of its own on a free port, as Debian's package has it; its address."""
    programs = find_postgres()
    if programs is None or shutil.which("setpriv") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("No PostgreSQL: install Debian's package postgresql.")
    as_user, data = [], folder / "data"
    data.mkdir()
    if os.geteuid() == 0:  # which PostgreSQL refuses to be
        user = pwd.getpwnam("postgres")
        as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        os.chown(data, user.pw_uid, user.pw_gid)
        machines = Path(tempfile.gettempdir())
        for above in folder.parents:
            if machines in above.parents:
                above.chmod(above.stat().st_mode | 0o011)
        folder.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quick = ["-o", f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"]
    subprocess.run([*as_user, programs / "initdb", "-A", "trust", "-U", "class", "-D", data],
                   check=True, capture_output=True, cwd="/")  # fmt: skip
    control = [*as_user, programs / "pg_ctl", "-D", data, "-w"]
    subprocess.run([*control, *quick, "-l", data / "log", "start"], check=True, capture_output=True, cwd="/")
    try:
        yield f"postgresql://class@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd="/")


@contextmanager
def open_database(kind, folder):
    """Makes connections to one database, as several processes have them."""
    opened = []
    if kind == "sqlite":
        yield lambda: opened.append(Sqlite(folder / "kept" / "rooms.sqlite")) or opened[-1]
    else:
        from rooms.postgres import Postgres

        with run_postgres(folder) as where:
            yield lambda: opened.append(Postgres(where)) or opened[-1]
            for each in opened:
                each.close()
            opened.clear()
    for each in opened:
        each.close()
