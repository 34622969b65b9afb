"""What a page says to a visitor who takes more of the server than others can spare."""

from __future__ import annotations

import time
from math import ceil

import streamlit as st

from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.budget import find_allowance, get_budget
from bertviz_core.ui.frame.visitor import read_session, read_visitor

_LOOK_S = 0.2  # between two looks whether the page can go on, or something else was chosen
_ANY = "page"  # a key of the session's state: whichever is read, Streamlit looks for a newer request
_SAY_S = 3.0  # for so long at least a number that is shown stays


def is_admitted() -> bool:
    """Whether this session may run; where its visitor has too many others, the page says so, and can be asked again."""
    session, visitor = read_session(), read_visitor()
    admitted = get_budget().admit(visitor, session)
    if not admitted:
        st.warning(
            f"This browser has {find_allowance(visitor).sessions} pages of this app open already, as many as one "
            "visitor may have. Close one that you do not need, then choose “Try again”.",
            icon=":material/tab:",
        )
        st.button("Try again")
    return admitted


def await_share() -> None:
    """Wait until this session's visitor may run something again, and say so meanwhile. What was chosen is kept."""
    budget, visitor = get_budget(), read_visitor()
    while left := budget.count_wait(visitor):
        with st.spinner(
            f"You are asking for more than your share of this server; this page goes on by itself in {ceil(left)} s …"
        ):
            end = time.monotonic() + min(left, _SAY_S)
            while time.monotonic() < end and budget.count_wait(visitor):
                time.sleep(_LOOK_S)
                state.read(_ANY)  # where the browser has asked for something else, this run ends here
