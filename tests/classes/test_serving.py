"""What a server answers phones and projectors, and what it refuses: the routes, without the app beside them."""

import asyncio
import json
import re
import secrets
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from edge.classes import LARGEST_SAID
from edge.guard import VISITOR
from rooms import follow, reach, serving
from rooms.opening import open_rooms
from rooms.serving import Serving
from rooms.store import Rooms
from tests.classes.plans import PLAN
from tests.loops import run_alone

ENDS = 4e9


class Class:
    """A room, led over the wire."""

    def __init__(self, web, rooms):
        self.web, self.rooms, opened = web, rooms, rooms.open(PLAN, "", ENDS)
        self.code, self.secret = opened.code, opened.secret
        self.version = 1

    def state(self, secret=None):
        headers = {"Authorization": f"Bearer {self.secret if secret is None else secret}"}
        return self.web.get(f"/lead/{self.code}/state", headers=headers)

    def act(self, act, to=0, secret=None):
        headers = {"Authorization": f"Bearer {self.secret if secret is None else secret}"}
        said = {"do": act, "version": self.version, "to": to}
        answer = self.web.post(f"/lead/{self.code}/act", json=said, headers=headers)
        self.version = answer.json().get("version", self.version)
        return answer

    def enter(self):
        return self.come_in(secrets.token_hex(16)).json()["phone"]

    def come_in(self, visitor=""):
        headers = {"Cookie": f"{VISITOR}={visitor}"} if visitor else {}
        return self.web.post(f"/join/{self.code}/enter", json={}, headers=headers)

    def answer(self, phone, answer, question=0, vote=1):
        said = {"phone": phone, "question": question, "vote": vote, "answer": answer}
        return self.web.post(f"/join/{self.code}/answer", json=said)

    def phone(self):
        return self.web.get(f"/join/{self.code}/state").json()


def test_a_whole_class(room):
    phones = [room.enter() for _ in range(6)]
    assert room.state().json()["phones"] == 6 and "question" not in room.phone()
    room.act("next")
    for i, phone in enumerate(phones):
        assert room.answer(phone, i % 3).json() == {"kept": str(i % 3), "answered": i + 1, "phones": 6}
    told = room.state().json()
    assert (told["answered"], told["stage"], "counts" in told, "told" in told) == (6, "ask", False, False)
    told = room.act("next").json()
    assert (told["stage"], told["counts"]) == ("shown", [2, 2, 2])
    told = room.act("again").json()
    assert (told["vote"], told["answered"]) == (2, 0)
    for phone in phones[:5]:
        room.answer(phone, 2, vote=2)
    room.act("next")
    told = room.act("next").json()
    assert (told["counts"], told["right"], told["first"]) == ([0, 0, 5], 5, 2)
    for _ in range(7):
        told = room.act("next").json()
    assert told["over"] and [row["place"] for row in told["after"]] == [0]
    row = told["after"][0]
    assert (row["right"], row["answers"], row["wrong"], row["times"], row["of"]) == (5, 5, "“do” at position 1", 2, 6)
    table = room.web.get(f"/lead/{room.code}/table", headers={"Authorization": f"Bearer {room.secret}"}).text
    assert "1,Which word,Without which?,“do” at position 4,yes,2,5" in table.splitlines()
    assert room.act("end").json() == {"gone": True}
    assert room.web.get(f"/join/{room.code}/state").status_code == 404


def test_phones_are_told_neither_answers_nor_the_key_before_it_is_told(room):
    phones = [room.enter() for _ in range(6)]
    room.act("next")
    for phone in phones:
        room.answer(phone, 2)
    for _ in range(2):
        told = room.phone()
        assert told.pop("ends") > 0  # any digits may stand in it
        said = json.dumps(told, ensure_ascii=False)
        assert not re.search(r"counts|answered|right|keeps|0\.27|key|second", said), said
        room.act("next")
    told = room.phone()
    assert told["told"]["key"] == 2 and told["told"]["shown"][2] == "0.27 %"
    assert "counts" not in told and "phones" not in told


def test_phones_are_not_told_what_is_for_the_projector(room):
    room.act("next")
    assert room.state().json()["tops"] == [] and "why" not in room.state().json()
    room.act("next")
    assert room.act("next").json()["why"] == PLAN.questions[0].why
    assert not {"tops", "why", "reach", "alone"} & set(room.phone())


