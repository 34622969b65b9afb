"""Which visitor a session belongs to, and who pays for what it takes."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from bertviz_core.ui.frame.streamlit_inside import read_cookies, read_remote, read_session
from edge.pace import name_network

COOKIE = "bertviz_visitor"  # a random name, which the server gives a browser with the first page
NOBODY = ""  # all sessions without that are one visitor together
_LONGEST = 200  # characters of a name
_AT = "at "  # before an address, where that pays


class _Work(threading.local):
    """For which session this thread works, that runs no page."""

    session: str = ""


_WORK = _Work()


@contextmanager
def work_for(session: str) -> Generator[None]:
    """To stand in a thread that runs no page around what it does for a session."""
    _WORK.session = session
    try:
        yield
    finally:
        _WORK.session = ""


def read_visitor(session: str = "") -> str:
    """The visitor of a session, without one of that for which the calling thread works; may be NOBODY."""
    session = session or read_session() or _WORK.session
    return name_visitor(read_cookies(session)) if session else NOBODY


def read_payer(session: str = "") -> str:
    """To whom is charged what a session takes: its visitor, or the address that it comes from where that is NOBODY."""
    return name_payer(read_visitor(session), read_network(session))


def read_network(session: str = "") -> str:
    """What counts as the one address that a session comes from, without one that for which the calling thread works;
    "" where nobody says.
    """
    session = session or read_session() or _WORK.session
    return name_network(read_remote(session)) if session else ""


def name_visitor(cookies: Mapping[str, object]) -> str:
    """The visitor by what its browser sent along."""
    name = cookies.get(COOKIE, NOBODY)
    return name if isinstance(name, str) and len(name) <= _LONGEST and not name.startswith(_AT) else NOBODY


def name_payer(visitor: str, network: str) -> str:
    """To whom is charged what a visitor takes that comes from an address."""
    return visitor if visitor != NOBODY else f"{_AT}{network}"


def is_nameless(payer: str) -> bool:
    """Whether this is an address, or NOBODY."""
    return payer == NOBODY or payer.startswith(_AT)
