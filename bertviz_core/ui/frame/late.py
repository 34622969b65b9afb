"""What a page asks for after it was left."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from weakref import WeakKeyDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

Request = Callable[..., None]  # of a session, by what its browser says of itself


def pass_over_late_requests() -> None:
    """Have the server pass over what parts of a page ask for once its session has asked for another page.

    A menu that closes because of a click beside it, on a link, asks for a run of its own right behind the link's.
    Streamlit would answer after the new page, and name the old one: the browser would then show neither.
    """
    if not hasattr(AppSession.request_rerun, "__wrapped__"):
        AppSession.request_rerun = pass_over_late(AppSession.request_rerun)


def pass_over_late(request: Request) -> Request:
    """The request without those of fragments of other pages than the one that the session is on, or on its way to."""
    ways: WeakKeyDictionary[AppSession, tuple[str, str]] = WeakKeyDictionary()  # where it was, and what it asked for

    @wraps(request)
    def request_unless_late(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None:
            page, now = client_state.page_script_hash, session.page_script_hash
            before, asked = ways.get(session, (now, ""))
            if not client_state.fragment_id:  # a page that is asked for by its name has no hash yet
                ways[session] = now, page
            elif (asked if now == before else now) not in ("", page):
                return
        request(session, client_state)

    return request_unless_late
