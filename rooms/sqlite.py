"""Rooms in a file of SQLite, which the processes of one machine share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from rooms.database import Cursor
from rooms.errors import StoreError

_WAIT_S = 5.0  # for another process that writes


@contextmanager
def _telling() -> Generator[None]:
    """What SQLite raises names no row; it is passed on as the store's own error."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(type(error).__name__) from error


class Sqlite:
    """One connection, used by one thread at a time. Each transaction may write, so none has to begin anew for it."""

    share = alone = ""  # while one writes, nobody else does

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        with _telling():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)
            self._own = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            for each in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                self._own.execute(f"PRAGMA {each}")

    def prepare(self, schema: Collection[str]) -> None:
        with self.transact() as cursor:
            for each in schema:
                cursor.execute(each)

    @contextmanager
    def transact(self) -> Generator[Cursor]:
        with self._lock, _telling():
            cursor = self._own.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    def tidy(self) -> None:
        """Empty the journal, in which deleted rows still stand."""
        with self._lock, _telling():
            self._own.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._own.close()
