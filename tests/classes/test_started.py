"""A class is started on the page Learn, whichever part of the page the browser's press has run."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.ui.views import learn_class
from rooms.opening import WHERE
from tests.menus import open_menus

APP = str(Path(__file__).parents[2] / "app.py")


@pytest.fixture
def learn(tmp_path, monkeypatch):
    monkeypatch.setenv(WHERE, str(tmp_path / "rooms.sqlite"))
    learn_class.get_rooms.cache_clear()
    with open_menus("learn-class"):
        at = AppTest.from_file(APP, default_timeout=60).run()
        yield at.switch_page("pages/learn.py").run()
    learn_class.get_rooms.cache_clear()


def read_codes(at):
    assert not at.exception
    return re.findall(r'class="bv-class-code">(\w{4})<', "".join(each.proto.body for each in at.get("html")))


def test_a_press_that_runs_the_whole_page_starts_a_class_and_says_its_code(learn):
    start, again = (f"learn-class-{verb}-{LESSONS[0].name}" for verb in ("start", "again"))
    assert not read_codes(learn)
    learn.button(key=start).click().run()
    (code,) = read_codes(learn)
    assert learn_class.get_rooms().read(code)
    learn.button(key=again).click().run()
    assert not read_codes(learn)
    learn.button(key=start).click().run()
    (other,) = read_codes(learn)
    assert other != code


def test_the_code_of_a_class_that_has_ended_is_not_shown(learn):
    learn.button(key=f"learn-class-start-{LESSONS[0].name}").click().run()
    (code,) = read_codes(learn)
    opened = learn.session_state["learn-classes"][LESSONS[0].name]
    learn_class.get_rooms().end(code, opened.secret)
    assert not read_codes(learn.run())
    assert learn.button(key=f"learn-class-start-{LESSONS[0].name}")


@pytest.mark.parametrize("offset", [None, 0, -840, 720, 2**31 - 1, -(2**31)])
def test_a_class_ends_with_the_day_of_who_opens_it_whatever_their_browser_says_of_the_time(offset, monkeypatch):
    monkeypatch.setattr(learn_class, "st", SimpleNamespace(context=SimpleNamespace(timezone_offset=offset)))
    left = learn_class.find_midnight() - datetime.now(UTC)
    assert timedelta(minutes=59) < left < timedelta(hours=25)
