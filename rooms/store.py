"""Where rooms are kept: a small table for each of rooms, phones and answers, in SQLite or PostgreSQL.

All processes of a server share one store, and nothing of a room is kept anywhere else for longer than it takes to
answer. What a room's phones sent is counted and never listed: of an answer the store holds which phone's it is, by a
hash of a random number that the phone was given, so that each phone has one.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from rooms.codes import hide, make_code, make_secret, name_phone
from rooms.course import Course, begin, read_course
from rooms.database import Cursor, Database
from rooms.errors import RefusedError
from rooms.places import find_spare, list_held, list_idle
from rooms.plan import Plan, read_plan

MOST_ROOMS, MOST_OF_ONE = 300, 12  # of all, and of one visitor who opens them; all who have no name are one
MOST_OF_ADDRESS = 75  # of all who come from there, whatever names they make up
MOST_PHONES = 500  # in a room
MOST_FROM_ADDRESS = MOST_PHONES * 3 // 4  # of these from one, behind which a whole class may sit: others find room
LONGEST_S = 24 * 3600.0
_TRIES = 20  # codes, until a free one is found
_PLANS = 100  # that a process remembers, more than one address can have it read in turn
NO_ROOM = "There is no class with this code. It may have ended; look at the board again."
FULL = "The room is full."
FULL_HERE = "As many phones have come in from your address as may come from one."
LOCKED = "The class has been locked: ask your teacher to let you in."

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS rooms (code TEXT PRIMARY KEY, secret TEXT NOT NULL, opener TEXT NOT NULL, "
    "ends DOUBLE PRECISION NOT NULL, version INTEGER NOT NULL, course TEXT NOT NULL, plan TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS phones (code TEXT NOT NULL, phone TEXT NOT NULL, PRIMARY KEY (code, phone))",
    "CREATE TABLE IF NOT EXISTS answers (code TEXT NOT NULL, question INTEGER NOT NULL, vote INTEGER NOT NULL, "
    "phone TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (code, question, vote, phone))",
    "CREATE TABLE IF NOT EXISTS sources (code TEXT PRIMARY KEY, address TEXT NOT NULL, "
    "opened DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS entries (code TEXT NOT NULL, address TEXT NOT NULL, phones INTEGER NOT NULL, "
    "PRIMARY KEY (code, address))",
    "CREATE TABLE IF NOT EXISTS led (code TEXT PRIMARY KEY, seen DOUBLE PRECISION NOT NULL)",
)
TABLES = ("answers", "phones", "entries", "sources", "led", "rooms")

Votes = Mapping[tuple[int, int], Mapping[str, int]]  # by question and vote, how often each answer was given


@dataclass(frozen=True)
class Room:
    """A room as it is now. version: goes up by one with each act of who leads."""

    code: str
    plan: Plan
    course: Course
    version: int
    ends: float


@dataclass(frozen=True)
class Opened:
    """A new room, and the secret of who leads it, which nobody else is told."""

    code: str
    secret: str


class Rooms:
    """All rooms. Every method may wait for the database, and for other processes that write."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock
        self._plans: OrderedDict[str, Plan] = OrderedDict()  # by secret, which no two rooms share
        self._led = dict[str, float]()  # when rooms were last led here, by code, until that is noted
        database.prepare(SCHEMA)

    def open(self, plan: Plan, opener: str, ends: float, address: str = "") -> Opened:
        """Open a room. opener, address: who does and from where, which are kept as hashes; ends: when it does, in
        seconds since 1970.

        Raises RefusedError where there are too many.
        """
        self.sweep()
        secret, now, text, by, at = make_secret(), self._clock(), plan.write(), hide(opener), hide(address)
        with self._database.transact() as cursor:
            self._make_place(cursor, by, at)
            course, ends = begin(len(plan.questions)).write(), min(ends, now + LONGEST_S)
            for _ in range(_TRIES):
                code = make_code()
                cursor.execute(
                    "INSERT INTO rooms VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING",
                    (code, hide(secret), by, ends, course, text),
                )
                if cursor.rowcount == 1:
                    cursor.execute("INSERT INTO sources VALUES (?, ?, ?)", (code, at, now))
                    return Opened(code, secret)
        raise RefusedError("No code for a class is free. Try again.", 503)

    def _make_place(self, cursor: Cursor, by: str, at: str) -> None:
        """For one more room. Where there are all that there may be of this visitor, of this address, or of all, one of
        these gives way. Raises RefusedError where all of them are in use.
        """
        held, now = list_held(cursor), self._clock()
        own, near = [each for each in held if each.opener == by], [each for each in held if each.address == at]
        for rooms, most, refusal in (
            (own, MOST_OF_ONE, f"You lead {len(own)} classes: end one before you start another."),
            (near, MOST_OF_ADDRESS, f"From your address {len(near)} classes are led: try again in two minutes."),
            (held, MOST_ROOMS, f"This server has {len(held)} classes that are led: try again in two minutes."),
        ):
            if len(rooms) < most:
                continue
            spare = find_spare(rooms, now)
            if spare is None:
                raise RefusedError(refusal, 429)
            _take_out(cursor, spare)
            return

    def read(self, code: str) -> Room:
        """A room. Raises RefusedError where there is none."""
        with self._database.look() as cursor:
            return self._read(cursor, code)

    def read_versions(self, codes: Collection[str]) -> dict[str, int]:
        """The versions of those rooms that there are."""
        marks = ", ".join("?" * len(codes))
        with self._database.look() as cursor:
            cursor.execute(
                f"SELECT code, version FROM rooms WHERE code IN ({marks}) AND ends > ?", (*codes, self._clock())
            )
            return dict(cursor.fetchall())

    def look(self, code: str, secret: str) -> tuple[Room, int, Votes]:
        """A room as who leads it sees it: how many phones are in it, and its answers. Raises RefusedError."""
        with self._database.look() as cursor:
            room = self._lead(cursor, code, secret)
            return room, *_count_all(cursor, code)

    def move(self, code: str, secret: str, version: int, change: Callable[[Course], Course]) -> tuple[Room, int, Votes]:
        """Go on, from the version that was seen: of two who lead, or press twice, one does. As `look` afterwards."""
        with self._database.transact() as cursor:
            room = self._lead(cursor, code, secret, self._database.alone)
            if room.version != version:
                raise RefusedError("The room has gone on meanwhile. The screen now shows where it is.")
            course = change(room.course)
            cursor.execute(
                "UPDATE rooms SET course = ?, version = ? WHERE code = ?", (course.write(), version + 1, code)
            )
            moved = Room(code, room.plan, course, version + 1, room.ends)
            return moved, *_count_all(cursor, code)

    def enter(self, code: str, address: str = "", visitor: str = "") -> str:
        """Let a phone in; its number, which it keeps. address: where it comes from, of which is counted how many have;
        visitor: whose it is, who has one number in a room, however often they come in.

        Raises RefusedError where it cannot come in.
        """
        at = hide(address)
        with self._database.transact() as cursor:
            phone = self._name_phone(cursor, code, visitor)
            if _is_in(cursor, code, phone):
                return phone
            if self._read(cursor, code, self._database.share).course.locked:
                raise RefusedError(LOCKED, 403)
            if _count(cursor, "SELECT COUNT(*) FROM phones WHERE code = ?", code) >= MOST_PHONES:
                raise RefusedError(FULL, 403)
            told = "SELECT phones FROM entries WHERE code = ? AND address = ?"
            if _count(cursor, told, code, at) >= MOST_FROM_ADDRESS:
                raise RefusedError(FULL_HERE, 403)
            cursor.execute(
                "INSERT INTO entries VALUES (?, ?, 1) "
                "ON CONFLICT (code, address) DO UPDATE SET phones = entries.phones + 1",
                (code, at),
            )
            cursor.execute("INSERT INTO phones VALUES (?, ?)", (code, hide(phone)))
        return phone

    def find_phone(self, code: str, visitor: str) -> str:
        """The number of a visitor's phone in a room, "" as long as it has not come in. Raises RefusedError where there
        is no such room."""
        with self._database.look() as cursor:
            self._read(cursor, code)
            phone = self._name_phone(cursor, code, visitor) if visitor else ""
            return phone if phone and _is_in(cursor, code, phone) else ""

    def answer(self, code: str, phone: str, at: tuple[int, int], answer: object) -> tuple[str, int, int]:
        """Keep a phone's answer in place of what it answered before; the answer as it is kept, how many have answered
        by now, and how many phones there are.

        at: the question and the vote that it is for. Raises RefusedError where it is not asked.
        """
        with self._database.transact() as cursor:
            room = self._read(cursor, code, self._database.share)
            if not _is_in(cursor, code, phone):
                raise RefusedError("Join the class again, with the code on the board.", 403)
            if not room.course.open or at != (room.course.place, room.course.vote):
                raise RefusedError("This question is over. The answer was not counted.")
            kept = room.plan.questions[at[0]].read(answer)
            if kept is None:
                raise RefusedError("That is no answer to this question.", 400)
            cursor.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (code, question, vote, phone) DO UPDATE SET answer = excluded.answer",
                (code, *at, hide(phone), kept),
            )
            told = "SELECT COUNT(*) FROM answers WHERE code = ? AND question = ? AND vote = ?"
            phones = _count(cursor, "SELECT COUNT(*) FROM phones WHERE code = ?", code)
            return kept, _count(cursor, told, code, *at), phones

    def count(self, code: str) -> tuple[int, Votes]:
        """How many phones are in a room, and its answers."""
        with self._database.look() as cursor:
            return _count_all(cursor, code)

    def end(self, code: str, secret: str) -> None:
        """End a room for who leads it, and take all of it out of the store. Raises RefusedError."""
        with self._database.transact() as cursor:
            self._lead(cursor, code, secret, self._database.alone)
            _take_out(cursor, code)
        self._database.tidy()

    def note_led(self) -> None:
        """Note which rooms are led here, where other processes see it. Who leads asks each second, and waits for nobody
        who writes.
        """
        led, self._led = self._led, {}
        if not led:
            return
        with self._database.transact() as cursor:
            for code, seen in led.items():
                cursor.execute(
                    "INSERT INTO led SELECT code, ? FROM rooms WHERE code = ? "
                    "ON CONFLICT (code) DO UPDATE SET seen = excluded.seen",
                    (seen, code),
                )

    def sweep(self) -> None:
        """Take rooms out whose time is over, and those that nobody uses."""
        self.note_led()
        with self._database.look() as cursor:
            over = self._list_over(cursor)
        if not over:
            return
        with self._database.transact() as cursor:
            for code in self._list_over(cursor):  # by now somebody may have come
                _take_out(cursor, code)
        self._database.tidy()

    def _list_over(self, cursor: Cursor) -> set[str]:
        now = self._clock()
        cursor.execute("SELECT code FROM rooms WHERE ends <= ?", (now,))
        return {code for (code,) in cursor.fetchall()}.union(list_idle(list_held(cursor), now))

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    @staticmethod
    def _name_phone(cursor: Cursor, code: str, visitor: str) -> str:
        cursor.execute("SELECT secret FROM rooms WHERE code = ?", (code,))
        found = cursor.fetchone()
        return name_phone(str(found[0]), visitor) if visitor and found else make_secret()

    def _lead(self, cursor: Cursor, code: str, secret: str, held: str = "") -> Room:
        """A room, for who leads it."""
        room = self._read(cursor, code, held)
        cursor.execute("SELECT 1 FROM rooms WHERE code = ? AND secret = ?", (code, hide(secret)))
        if cursor.fetchone() is None:
            raise RefusedError("Only who has opened this class can lead it. Open it by its own link again.", 403)
        self._led[code] = self._clock()
        return room

    def _read(self, cursor: Cursor, code: str, held: str = "") -> Room:
        cursor.execute(
            f"SELECT secret, ends, version, course FROM rooms WHERE code = ? AND ends > ?{held}",
            (code, self._clock()),
        )
        found = cursor.fetchone()
        if found is None:
            raise RefusedError(NO_ROOM, 404)
        secret, ends, version, course = found
        return Room(code, self._read_plan(cursor, code, secret), read_course(course), version, ends)

    def _read_plan(self, cursor: Cursor, code: str, secret: str) -> Plan:
        """The plan, which stays the same: taken apart once."""
        if secret not in self._plans:
            cursor.execute("SELECT plan FROM rooms WHERE code = ?", (code,))
            row = cursor.fetchone()
            assert row is not None  # it was there in this transaction
            self._plans[secret] = read_plan(row[0])
            while len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
        return self._plans[secret]


def _is_in(cursor: Cursor, code: str, phone: str) -> bool:
    """Whether a phone has come into a room."""
    cursor.execute("SELECT 1 FROM phones WHERE code = ? AND phone = ?", (code, hide(phone)))
    return cursor.fetchone() is not None


def _count(cursor: Cursor, query: str, *given: object) -> int:
    row = cursor.execute(query, given).fetchone()
    return int(row[0]) if row else 0


def _take_out(cursor: Cursor, code: str) -> None:
    for table in TABLES:
        cursor.execute(f"DELETE FROM {table} WHERE code = ?", (code,))


def _count_all(cursor: Cursor, code: str) -> tuple[int, Votes]:
    phones = _count(cursor, "SELECT COUNT(*) FROM phones WHERE code = ?", code)
    cursor.execute(
        "SELECT question, vote, answer, COUNT(*) FROM answers WHERE code = ? GROUP BY question, vote, answer", (code,)
    )
    votes: dict[tuple[int, int], Counter[str]] = {}
    for question, vote, answer, times in cursor.fetchall():
        votes.setdefault((question, vote), Counter())[answer] = times
    return phones, votes
