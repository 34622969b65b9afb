"""Which number the page asks about: a logit of the chosen token, alone or less another one."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis.attribution import Question
from bertviz_core.analysis.targets import list_rivals, list_targets, name_target, read_target
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import ORIGIN_OF, Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.worked_parts import find_part

INSTEAD = Key("instead", "")  # the address of another number of the same head, which is taken off


def read_question(view: View) -> Question:
    """The number that the URL asks about, at first the likeliest word; and the one that is taken off, if any."""
    trace, token = view.trace, view.chosen.token
    offered = list_targets(trace, token)
    url.bind(ORIGIN_OF, usual=str(offered[0]))
    url.bind(INSTEAD)
    target = read_target(trace, token, state.read(ORIGIN_OF))
    if target is None:
        target = offered[0]
    _settle(ORIGIN_OF, str(target))
    against = read_target(trace, token, state.read(INSTEAD)) if state.read(INSTEAD) else None
    if against is None or against.path != target.path or against == target:
        against = None
    _settle(INSTEAD, "" if against is None else str(against))
    return Question(target, against)


def name_kind(question: Question) -> str:
    """What is taken apart: a lead, a logit, or another number."""
    return "lead" if question.against else "number" if "hidden" in question.target.at else "logit"


def pick_part(question: Question, leaf: str, more: str) -> str:
    """One address for many parts of the number, as the browser completes it: `…[token=8,vocab=7,source={x}]`."""
    where = str(find_part(question, leaf))
    return f"{where.rstrip(']')},{more}]"


def _settle(key: Key[str], text: str) -> None:
    """Let a widget that is drawn later say this; one that is drawn says it already."""
    if state.read(key) != text:
        state.write(key, text)


def show_choosers(view: View, question: Question) -> None:
    """Which number, and whether another one is taken off."""
    trace, offered = view.trace, list_targets(view.trace, view.chosen.token)
    rivals = list_rivals(question.target, offered)
    names = {str(cell): name_target(trace, cell) for cell in [*offered, question.target]}
    with st.container(horizontal=True, vertical_alignment="center", key="origin-choosers"):
        st.selectbox(
            "The number",
            list(names),
            key=ORIGIN_OF.name,
            format_func=names.__getitem__,
            label_visibility="collapsed",
            width=230,
        )
        if rivals:
            rival = question.against or rivals[0]
            st.segmented_control(
                "By itself, or instead of another",
                ["", str(rival)],
                key=INSTEAD.name,
                format_func=lambda text: f"instead of {name_target(trace, rival)}" if text else "this one",
                required=True,
                label_visibility="collapsed",
            )
