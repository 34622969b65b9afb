"""Which database the classes of this server are kept in."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rooms.errors import RefusedError
from rooms.sqlite import Sqlite
from rooms.store import Rooms

WHERE = "BERTVIZ_ROOMS"
OFF = "off"  # what it says where no classes are held


def open_rooms(where: str = "") -> Rooms:
    """The rooms of this server. where: a file, or postgresql://...; by default what BERTVIZ_ROOMS says, else a file
    below the machine's folder for what need not last, which all processes of one user share. Raises RefusedError where
    it is to hold none.
    """
    where = where or os.environ.get(WHERE, "")
    if where == OFF:
        raise RefusedError("This server holds no classes.", 404)
    if where.startswith(("postgresql://", "postgres://")):
        from rooms.postgres import Postgres  # noqa: PLC0415  # its driver is there only where it is used

        return Rooms(Postgres(where))
    return Rooms(Sqlite(Path(where) if where else _name_file()))


def _name_file() -> Path:
    return Path(tempfile.gettempdir()) / f"bert-explorer-rooms-{os.getuid()}" / "rooms.sqlite"
