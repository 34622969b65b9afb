"""A clock that jumps, a bookmark, two tabs, and a training whose page is loaded again and whose process is killed."""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from served import list_family

from bertviz_core.ui.components.selectors import expand
from rooms.opening import open_rooms
from tests.browser import running, visit
from tests.classes.plans import PLAN
from tests.edge import ask

pytestmark = pytest.mark.rare
DAY_S = 86_400
JUMPY = """
import os, time
plain = time.time
def read():
    try:
        return plain() + float(open(os.environ["JUMP"]).read() or 0)
    except OSError:
        return plain()
time.time = read
"""


@pytest.fixture
def jump(tmp_path, monkeypatch):
    """Sets the clock of the servers that this test starts so many seconds ahead."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(JUMPY)
    monkeypatch.setenv("JUMP", str(tmp_path / "ahead"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("BERTVIZ_ROOMS", str(tmp_path / "rooms.sqlite"))
    return lambda seconds: (tmp_path / "ahead").write_text(str(seconds))


def test_a_server_whose_clock_jumps_answers_pages_and_ends_classes_by_it(chromium, jump, tmp_path):
    rooms = open_rooms(str(tmp_path / "rooms.sqlite"))
    with running(tmp_path) as url, visit(chromium, url, fresh=True) as app:
        app.open("attention")

        def look(seconds, head):
            jump(seconds)
            app.choose("Head", f"Head {head}")
            assert app.query["head"] == str(head)
            return [ask(url, f"/join/{each.code}/state")[0] for each in opened]

        opened = [rooms.open(PLAN, "", 4e9)]
        assert look(0, 2) == [200]
        assert look(2 * DAY_S, 3) == [404], "a room ends within a day"
        opened = [rooms.open(PLAN, "", 4e9)]
        assert look(-2 * DAY_S, 4) == [200], "as seen from there it was opened in two days"
        assert look(0, 1) == [200]


@pytest.mark.rare
def test_a_bookmark_and_a_second_tab_show_what_was_chosen_and_change_nothing_elsewhere(chromium, server):
    with visit(chromium, server) as first:
        first.open("attention", text="The bank of the river was muddy.")
        first.choose("Head", "Head 3")
        first.point(2)
        bookmark, shown = first.page.url, first.shown()
        with visit(chromium, server, fresh=True) as later:
            later.page.goto(bookmark)
            later.settle()
            assert later.shown() == shown
        tab = first.page.context.new_page()
        try:
            tab.goto(bookmark)
            tab.locator("h1").wait_for()
            tab.get_by_role("link", name="Embeddings", exact=True).click()
            tab.wait_for_url("**/embeddings**")
            tab.locator("h1").wait_for()
        finally:
            tab.close()
        assert first.page.url == bookmark and first.shown() == shown
        with first.reloading():
            first.page.reload()
        assert first.page.url == bookmark and first.shown() == shown


@pytest.mark.rare
def test_a_training_survives_a_reload_and_its_process_being_killed(chromium, tmp_path):
    with running(tmp_path) as url, visit(chromium, url, fresh=True) as app:
        app.open("training", passes=600)
        start(app)
        with app.reloading():
            app.page.reload()
        assert not app.find(expand(":--exception")).count()
        start(app)  # the tab that had the other one is gone, and it makes room
        for worker in list_workers():
            os.kill(worker, signal.SIGKILL)
        app.page.get_by_text(re.compile("process that trains|ended|again")).first.wait_for(timeout=30_000)
        assert not app.find(expand(":--exception")).count()
        app.open("attention")
        app.choose("Head", "Head 2")
        app.open("training", passes=600)
        start(app)


def start(app):
    app.page.get_by_role("button", name="Start", exact=True).click()
    app.page.get_by_text(re.compile(r"[1-9]\d* of 1,800 steps")).first.wait_for(timeout=60_000)


def list_workers():
    """The processes that train for the servers that this test process has started."""
    found = []
    for pid in list_family([os.getpid()]):
        with suppress(OSError):
            if b"learning" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found
