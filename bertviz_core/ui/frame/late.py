"""What a page asks for after it was left."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from bertviz_core.ui.frame.streamlit_inside import AppSession, ClientState, Request, read_page_hash, wrap_requests


def pass_over_late_requests() -> None:
    """Have the server pass over what parts of a page ask for once its session has asked for another page.

    A menu that closes because of a click beside it, on a link, asks for a run of its own right behind the link's.
    Streamlit would answer after the new page, and name the old one: the browser would then show neither.
    """
    wrap_requests(pass_over_late)


def pass_over_late(request: Request) -> Request:
    """The request without those of fragments of other pages than the one that the session is on, or on its way to."""
    ways: WeakKeyDictionary[AppSession, tuple[str, str]] = WeakKeyDictionary()  # where it was, and what it asked for

    def request_unless_late(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None:
            page, now = client_state.page_script_hash, read_page_hash(session)
            before, asked = ways.get(session, (now, ""))
            if not client_state.fragment_id:  # a page that is asked for by its name has no hash yet
                ways[session] = now, page
            elif (asked if now == before else now) not in ("", page):
                return
        request(session, client_state)

    return request_unless_late
