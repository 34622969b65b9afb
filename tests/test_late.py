"""What a page asks for after it was left is passed over; all else is asked for as it is."""

import asyncio
from contextlib import suppress

import pytest
from lines import dial
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.pages_manager import PagesManager
from wire import Conversation

from bertviz_core.ui.frame.late import pass_over_late
from tests.browser import running
from tests.loops import run_alone

HEADS, LAYERS = "hash of heads", "hash of layers"
SLOW_APP = """
import time
import streamlit as st
from bertviz_core.ui.frame.late import pass_over_late_requests

pass_over_late_requests()


def show_first():
    st.title("First")


def show_slow():
    part()
    time.sleep(1.0)
    st.title("Drawn")


@st.fragment
def part():
    st.markdown("pressed" if st.button("Press") else "waits")


pages = [st.Page(show_first, url_path="first"), st.Page(show_slow, url_path="slow")]
st.navigation(pages, position="hidden").run()
"""


class Session:
    """Notes what it is asked for, and is on the page that it was asked for last, unless that is not drawn yet."""

    def __init__(self, page=""):
        self.asked, self._pages_manager = [], PagesManager("app.py")
        self.go(page)

    request = pass_over_late(lambda session, client_state: session.asked.append(client_state))

    def go(self, page):
        self._pages_manager.set_current_page_script_hash(page)

    def ask(self, page, fragment="", drawn=True):
        before = len(self.asked)
        self.request(ClientState(page_script_hash=page, fragment_id=fragment))
        if drawn and not fragment:
            self.go(page)
        return len(self.asked) > before


@pytest.mark.parametrize("drawn", [True, False])
def test_a_fragment_of_a_page_that_was_left_is_passed_over(drawn):
    session = Session(HEADS)
    assert session.ask(HEADS) and session.ask(HEADS, "menu")
    assert session.ask(LAYERS, drawn=drawn) and not session.ask(HEADS, "menu") and session.ask(LAYERS, "menu")


def test_who_comes_back_to_a_page_can_use_it():
    session = Session(HEADS)
    assert session.ask(LAYERS) and session.ask(HEADS)
    assert session.ask(HEADS, "menu") and not session.ask(LAYERS, "menu")


@pytest.mark.parametrize("drawn", [True, False])
def test_who_asks_for_the_new_page_again_has_left_the_old_one_all_the_same(drawn):
    session = Session(HEADS)
    assert session.ask(LAYERS, drawn=drawn) and session.ask(LAYERS, drawn=drawn)
    assert not session.ask(HEADS, "menu") and session.ask(LAYERS, "menu")


def test_a_page_that_the_script_switched_to_can_be_used():
    session = Session(HEADS)
    assert session.ask(HEADS)
    session.go(LAYERS)
    assert session.ask(LAYERS, "menu") and not session.ask(HEADS, "menu")


def test_the_first_page_is_asked_for_by_its_name():
    session = Session()
    assert session.ask("", drawn=False)
    session.go(HEADS)
    assert session.ask(HEADS, "menu")


def test_sessions_do_not_share_what_they_left():
    session, other = Session(HEADS), Session(HEADS)
    assert session.ask(LAYERS) and other.ask(HEADS, "menu") and not session.ask(HEADS, "menu")


def test_the_server_that_runs_again_asks_for_no_page():
    session = Session(HEADS)
    session.ask(LAYERS)
    session.request(None)
    assert session.asked[-1] is None and not session.ask(HEADS, "menu")


@pytest.mark.rare
def test_what_a_part_asks_for_while_its_page_is_first_drawn_is_answered(tmp_path):
    """A page that was opened by its own address passed it over in silence until it was whole."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW_APP, encoding="utf-8")
    with running(tmp_path, str(script)) as url:
        run_alone(press_while_drawn(url))  # what passes over stands there from the first run on
        assert run_alone(press_while_drawn(url)) == ["pressed", "Drawn"]


async def press_while_drawn(url):
    """What stands on the page at the end, of which a button was pressed as soon as it was there."""
    line, talk = await dial(url, {}), Conversation()
    await line.send(talk.open("slow"))
    with suppress(TimeoutError):
        async with asyncio.timeout(10.0):
            while "Press" not in talk.buttons:
                talk.take(await line.recv(decode=False))
            assert "Drawn" not in talk.list_texts()
            await line.send(talk.press("Press"))
            while "pressed" not in talk.list_texts():
                talk.take(await line.recv(decode=False))
    await line.close()
    return talk.list_texts()