def test_who_leads_at_the_machine_is_told_where_phones_find_it_and_nobody_else(rooms, monkeypatch):
    def open_at(client, place="localhost:8501", alone=False):
        app = Starlette(routes=Serving(lambda: rooms, alone=alone).list_routes())
        with TestClient(app, f"http://{place}", client=(client, 50_000)) as web:
            told = Class(web, rooms).state().json()
            return told["reach"], told["alone"]

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))
        own = way.getsockname()[0]
    assert open_at("127.0.0.1") == open_at("::1", "127.0.0.1") == (own, False)
    assert open_at("127.0.0.1", alone=True) == (own, True)
    assert open_at("192.0.2.7") == open_at("192.0.2.7", "class.example") == ("", False)  # whatever name it says
    assert open_at("127.0.0.1", "class.example") == ("", False)  # phones find what the projector does
    monkeypatch.setattr(reach, "_ELSEWHERE", ("127.0.0.2", 9))
    assert open_at("127.0.0.1") == ("", False)  # a machine's own name for itself is none for phones
    monkeypatch.setattr(reach, "_ELSEWHERE", ("not an address", 9))
    assert open_at("127.0.0.1") == ("", False)


def test_few_answers_are_not_shown_before_the_answer_is_told(room):
    phones = [room.enter() for _ in range(5)]
    room.act("next")
    for phone in phones[:4]:
        room.answer(phone, 0)
    assert "counts" not in room.act("bars").json()
    room.act("next")
    assert "counts" not in room.state().json()
    room.act("back")
    room.answer(phones[4], 1)
    assert "counts" not in room.state().json()
    assert room.act("bars").json()["counts"] == [4, 1, 0]
    room.act("next")
    assert room.state().json()["counts"] == [4, 1, 0]
    assert room.act("next").json()["counts"] == [4, 1, 0]


def test_nobody_leads_without_the_secret(room):
    other = Class(room.web, room.rooms)
    for secret in ("", "x" * 22, other.secret, f"{room.secret}x"):
        assert room.state(secret).status_code == 403
        assert room.act("next", secret=secret).status_code == 403
        assert room.act("end", secret=secret).status_code == 403
        table = room.web.get(f"/lead/{room.code}/table", headers={"Authorization": f"Bearer {secret}"})
        assert table.status_code == 403 and "error" in table.json()
    assert room.web.get(f"/lead/{room.code}/state?secret={room.secret}").status_code == 403
    assert room.state().json()["place"] == -1


def test_a_press_on_what_is_no_longer_shown_goes_nowhere(room):
    room.act("next")
    room.version = 1
    refused = room.act("next")
    assert refused.status_code == 409 and "gone on" in refused.json()["error"]
    assert room.state().json()["stage"] == "ask"


