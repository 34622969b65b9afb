"""Rooms in a file of SQLite, which the processes of one machine share."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from rooms.database import Cursor
from rooms.errors import StoreError

_WAIT_S = 5.0  # for another process that writes
_SAME_S = 1.0  # after which it is looked whether the file still stands there
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Sqlite:
    """One connection, used by one thread at a time, opened anew where the file is another one: what cleans a machine's
    folders may delete it, and processes that start later would share another.
    """

    share = alone = ""  # while one writes, nobody else does

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.Lock()
        self._schema: Collection[str] = ()
        with self._telling():
            self._open()

    def prepare(self, schema: Collection[str]) -> None:
        self._schema = schema
        with self.transact() as cursor:
            for each in schema:
                cursor.execute(each)

    @contextmanager
    def transact(self) -> Generator[Cursor]:
        """Each may write, so none has to begin anew for it."""
        with self._run("BEGIN IMMEDIATE") as cursor:
            yield cursor

    @contextmanager
    def look(self) -> Generator[Cursor]:
        with self._run("BEGIN") as cursor:
            yield cursor

    def tidy(self) -> None:
        """Empty the journal, in which deleted rows still stand."""
        with self._lock, self._telling():
            self._own.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._own.close()

    @contextmanager
    def _run(self, begin: str) -> Generator[Cursor]:
        with self._lock, self._telling():
            self._keep_up()
            cursor = self._own.cursor()
            cursor.execute(begin)
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self._own.in_transaction:
                    cursor.execute("ROLLBACK")
                raise

    def _open(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file.touch(mode=0o600)
        self._own = sqlite3.connect(self._file, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        for each in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
            self._own.execute(f"PRAGMA {each}")
        self._which, self._seen = self._identify(), time.monotonic()

    def _identify(self) -> tuple[int, int] | None:
        """Which file stands there; None where none does."""
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _keep_up(self) -> None:
        """Be on the file that stands there."""
        if time.monotonic() - self._seen < _SAME_S:
            return
        self._seen = time.monotonic()
        if self._identify() != self._which:
            self._own.close()
            self._open()
            for each in self._schema:
                self._own.execute(each)

    @contextmanager
    def _telling(self) -> Generator[None]:
        """What SQLite raises names no row; it is passed on as the store's own error, for who runs the server."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            broken = getattr(error, "sqlite_errorcode", None) in _BROKEN
            remedy = "it is broken; delete it, and the classes that are open in it are lost" if broken else str(error)
            raise StoreError(f"{self._file}: {remedy}") from error
