"""What the URL says: the one module that reads and writes it.

The URL is the truth: whatever decides what is on screen stands in it, unless it has its usual value. A run begins by
taking the URL where it was not this session that wrote it (a link, Back, a hand), and ends by writing it, so that each
choice is one step of the browser's history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from bertviz_core.formula.address import Where
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import COMMON, FIXED, OPEN, UNDRAWN, WALK, Key
from bertviz_core.ui.frame.packing import pack, read_as, unpack, write_value
from bertviz_core.ui.frame.streamlit_inside import is_history_navigation
from bertviz_core.ui.frame.walked import read_explained, stays_at

T = TypeVar("T")
Says = Mapping[str, str]  # parameters and their texts

_COMMON: Mapping[str, Key[Any]] = {key.name: key for key in COMMON}
_PAGE = Key("url-page", "")  # the page that is run
_SAYS: Key[Says | None] = Key("url-says", None)  # what it says, as it was last taken or written
_SAID: Key[Says | None] = Key("url-said", None)  # what it said before that was written
_LINKED: Key[Mapping[str, Says]] = Key("url-linked", {})  # what links said, by page
_BOUND: Key[Mapping[str, Key[Any]]] = Key("url-bound", {})  # the widgets that stand in it, with their usual values
_OWN: Key[Mapping[str, tuple[Key[Any], ...]]] = Key("url-own", {})  # those of them that are a page's own, by page
_LEFT: Key[Says] = Key("url-left", {})  # what it says to widgets that have not been drawn yet
_UNREAD: Key[Says] = Key("url-unread", {})  # what it says to the widgets of a page that cannot be run
_KEPT: Key[Mapping[Key[Any], object]] = Key("url-kept", {})  # what these said when it was last written
_CHOSE = Key("url-chose", False)  # whether somebody has just chosen something here
_TAKEN = Key("url-taken", False)  # whether it has just been taken


def follow_history() -> None:
    """Go where Back or Forward led, first of all, before the run waits for anything: it may be broken off for another.

    Their message says of every widget what that showed elsewhere; what was taken for a choice by that is none.
    """
    if is_history_navigation():
        _take(dict(st.query_params.items()))
        state.write(_CHOSE, False)
        state.write(_TAKEN, True)


def _take(says: Says) -> None:
    """What the URL says, and nothing else, is chosen."""
    state.take(_SAYS)  # a run can be broken off at every line here: the next one then takes it all anew
    for key in (*_COMMON.values(), *state.read(_BOUND).values()):
        state.take(key)
    state.take(_KEPT)
    for name, text in says.items():
        if name in _COMMON:
            state.write(_COMMON[name], unpack(text))
    state.write(_LEFT, _drop_common(says))
    state.write(_SAID, None)
    state.write(_SAYS, says)


def _drop_common(says: Says) -> Says:
    return {name: text for name, text in says.items() if name not in _COMMON}


def begin_run(page: str) -> None:
    """Take what the URL says, where it was not this session that wrote it. page: the one that it asks for."""
    says = dict(st.query_params.items())
    chose, taken = state.take(_CHOSE), state.take(_TAKEN)
    came = state.read(_PAGE) != page
    linked = came and says == state.read(_LINKED).get(page)
    written = says in (state.read(_SAYS), state.read(_SAID))  # here, if the browser may not know the newest yet
    if not state.holds(_SAYS) or not (taken or chose or linked or written):
        _take(says)
    elif came and not taken:
        for key in _list_left_behind(page, read_explained()):
            state.write(key, key.usual)
    for key in UNDRAWN:
        if not state.holds(key):
            state.write(key, key.usual)
    _keep_undrawn()
    state.write(_SAYS, says)
    state.write(_PAGE, page)
    state.write(_UNREAD, {})
    state.write(_OWN, {**state.read(_OWN), page: ()})


def _keep_undrawn() -> None:
    """Hold what widgets say that are not drawn on this page: the session would forget it.

    It has, where a part of the page ran by itself before another page was asked for.
    """
    kept = state.read(_KEPT)
    for key in state.read(_BOUND).values():
        if state.holds(key) or key in kept:
            state.keep(key, kept.get(key))


def bind(key: Key[T], options: Collection[T] = (), usual: T | None = None) -> None:
    """Let a widget that is drawn next, of this key, stand in the URL, unless it has its usual value.

    options: what else than that it may be, if not anything of its type: a text, a whole number or a truth value; usual:
    where it is another one here than the key's.
    """
    own = state.read(_OWN)
    page, usual = state.read(_PAGE), key.usual if usual is None else usual
    bound = state.read(_BOUND)
    if key.name not in bound or bound[key.name].usual != usual:
        state.write(_BOUND, {**bound, key.name: replace(key, usual=usual)})
    if key not in (*COMMON, *own[page]):
        state.write(_OWN, {**own, page: (*own[page], key)})
    left = state.read(_LEFT)
    if key.name in left:
        state.write(key, read_as(usual, unpack(left[key.name])[: key.longest]))
        state.write(_LEFT, {name: text for name, text in left.items() if name != key.name})
    if not state.holds(key) or (options and state.read(key) not in options):
        state.write(key, usual)


def keep_unread() -> None:
    """The page cannot be run: the URL keeps what it says to its widgets."""
    state.write(_UNREAD, _drop_common(state.read(_SAYS) or {}))


def publish() -> None:
    """Write the URL, if it says anything else than what is on screen: a step of the browser's history."""
    says, said = list_query(), dict(st.query_params.items())
    if says != said:
        state.write(_SAID, said)
        st.query_params.from_dict(says)
    state.write(_SAYS, says)
    state.write(_CHOSE, False)
    state.write(_KEPT, {key: state.read(key) for key in state.read(_BOUND).values() if state.holds(key)})


