"""Rooms in PostgreSQL, which the processes of several machines share. Needs the package psycopg."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg

from rooms.database import Cursor
from rooms.errors import StoreError

_WAIT_S = 5  # for the server, for a statement, and for another process that holds a row
_REST_S = 1.0  # after a try in vain; who asks meanwhile is told so at once
_SCHEMA = 0x42455254  # a number of ours, by which processes wait for one another


class _Marked:
    """A cursor that takes the question marks of SQLite for what is given."""

    def __init__(self, own: psycopg.Cursor[tuple[Any, ...]]) -> None:
        self._own = own

    def execute(self, query: str, given: tuple[Any, ...] = (), /) -> Cursor:
        self._own.execute(query.replace("?", "%s").encode(), given)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._own.fetchone()

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._own.fetchall()

    @property
    def rowcount(self) -> int:
        return self._own.rowcount


class Postgres:
    """One connection, used by one thread at a time, opened anew where it broke."""

    share = " FOR SHARE"  # answers do not wait for one another, and who leads waits for those on their way
    alone = " FOR UPDATE"

    def __init__(self, where: str) -> None:
        self._where, self._lock = where, threading.Lock()
        self._own: psycopg.Connection[tuple[Any, ...]] | None = None
        self._rests_until = 0.0

    def prepare(self, schema: Collection[str]) -> None:
        with self.transact() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(?)", (_SCHEMA,))  # two at a time make a table twice, and fail
            for each in schema:
                cursor.execute(each)

    @contextmanager
    def transact(self) -> Generator[Cursor]:
        with self._lock:
            try:
                own = self._connect()
                with own.transaction(), own.cursor() as cursor:
                    yield _Marked(cursor)
            except psycopg.Error as error:  # its text may name a row
                raise StoreError(type(error).__name__) from error

    def look(self) -> AbstractContextManager[Cursor]:
        return self.transact()  # which waits for nobody, where no row is held

    def tidy(self) -> None:
        """PostgreSQL does so by itself, in its own time."""

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection, tried out: the server may have been started anew since."""
        if self._own is not None and not self._own.closed:
            try:
                self._own.execute("SELECT 1")
                return self._own
            except psycopg.OperationalError:
                self._own.close()
        if time.monotonic() < self._rests_until:
            raise StoreError("away, as it was a moment ago")
        try:
            own = psycopg.connect(
                self._where, autocommit=True, connect_timeout=_WAIT_S, tcp_user_timeout=_WAIT_S * 1000
            )
            own.execute(f"SET statement_timeout = '{_WAIT_S}s'".encode())
        except psycopg.OperationalError:
            self._rests_until = time.monotonic() + _REST_S
            raise
        self._own = own
        return own
