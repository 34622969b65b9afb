"""What the store of classes keeps, counts and lets go of, in SQLite and in PostgreSQL."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rooms import places, store
from rooms.codes import LETTERS, is_code
from rooms.course import FEWEST, go
from rooms.errors import RefusedError
from rooms.plan import LARGEST, Plan
from rooms.store import MOST_OF_ONE, NO_ROOM, TABLES, Rooms
from tests.classes.plans import PLAN, open_database

START = 1_000_000.0


class Clock:
    now = START

    def __call__(self):
        return self.now


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def connect(request, tmp_path_factory):
    with open_database(request.param, tmp_path_factory.mktemp("database")) as connect:
        yield connect


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rooms(connect, clock):
    database = connect()
    made = Rooms(database, clock)
    yield made
    with database.transact() as cursor:
        for table in TABLES:
            cursor.execute(f"DELETE FROM {table}")


SECRETS = {}  # of the rooms that were opened here, by code


def open_room(rooms, opener="", ends=START + 3600, address=""):
    opened = rooms.open(PLAN, opener, ends, address)
    SECRETS[opened.code] = opened.secret
    return opened


def move(rooms, code, *acts):
    for act in acts:
        room = rooms.read(code)
        rooms.move(code, SECRETS[code], room.version, lambda course, act=act: go(course, act))
    return rooms.read(code)


def test_a_code_can_be_read_aloud():
    assert not set("01OIL") & set(LETTERS) and len(set(LETTERS)) == len(LETTERS)
    assert all(is_code(store.make_code()) for _ in range(100))
    assert not any(map(is_code, ("", "ABC", "ABCDE", "abcd", "AB0D", "ABC\n", "ABC ")))


def test_a_room_is_read_as_it_was_opened_and_by_nobody_without_its_code(rooms):
    code = open_room(rooms).code
    room = rooms.read(code)
    assert (room.plan, room.version, room.course.place) == (PLAN, 1, -1)
    other = next(each for each in ("ZZZZ", "YYYY") if each != code)
    for asked in (other, code.lower(), "", "x' OR '1'='1"):
        with pytest.raises(RefusedError, match=NO_ROOM):
            rooms.read(asked)


def test_only_who_opened_a_room_leads_it(rooms):
    first, second = open_room(rooms), open_room(rooms)
    assert rooms.look(first.code, first.secret) == (rooms.read(first.code), 0, {})
    for secret in ("", second.secret, first.secret[:-1], first.secret.swapcase()):
        given = (first.code, secret)
        for lead in (rooms.look, rooms.end, lambda *given: rooms.move(*given, 1, lambda course: go(course, "next"))):
            with pytest.raises(RefusedError) as refused:
                lead(*given)
            assert refused.value.status == 403
    assert rooms.read(first.code).version == 1


def test_of_two_who_lead_one_goes_on(rooms):
    code = open_room(rooms).code
    rooms.move(code, SECRETS[code], 1, lambda course: go(course, "next"))
    with pytest.raises(RefusedError, match="gone on meanwhile"):
        rooms.move(code, SECRETS[code], 1, lambda course: go(course, "next"))
    assert rooms.read(code).course.place == 0


def test_an_act_that_is_refused_changes_nothing(rooms):
    code = open_room(rooms).code
    with pytest.raises(RefusedError):
        rooms.move(code, SECRETS[code], 1, lambda course: go(course, "back"))
    assert rooms.read(code).version == 1


def test_a_phone_has_one_answer_to_each_vote_the_last_one(rooms):
    code = open_room(rooms).code
    move(rooms, code, "next")
    phones = [rooms.enter(code) for _ in range(3)]
    for phone, answer in zip((*phones, phones[0], phones[0]), (0, 2, 2, 1, 2), strict=True):
        assert rooms.answer(code, phone, (0, 1), answer)[0] == str(answer)
    assert rooms.count(code) == (3, {(0, 1): {"2": 3}})
    move(rooms, code, "next", "again")
    rooms.answer(code, phones[1], (0, 2), 1)
    assert rooms.count(code)[1] == {(0, 1): {"2": 3}, (0, 2): {"1": 1}}


def test_answers_are_taken_only_to_what_is_asked(rooms):
    code = open_room(rooms).code
    phone = rooms.enter(code)
    with pytest.raises(RefusedError, match="not counted"):
        rooms.answer(code, phone, (0, 1), 0)  # in the lobby
    move(rooms, code, "next")
    for at in ((0, 2), (1, 1), (-1, 0)):
        with pytest.raises(RefusedError, match="not counted"):
            rooms.answer(code, phone, at, 0)
    move(rooms, code, "next")
    with pytest.raises(RefusedError, match="not counted"):
        rooms.answer(code, phone, (0, 1), 0)
    assert rooms.count(code) == (1, {})


def test_nobody_answers_for_another_phone_or_in_another_room(rooms):
    first, second = open_room(rooms).code, open_room(rooms).code
    phone = rooms.enter(first)
    for code in (first, second):
        move(rooms, code, "next")
    with pytest.raises(RefusedError, match="Join"):
        rooms.answer(second, phone, (0, 1), 0)
    with pytest.raises(RefusedError, match="Join"):
        rooms.answer(first, phone[:-1] + ("A" if phone[-1] != "A" else "B"), (0, 1), 0)
    assert rooms.count(first)[1] == rooms.count(second)[1] == {}


def test_what_is_no_answer_is_not_kept(rooms):
    code = open_room(rooms).code
    move(rooms, code, "next")
    phone = rooms.enter(code)
    for answer in (3, -1, "0", None, True, [0], "x" * 900):
        with pytest.raises(RefusedError, match="no answer"):
            rooms.answer(code, phone, (0, 1), answer)
    assert rooms.count(code)[1] == {}


def test_a_locked_room_lets_nobody_else_in_and_hears_who_is_in(rooms):
    code = open_room(rooms).code
    phone = rooms.enter(code)
    move(rooms, code, "lock", "next")
    with pytest.raises(RefusedError, match="locked"):
        rooms.enter(code)
    rooms.answer(code, phone, (0, 1), 0)
    move(rooms, code, "lock")
    rooms.enter(code)
    assert rooms.count(code) == (2, {(0, 1): {"0": 1}})


def lead(rooms, *codes):
    for code in codes:
        rooms.look(code, SECRETS[code])
    rooms.note_led()


def test_the_store_cannot_be_filled(rooms, monkeypatch):
    monkeypatch.setattr(store, "MOST_PHONES", 3)
    monkeypatch.setattr(store, "MOST_ROOMS", MOST_OF_ONE + 2)
    code = open_room(rooms).code
    for _ in range(3):
        rooms.enter(code)
    with pytest.raises(RefusedError, match="full"):
        rooms.enter(code)
    for _ in range(MOST_OF_ONE):
        open_room(rooms, "somebody")
    with pytest.raises(RefusedError, match="You lead"):
        open_room(rooms, "somebody")
    open_room(rooms, "somebody else")
    with pytest.raises(RefusedError, match="This server has"):
        open_room(rooms, "a third one")
    with pytest.raises(RefusedError, match="too long"):
        rooms.open(Plan("x" * LARGEST, "", ()), "", START + 1)


def test_who_makes_up_names_leaves_rooms_to_who_comes_from_elsewhere(rooms, monkeypatch):
    monkeypatch.setattr(store, "MOST_OF_ADDRESS", 4)
    made_up = [open_room(rooms, f"made up {i}", address="a stranger's") for i in range(4)]
    with pytest.raises(RefusedError, match="From your address"):
        open_room(rooms, "made up 5", address="a stranger's")
    open_room(rooms, "a teacher", address="a school's")
    rooms.end(made_up[0].code, made_up[0].secret)
    open_room(rooms, "made up 6", address="a stranger's")


def test_a_program_at_a_schools_address_keeps_no_teacher_from_starting_a_class(rooms, clock, monkeypatch):
    monkeypatch.setattr(store, "MOST_OF_ADDRESS", 8)
    lesson = open_room(rooms, "a teacher", address="the school's").code
    lead(rooms, lesson)
    for _ in range(FEWEST):
        rooms.enter(lesson)
    alike = {"unseen": [], "led": [], "with a phone": [], "with phones, and never led": []}
    for how, codes in alike.items():
        for i in range(20):
            clock.now += places.LOBBY_S / 6
            code = open_room(rooms, f"made up {i}", address="the school's").code
            codes.append(code)
            if how in ("led", "with a phone"):
                lead(rooms, *(each for each in codes if is_open(rooms, each)))
            for _ in range({"with a phone": 1, "with phones, and never led": FEWEST + 2}.get(how, 0)):
                rooms.enter(code)
        clock.now += places.LOBBY_S / 6
        lobby = open_room(rooms, "another teacher", address="the school's").code
        lead(rooms, lobby)
        for i in range(5):  # until the students come
            clock.now += places.LOBBY_S / 6
            codes.append(open_room(rooms, f"made up {i}", address="the school's").code)
            lead(rooms, lobby, lesson)
        assert is_open(rooms, lobby) and is_open(rooms, lesson), how
        rooms.end(lobby, SECRETS[lobby])


def test_where_all_rooms_are_open_one_that_nobody_uses_gives_way(rooms, clock, monkeypatch):
    monkeypatch.setattr(store, "MOST_ROOMS", 7)
    school = {"opener": "a teacher", "address": "a school's"}
    lesson, left, prepared = [open_room(rooms, ends=START + 1e5, **school).code for _ in range(3)]
    strange = [open_room(rooms, f"made up {i}", START + 1e5, "a stranger's").code for i in range(4)]
    paired, led, *unseen = strange
    unseen.sort()  # opened at the same moment
    for code, phones in ((lesson, FEWEST), (left, FEWEST), (paired, 1)):
        for _ in range(phones):
            rooms.enter(code)
    lead(rooms, left, prepared)
    with pytest.raises(RefusedError, match="This server has"):
        open_room(rooms, address="another school's")
    for seconds in (places.LEFT_S - places.LOBBY_S, places.LOBBY_S, 1):
        clock.now += seconds
        lead(rooms, lesson, paired, led)
    for gone in (*unseen, prepared, left, led, paired):
        new = open_room(rooms, "", START + 1e5, "another school's").code
        lead(rooms, new)
        assert not is_open(rooms, gone), (gone, unseen, prepared, left, led, paired)
    with pytest.raises(RefusedError, match="This server has"):
        open_room(rooms, address="another school's")
    assert is_open(rooms, lesson)


def test_a_room_that_nobody_uses_is_over_before_its_day(rooms, clock):
    left, led, came = [open_room(rooms, ends=START + 1e5).code for _ in range(3)]
    rooms.enter(came)
    clock.now += places.IDLE_S - 1
    lead(rooms, led)
    rooms.sweep()
    assert is_open(rooms, left)
    clock.now += 2
    rooms.sweep()
    assert [is_open(rooms, code) for code in (left, led, came)] == [False, True, True]


def is_open(rooms, code):
    return code in rooms.read_versions([code])


def test_who_reads_waits_for_nobody_who_writes(connect, rooms):
    opened = open_room(rooms)
    other = connect()
    with other.transact() as cursor:
        cursor.execute("UPDATE rooms SET version = 9 WHERE code = ?", (opened.code,))
        assert rooms.read(opened.code).version == rooms.read_versions([opened.code])[opened.code] == 1
        assert rooms.look(opened.code, opened.secret)[1:] == (0, {})
    assert rooms.read(opened.code).version == 9


def test_a_room_ends_with_its_day_or_after_a_day_and_leaves_nothing(rooms, clock):
    short, long = open_room(rooms), open_room(rooms, ends=START + 1e9)
    phone = rooms.enter(short.code)
    move(rooms, short.code, "next")
    rooms.answer(short.code, phone, (0, 1), 0)
    clock.now = START + 3601
    with pytest.raises(RefusedError, match=NO_ROOM):
        rooms.read(short.code)
    with pytest.raises(RefusedError, match=NO_ROOM):
        rooms.answer(short.code, phone, (0, 1), 1)
    assert rooms.read_versions([short.code, long.code]) == {long.code: 1}
    rooms.sweep()
    assert rooms.count(short.code) == (0, {})
    clock.now = START + 24 * 3600 + 1
    with pytest.raises(RefusedError, match=NO_ROOM):
        rooms.read(long.code)


def test_nothing_of_a_room_that_ended_stands_in_the_files(tmp_path):
    with open_database("sqlite", tmp_path) as connect:
        rooms = Rooms(connect())
        opened = open_room(rooms, "somebody", 4e9, "192.0.2.7")
        move(rooms, opened.code, "next", "next", "next", "next", "next", "next", "next")
        phone = rooms.enter(opened.code)
        rooms.answer(opened.code, phone, (2, 1), "271828")
        kept = [each.read_bytes() for each in (tmp_path / "kept").iterdir()]
        assert any(b"271828" in each for each in kept) and any(b"Which word" in each for each in kept)
        assert not any(
            secret.encode() in each for each in kept for secret in (opened.secret, phone, "somebody", "192.0.2.7")
        )
        rooms.end(opened.code, opened.secret)
        kept = [each.read_bytes() for each in (tmp_path / "kept").iterdir()]
        assert not any(part in each for each in kept for part in (b"271828", b"Which word", opened.code.encode()))


def test_two_processes_count_all_answers_once(connect, rooms):
    code = open_room(rooms).code
    other = Rooms(connect(), rooms._clock)
    move(rooms, code, "next")
    phones = [rooms.enter(code) for _ in range(24)]

    def answer(i):
        (rooms, other)[i % 2].answer(code, phones[i], (0, 1), i % 3)
        (other, rooms)[i % 2].answer(code, phones[i], (0, 1), i % 3)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(answer, range(24)))
    assert rooms.count(code) == other.count(code) == (24, {(0, 1): {"0": 8, "1": 8, "2": 8}})


def test_no_answer_is_counted_after_the_answers_are_shown(connect, rooms):
    code = open_room(rooms).code
    other = Rooms(connect(), rooms._clock)
    move(rooms, code, "next")
    phones = [rooms.enter(code) for _ in range(40)]
    counted, begun = [], threading.Event()

    def answer(phone):
        try:
            other.answer(code, phone, (0, 1), 0)
        except RefusedError:
            return
        counted.append(phone)
        begun.set()

    with ThreadPoolExecutor(4) as pool:
        answering = [pool.submit(answer, phone) for phone in phones]
        begun.wait(10)
        rooms.move(code, SECRETS[code], 2, lambda course: go(course, "next"))
        shown = rooms.count(code)
        for each in answering:
            each.result()
    assert rooms.count(code) == shown == (40, {(0, 1): {"0": len(counted)}})