def list_query() -> dict[str, str]:
    """What the URL has to say."""
    own = state.read(_OWN).get(state.read(_PAGE), ())
    return {**state.read(_UNREAD), **_say((*_COMMON.values(), *own))}


def list_queries(pages: Collection[str]) -> dict[str, dict[str, str]]:
    """What links to pages have to say, by page."""
    common, explained, own, here = _say(_COMMON.values()), read_explained(), state.read(_OWN), state.read(_PAGE)
    queries: dict[str, dict[str, str]] = {}
    for page in pages:
        says = {**(state.read(_UNREAD) if page == here else {}), **common, **_say(own.get(page, ()))}
        left = () if page == here else [key.name for key in _list_left_behind(page, explained)]
        queries[page] = {name: text for name, text in says.items() if name not in left}
    state.write(_LINKED, {**state.read(_LINKED), **queries})
    return queries


def _say(keys: Iterable[Key[Any]]) -> dict[str, str]:
    """What a URL says of these: nothing, where they are as usual."""
    bound, before = state.read(_BOUND), state.read(_SAYS) or {}
    says: dict[str, str] = {}
    for key in keys:
        value = state.find(key)
        usual = bound[key.name].usual if key.name in bound else ""
        if value not in (None, "" if key in FIXED and key.name in before else usual):  # what is fixed stays there
            says[key.name] = pack(write_value(value)[: key.longest])  # no more than is read of it
    return says


def _list_left_behind(page: str, explained: Where | None) -> tuple[Key[str], ...]:
    """What does not go along to a page: the open folds, and the number explained if that page is not about it."""
    return (OPEN,) if stays_at(page, explained) else (OPEN, WALK)


def read_page() -> str:
    """The name of the page that is run."""
    return state.read(_PAGE)


def note_choice() -> None:
    """A widget was used: what it says counts, whatever the URL says that the browser sent along."""
    state.write(_CHOSE, True)


def choose_named(name: str, text: str) -> None:
    """Set what the URL names, as it has it: something that a page has bound, or a position."""
    known = {**{key.name: key for key in UNDRAWN}, **state.read(_BOUND)}
    if name in known:
        state.write(known[name], read_as(known[name].usual, text[: known[name].longest]))
        note_choice()
