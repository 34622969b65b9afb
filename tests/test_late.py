"""What a page asks for after it was left is passed over; all else is asked for as it is."""

import pytest
from streamlit.proto.ClientState_pb2 import ClientState

from bertviz_core.ui.frame.late import pass_over_late

HEADS, LAYERS = "hash of heads", "hash of layers"


class Session:
    """Notes what it is asked for, and is on the page that it was asked for last, unless that is not drawn yet."""

    def __init__(self, page=""):
        self.asked, self.page_script_hash = [], page

    request = pass_over_late(lambda session, client_state: session.asked.append(client_state))

    def ask(self, page, fragment="", drawn=True):
        before = len(self.asked)
        self.request(ClientState(page_script_hash=page, fragment_id=fragment))
        if drawn and not fragment:
            self.page_script_hash = page
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
    session.page_script_hash = LAYERS
    assert session.ask(LAYERS, "menu") and not session.ask(HEADS, "menu")


def test_the_first_page_is_asked_for_by_its_name():
    session = Session()
    assert session.ask("", drawn=False)
    session.page_script_hash = HEADS
    assert session.ask(HEADS, "menu")


def test_sessions_do_not_share_what_they_left():
    session, other = Session(HEADS), Session(HEADS)
    assert session.ask(LAYERS) and other.ask(HEADS, "menu") and not session.ask(HEADS, "menu")


def test_the_server_that_runs_again_asks_for_no_page():
    session = Session(HEADS)
    session.ask(LAYERS)
    session.request(None)
    assert session.asked[-1] is None and not session.ask(HEADS, "menu")
