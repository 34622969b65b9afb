"""What is the same for everybody is given from memory, as it was first given, and nothing else is."""

import asyncio

import pytest

from edge import kept as kept_module
from edge.kept import Kept
from tests.edge import ask
from tests.loops import run_alone
from tests.test_edge import SCRIPT

FOR_EVER = (b"cache-control", b"public, immutable, max-age=31536000")


class App:
    """Answers with the number of the request; notes how often it was asked."""

    def __init__(self, *headers, status=200, size=0):
        self.asked, self.headers, self.status, self.size = 0, headers, status, size

    async def __call__(self, scope, receive, send):
        self.asked += 1
        number = self.asked
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
        await send({"type": "http.response.body", "body": f"{number}".encode(), "more_body": True})
        await send({"type": "http.response.body", "body": bytes(self.size)})


async def get(kept, path, method="GET", takes="", reads=None):
    """The text of an answer. reads: is awaited before each part is taken."""
    body = b""

    async def send(message):
        nonlocal body
        if reads is not None:
            await reads.wait()
        body += message.get("body", b"")

    headers = [(b"accept-encoding", takes.encode())]
    await kept({"type": "http", "method": method, "path": path, "headers": headers}, None, send)
    return body.rstrip(b"\0").decode()


def get_twice(app, path, base="", **asked):
    kept = Kept(app, base)

    async def go():
        return [await get(kept, path, **asked) for _ in range(2)]

    return run_alone(go())


@pytest.mark.parametrize(
    ("app", "path", "base", "same"),
    [
        (App(), "/attention", "", True),
        (App(), "/", "", True),
        (App(), "/course/bert/attention", "course/bert", True),
        (App(), "/attention", "course/bert", False),
        (App(FOR_EVER), "/static/js/index.123.js", "", True),
        (App(), "/static/js/none.js", "", False),
        (App(status=404), "/attention", "", False),
        (App(status=304), "/attention", "", False),
        (App((b"set-cookie", b"a=b")), "/attention", "", False),
        (App(FOR_EVER), "/media/secret.csv", "", False),
        (App(FOR_EVER), "/_stcore/health", "", False),
        (App(FOR_EVER), "/join", "", False),
        (App(FOR_EVER), "/lead", "", False),
        (App(FOR_EVER), "/rooms/abcd", "", False),
        (App(size=1 << 16), "/attention", "", False),
        (App((b"content-length", b"1000000")), "/attention", "", False),
    ],
)
def test_what_everybody_is_given_is_worked_out_once(app, path, base, same):
    assert get_twice(app, path, base) == (["1", "1"] if same else ["1", "2"])


def test_a_form_of_its_own_is_kept_for_who_takes_it_compressed_and_nothing_of_other_methods():
    app = App()
    kept = Kept(app)

    async def go():
        plain, small = await get(kept, "/attention"), await get(kept, "/heads", takes="br, gzip")
        assert (plain, small) == ("1", "2")
        assert (await get(kept, "/heads"), await get(kept, "/attention", takes="gzip")) == (plain, small)
        assert await get(kept, "/attention", method="HEAD") == "3"

    run_alone(go())


def test_who_reads_slowly_keeps_nobody_waiting_and_has_nothing_held_twice():
    app = App()
    kept, reads = Kept(app), asyncio.Event()

    async def go():
        slow = [asyncio.create_task(get(kept, "/attention", reads=reads)) for _ in range(3)]
        await asyncio.sleep(0)
        assert len(kept._noting) == 1  # of one only
        assert await get(kept, "/attention") == "4"
        reads.set()
        assert await asyncio.gather(*slow) == ["1", "2", "3"]
        assert await get(kept, "/attention") == "1" and app.asked == 4

    run_alone(go())


def test_all_that_is_kept_has_a_bound(monkeypatch):
    monkeypatch.setattr(kept_module, "MOST_BYTES", 25_000)
    kept = Kept(App(FOR_EVER, size=9_999))

    async def go():
        for name in ("a", "b", "c"):
            await get(kept, f"/static/{name}.js")
        assert [await get(kept, f"/static/{name}.js") for name in ("a", "b", "c")] == ["1", "2", "4"]

    run_alone(go())


def test_the_page_and_its_files_are_those_of_the_app(server):
    for path in ("/", "/attention", f"/static/js/{SCRIPT}"):
        for takes in ("", "gzip"):
            first, second = (ask(server, path, Accept_Encoding=takes) for _ in range(2))
            names = {name for name in first[1] if name.lower() not in ("date", "set-cookie")}
            assert (first[0], first[2]) == (second[0], second[2]) == (200, first[2])
            assert all(first[1][name] == second[1][name] for name in names)
    mine, yours = (ask(server, "/heads")[1]["Set-Cookie"] for _ in range(2))
    assert "bertviz_visitor=" in mine and mine.partition(";")[0] != yours.partition(";")[0]
