"""Which database the classes of this server are kept in."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from rooms.errors import RefusedError, StoreError
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
    return Rooms(Sqlite(Path(where) if where else make_folder() / "rooms.sqlite"))


def make_folder() -> Path:
    """This user's folder below the machine's one for what need not last, where whoever comes first has any name.

    Raises StoreError where that was somebody else, who could then read what it holds, and where nothing can be written.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"bert-explorer-rooms-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        made = folder.lstat()
    except OSError as error:
        raise StoreError(str(error)) from error
    if not stat.S_ISDIR(made.st_mode) or made.st_uid != os.getuid() or made.st_mode & 0o077:
        raise StoreError(f"{folder} is not this user’s alone: take it away, or name another file in {WHERE}")
    return folder
