"""The store of classes where its file or its server is away, held, broken or full: it says so, and then goes on."""

import os
from contextlib import closing

import pytest

from rooms import opening, sqlite
from rooms.codes import SECRET
from rooms.course import go
from rooms.errors import StoreError
from rooms.opening import make_folder, open_rooms
from rooms.postgres import Postgres
from rooms.sqlite import Sqlite
from rooms.store import Rooms
from tests.classes.plans import PLAN, open_database, run_postgres

ENDS = 4e9


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "_WAIT_S", 0.1)
    monkeypatch.setattr(sqlite, "_SAME_S", 0.0)
    return tmp_path / "rooms.sqlite"


def test_a_file_that_was_deleted_is_made_anew_by_all_processes_the_same(file):
    first, second = open_rooms(str(file)), open_rooms(str(file))
    first.open(PLAN, "", ENDS)
    for each in file.parent.iterdir():
        each.unlink()
    code = first.open(PLAN, "", ENDS).code
    assert second.read(code).plan == PLAN and file.exists()


def test_a_file_that_another_holds_is_read_and_written_when_it_lets_go(file):
    rooms, other = open_rooms(str(file)), Sqlite(file)
    code = rooms.open(PLAN, "", ENDS).code
    with other.transact():
        with pytest.raises(StoreError, match="locked"):
            rooms.enter(code)
        assert rooms.read(code).code == code
    rooms.enter(code)
    assert rooms.count(code) == (1, {})


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_who_comes_in_again_is_the_same_phone_in_this_room_alone(tmp_path, kind):
    with open_database(kind, tmp_path) as connect:
        rooms = Rooms(connect())
        one, other = (rooms.open(PLAN, "", ENDS) for _ in range(2))
        phone = rooms.enter(one.code, "here", "ann")
        rooms.move(one.code, one.secret, 1, lambda course: go(course, "lock"))
        assert rooms.enter(one.code, "elsewhere", "ann") == phone and SECRET.fullmatch(phone)
        rooms.move(one.code, one.secret, 2, lambda course: go(course, "lock"))
        others = [rooms.enter(one.code, "here", name) for name in ("bob", "", "")]
        assert len({phone, rooms.enter(other.code, "here", "ann"), *others}) == 5
        assert rooms.count(one.code)[0] == 4 and rooms.count(other.code)[0] == 1


def test_a_full_disk_loses_nothing_that_was_said_to_be_kept(file):
    rooms = open_rooms(str(file))
    opened = rooms.open(PLAN, "", ENDS)
    rooms._database._own.execute("PRAGMA max_page_count = 1")  # no page more than there are
    came = 0
    with pytest.raises(StoreError, match="full"):
        for _ in range(2000):
            rooms.enter(opened.code)
            came += 1
    assert came and rooms.count(opened.code) == (came, {})
    rooms._database._own.execute("PRAGMA max_page_count = 100000")
    rooms.enter(opened.code)
    assert rooms.count(opened.code) == (came + 1, {})


BROKEN = {"no database": b"somebody's letters " * 500, "a page overwritten": None}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_to_who_runs_the_server_and_stays(file, content):
    if content is None:
        rooms = open_rooms(str(file))
        rooms.open(PLAN, "", ENDS)
        rooms._database.tidy()
        rooms.close()
        kept = bytearray(file.read_bytes())
        kept[4096:] = b"\x5a" * (len(kept) - 4096)
        content = bytes(kept)
    file.write_bytes(content)
    with pytest.raises(StoreError, match=f"{file}: it is broken; delete it"):
        open_rooms(str(file)).open(PLAN, "", ENDS)
    assert file.read_bytes() == content
    file.unlink()
    open_rooms(str(file)).open(PLAN, "", ENDS)


def test_where_no_folder_can_be_written_there_is_no_store(monkeypatch):
    monkeypatch.setattr(opening.tempfile, "tempdir", None)
    monkeypatch.setattr(opening.tempfile, "_candidate_tempdir_list", lambda: ["/nowhere/at/all"])
    with pytest.raises(StoreError, match="No usable temporary directory"):
        make_folder()


def test_nobody_else_makes_the_folder_that_rooms_are_kept_in(tmp_path, monkeypatch):
    monkeypatch.setattr(opening.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = make_folder()
    assert folder.stat().st_mode & 0o777 == 0o700 and make_folder() == folder
    folder.chmod(0o755)
    with pytest.raises(StoreError, match="is not this user’s alone"):
        make_folder()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(StoreError, match="is not this user’s alone"):
        make_folder()
    folder.unlink()
    folder.mkdir(0o700)
    another = os.getuid() + 1
    monkeypatch.setattr(opening.os, "getuid", lambda: another)
    folder.rename(tmp_path / f"bert-explorer-rooms-{another}")
    with pytest.raises(StoreError, match="is not this user’s alone"):
        make_folder()


def test_a_server_that_was_away_is_found_again_and_not_asked_all_the_time(tmp_path, monkeypatch):
    with run_postgres(tmp_path) as where:
        database = Postgres(where)
        rooms = Rooms(database)
        opened = rooms.open(PLAN, "", ENDS)
        with closing(Postgres(where)) as another, another.transact() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        assert rooms.read(opened.code).plan == PLAN  # on a new connection
        database._where = where.replace("@127.0.0.1:", "@127.0.0.1:1")  # no port is that high
        database.close()
        with pytest.raises(StoreError):
            rooms.read(opened.code)
        with pytest.raises(StoreError, match="a moment ago"):
            rooms.read(opened.code)
        database._where, database._rests_until = where, 0.0
        assert rooms.read(opened.code).plan == PLAN
        assert database._own is not None
        assert database._own.execute("SHOW statement_timeout").fetchone() == ("5s",)
        rooms.close()
