"""Which visitor a session belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

COOKIE = "bertviz_visitor"  # a random name, which the server gives a browser with the first page
NOBODY = ""  # all sessions without that are one visitor together
_LONGEST = 200  # characters of a name


def read_session() -> str:
    """The session for which the calling thread runs a page; "" for none."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def read_visitor(session: str = "") -> str:
    """The visitor of a session, without one of that for which the calling thread runs a page; may be NOBODY."""
    session = session or read_session()
    if not session or not runtime.exists():
        return NOBODY
    client = runtime.get_instance().get_client(session)
    context = client.client_context if client else None
    return name_visitor(context.cookies) if context else NOBODY


def name_visitor(cookies: Mapping[str, str]) -> str:
    """The visitor by what its browser sent along."""
    name = cookies.get(COOKIE, NOBODY)
    return name if isinstance(name, str) and len(name) <= _LONGEST else NOBODY
