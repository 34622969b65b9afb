"""What a page asks for after it was left is passed over; all else is asked for as it is."""

import inspect

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from bertviz_core.ui.frame.late import pass_over_late, pass_over_late_requests

HEADS, LAYERS = "hash of heads", "hash of layers"


class Session:
    """Notes what it is asked for."""

    def __init__(self):
        self.asked = []

    request = pass_over_late(lambda session, client_state: session.asked.append(client_state))

    def ask(self, page, fragment=""):
        before = len(self.asked)
        self.request(ClientState(page_script_hash=page, fragment_id=fragment))
        return len(self.asked) > before


@pytest.fixture
def session():
    return Session()


def test_a_fragment_of_a_page_that_was_left_is_passed_over(session):
    assert session.ask(HEADS) and session.ask(HEADS, "menu")
    assert session.ask(LAYERS) and not session.ask(HEADS, "menu") and session.ask(LAYERS, "menu")
    assert session.ask(HEADS) and session.ask(HEADS, "menu") and not session.ask(LAYERS, "menu")


def test_a_page_that_was_asked_for_by_its_name_is_any_page(session):
    assert session.ask("") and session.ask(HEADS, "menu")
    assert session.ask(LAYERS) and session.ask("") and session.ask(HEADS, "menu")


def test_sessions_do_not_share_what_they_asked_for(session):
    assert session.ask(LAYERS) and Session().ask(HEADS, "menu") and not session.ask(HEADS, "menu")


def test_the_server_that_runs_again_asks_for_no_page(session):
    session.ask(LAYERS)
    session.request(None)
    assert session.asked[-1] is None and not session.ask(HEADS, "menu")


def test_streamlits_own_request_is_wrapped_once(monkeypatch):
    plain = inspect.unwrap(AppSession.request_rerun)
    monkeypatch.setattr(AppSession, "request_rerun", plain)
    assert list(inspect.signature(plain).parameters) == ["self", "client_state"]
    for _ in range(2):
        pass_over_late_requests()
        assert AppSession.request_rerun.__wrapped__ is plain
