"""What a page says to a visitor who takes more of the server than others can spare."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from math import ceil

import streamlit as st

from bertviz_core.errors import InputError
from bertviz_core.sharing.line import Line
from bertviz_core.sharing.memory import read_budget
from bertviz_core.ui.frame.budget import Budget, find_allowance, get_budget
from bertviz_core.ui.frame.streamlit_inside import end_if_superseded, read_session
from bertviz_core.ui.frame.visitor import NOBODY, read_payer, read_visitor

_LOOK_S = 0.2  # between two looks whether the page can go on, or something else was chosen
_SAY_S = 3.0  # for so long at least a number that is shown stays


def is_admitted() -> bool:
    """Whether this session may run; where its visitor has too many others, the page says so, and can be asked again."""
    session, visitor = read_session(), read_visitor()
    most = count_places(visitor)
    admitted = get_budget().admit(visitor, session, most)
    if not admitted:
        st.warning(
            f"This browser has {most} pages of this app open already, as many as one visitor may have. Close one that "
            "you do not need, then choose “Try again”."
            if visitor != NOBODY
            else f"{most} pages of this app are open in browsers that send no cookie, as many as these may have "
            "together. Allow this site its cookie and load the page again, or choose “Try again” later.",
            icon=":material/tab:",
        )
        st.button("Try again")
    return admitted


def count_places(visitor: str) -> int:
    """How many sessions of a visitor may run. All without a name together have half of the server's room at most."""
    most = find_allowance(visitor).sessions
    if visitor == NOBODY:
        with suppress(InputError):  # what is wrong with the setting the page says
            most = min(most, read_budget().bounds.visits // 2)
    return most


@contextmanager
def share(line: Line) -> Generator[None]:
    """A turn of the line for this session's run, once its visitor may run something; a page says so while it waits.

    Of those of one visitor who waited together, the first to have their turns take what there is; others wait on.
    """
    budget, payer = get_budget(), read_payer()
    while True:
        _await_share(budget, payer)
        with line.turn():
            if not budget.count_wait(payer):
                yield
                return


def _await_share(budget: Budget, payer: str) -> None:
    """Wait until who pays may run something again. What was chosen is kept."""
    with budget.wait(read_session()):
        while left := budget.count_wait(payer):
            told = "You are asking for more than your share of this server; this page goes on by itself in"
            with st.spinner(f"{told} {ceil(left)} s …"):
                end = time.monotonic() + min(left, _SAY_S)
                while time.monotonic() < end and budget.count_wait(payer):
                    time.sleep(_LOOK_S)
                    end_if_superseded()
