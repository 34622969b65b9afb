"""What the store of classes asks of a database."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Cursor(Protocol):
    """What both databases give."""

    def execute(self, query: str, given: tuple[Any, ...] = ..., /) -> Cursor: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    @property
    def rowcount(self) -> int: ...


class Database(Protocol):
    """A database. share, alone: behind a query of `transact`, for a row that nobody may change meanwhile, and nobody
    may so hold. Whatever fails raises StoreError.
    """

    share: str
    alone: str

    def prepare(self, schema: Collection[str]) -> None:
        """Make the tables that are not there, also where another process does at the same time."""
        ...

    def transact(self) -> AbstractContextManager[Cursor]:
        """A transaction: all of it is kept when the block ends, nothing where it raises."""
        ...

    def look(self) -> AbstractContextManager[Cursor]:
        """A transaction that reads, and waits for nobody who writes."""
        ...

    def tidy(self) -> None:
        """Take what was deleted out of the files as well."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...