WRONG = {
    "no JSON": b"x",
    "a list": b"[]",
    "nothing": b"",
    "nested": b"[" * 900,
    "no phone": b'{"question":0,"vote":1,"answer":0}',
    "a phone that is none": b'{"phone":"x","question":0,"vote":1,"answer":0}',
    "an object for a phone": b'{"phone":{},"question":0,"vote":1,"answer":0}',
    "no numbers": b'{"phone":"AAAAAAAAAAAAAAAAAAAAAA","question":"0","vote":null,"answer":0}',
    "broken text": b'{"phone":"\xff"}',
    "truths for numbers": b'{"phone":"AAAAAAAAAAAAAAAAAAAAAA","question":false,"vote":true,"answer":0}',
    "a huge number": b'{"phone":"AAAAAAAAAAAAAAAAAAAAAA","question":' + b"9" * 200 + b',"vote":1,"answer":0}',
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_what_is_no_message_is_refused_in_a_sentence(room, body):
    room.act("next")
    answer = room.web.post(f"/join/{room.code}/answer", content=body)
    assert 400 <= answer.status_code < 500 and answer.json()["error"].endswith(".")
    headers = {"Authorization": f"Bearer {room.secret}"}
    answer = room.web.post(f"/lead/{room.code}/act", content=body, headers=headers)
    assert 400 <= answer.status_code < 500 and answer.json()["error"].endswith(".")


def test_a_long_message_is_refused(room):
    answer = room.web.post(f"/join/{room.code}/answer", content=b" " * (LARGEST_SAID + 1))
    assert answer.status_code == 413


def test_a_phone_that_answers_too_often_waits(room):
    phone = room.enter()
    room.act("next")
    with ThreadPoolExecutor(30) as pool:
        found = Counter(pool.map(lambda i: room.answer(phone, i % 3).status_code, range(30)))
    assert found[200] >= 15 and found[429] >= 8


def test_a_store_that_does_not_answer_is_said_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")

    with TestClient(Starlette(routes=Serving(lambda: open_rooms(str(tmp_path / "file" / "x"))).list_routes())) as web:
        answer = web.get("/join/AB23/state")
    assert answer.status_code == 503 and "Try again" in answer.json()["error"]


def test_a_store_that_hangs_is_said_in_a_sentence_and_what_waited_for_it_is_left_undone(rooms, monkeypatch):
    code, hangs, asked = rooms.open(PLAN, "", ENDS).code, threading.Event(), []
    read = rooms.read
    monkeypatch.setattr(Rooms, "read", lambda _, code: (asked.append(code), hangs.wait(30), read(code))[2])
    with TestClient(Starlette(routes=Serving(lambda: rooms).list_routes())) as web:
        with monkeypatch.context() as patch, ThreadPoolExecutor(6) as pool:
            patch.setattr(serving, "_CALL_S", 0.2)
            answers = list(pool.map(lambda _: web.get(f"/join/{code}/state"), range(6)))
        hangs.set()
        assert {each.status_code for each in answers} == {503} and "Try again" in answers[0].json()["error"]
        assert web.get(f"/join/{code}/state").json()["code"] == code
    assert len(asked) == 2


def test_a_room_that_is_over_is_taken_out_by_a_server_that_nobody_asks(rooms, monkeypatch):
    monkeypatch.setattr(follow, "LOOK_S", 0.02)
    opened = rooms.open(PLAN, "", ENDS)
    rooms._clock = lambda: ENDS + 1

    @asynccontextmanager
    async def lifespan(_app):
        yield

    classes = Serving(lambda: rooms)
    with TestClient(Starlette(routes=classes.list_routes(), lifespan=classes.keep(lifespan))):
        for _ in range(200):
            with rooms._database.look() as cursor:
                if not cursor.execute("SELECT code FROM rooms").fetchall():
                    return
            time.sleep(0.05)
    raise AssertionError(f"{opened.code} is still there")


def test_who_begins_to_say_something_and_does_not_end_is_refused(room, monkeypatch):
    monkeypatch.setattr(serving, "_SAID_S", 0.1)
    answers = []

    async def receive():
        await asyncio.sleep(30)

    async def send(message):
        answers.append(message)

    path = f"/join/{room.code}/answer"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b"", "client": ("a", 1)}
    run_alone(Starlette(routes=Serving(lambda: room.rooms).list_routes())(scope, receive, send))
    assert answers[0]["status"] == 408 and b"did not come whole" in answers[1]["body"]


FILES = {
    "the phone's page": ("/join/", "text/html", "join.js"),
    "with a code": ("/join/AB23", "text/html", "join.js"),
    "the projector's": ("/lead/AB23", "text/html", "lead.js"),
    "a script": ("/rooms/join.js", "text/javascript", "import"),
    "a style": ("/rooms/rooms.css", "text/css", "--text"),
}


@pytest.mark.parametrize(("path", "kind", "holds"), FILES.values(), ids=FILES)
def test_pages_and_their_files_are_served_and_asked_for_again(web, path, kind, holds):
    first = web.get(path)
    assert first.status_code == 200 and first.headers["content-type"].startswith(kind) and holds in first.text
    again = web.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.text) == (304, "")


def test_no_other_file_is_served(web):
    for name in ("serving.py", "..%2fserving.py", "types.d.ts", "none.js"):
        assert web.get(f"/rooms/{name}").status_code == 404


def test_a_page_for_phones_is_small_and_drawn_as_soon_as_it_has_come(web):
    page = web.get("/join/").text
    assert "--text:" in page and ".answers" in page and 'rel="stylesheet"' not in page
    names, sizes = re.findall(r'"\.\./(rooms/[a-z.]+)"', page), {"page": len(page)}
    while names:
        name = names.pop()
        text = web.get(f"/{name}").text
        sizes[name] = len(text.encode())
        names += [f"rooms/{each}" for each in re.findall(r'from "\./([a-z]+\.js)"', text)]
    assert len(sizes) > 5 and sum(sizes.values()) < 30_000, sizes


@pytest.mark.parametrize("visitor", ["", "made up"])
def test_who_is_no_browser_does_not_fill_a_room(room, visitor):
    told = [room.come_in(visitor).status_code for _ in range(5)]
    assert told == [200, 200, 200, 200, 429]
    assert room.state().json()["phones"] == 4 and room.enter()


def test_a_browser_is_one_phone_which_comes_in_again_at_any_time(room):
    told = [room.come_in("ab" * 16) for _ in range(9)]
    assert {each.status_code for each in told} == {200} and len({each.json()["phone"] for each in told}) == 1
    assert room.state().json()["phones"] == 1
