"""What a session remembers, and what its URL says: the one module that touches either. All others ask it, by verbs.

The URL is the truth: whatever decides what is on screen stands in it, unless it has its usual value. A run begins by
taking the URL where it was not this session that wrote it (a link, Back, a hand), and ends by writing it, so that each
choice is one step of the browser's history.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import streamlit as st

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import read_address
from bertviz_core.ui.frame.packing import FIXED, pack, read_as, unpack, write_value
from bertviz_core.ui.frame.streamlit_inside import is_history_navigation, keep_undrawn

if TYPE_CHECKING:
    from bertviz_core.ui.frame.view import View

_LONGEST_WALK = 80  # steps that a link may hold
_LONGEST_FIELD = 200  # characters of a widget that its page allows no more
_STEP = "~"
_OF_TOKENS = ("token", "key_token", "mask", "window")  # positions: they mean nothing once there are other tokens
_VIEW, _CHANGES, _SHOW, _WALK, _OPEN, _AGAIN = "view", "changes", "show", "walk", "open", "again"
_AGAINST = "against"
_TRAINING = "training"  # the page that alone can tell of the numbers of its steps
# What stands in the URL of every page. Positions, layer and head are text, empty where a rule chooses them.
# No widget has the first ones as its key.
_UNDRAWN = ("mask", _CHANGES, _AGAINST, "layer", "head", "token", "key_token", _WALK, _OPEN)
_COMMON = ("text", "pair", "model", "pad", _SHOW, "formulas", *_UNDRAWN)
# What is remembered about the URL: what it says, as it was last taken or written; what it said before that was written;
# what links said; on which page; the usual values; which parameters each page has of its own; whether somebody has just
# chosen something here; whether it has just been taken.
_SAYS, _LINKED, _PAGE, _USUAL, _OWN, _CHOSE = "url-says", "url-linked", "url-page", "url-usual", "url-own", "url-chose"
_SAID, _TAKEN = "url-said", "url-taken"
_LEFT = "url-left"  # what it says to widgets that have not been drawn yet
_UNREAD = "url-unread"  # what it says to the widgets of a page that cannot be run
_KEPT = "url-kept"  # what all widgets that stand in it said when it was last written


# The URL.


def follow_history() -> None:
    """Go where Back or Forward led, first of all, before the run waits for anything: it may be broken off for another.

    Their message says of every widget what that showed elsewhere; what was taken for a choice by that is none.
    """
    if is_history_navigation():
        _take(dict(st.query_params.items()))
        st.session_state.update({_CHOSE: False, _TAKEN: True})


def _take(says: dict[str, str]) -> None:
    """What the URL says, and nothing else, is chosen."""
    session = st.session_state
    session.pop(_SAYS, None)  # a run can be broken off at every line here: the next one then takes it all anew
    for key in (*_COMMON, *session.get(_USUAL, {}), _KEPT):
        session.pop(key, None)
    session.update({key: unpack(text) for key, text in says.items() if key in _COMMON})
    session.update({_LEFT: {key: text for key, text in says.items() if key not in _COMMON}, _SAID: None, _SAYS: says})


def begin_run(page: str) -> None:
    """Take what the URL says, where it was not this session that wrote it. page: the one that it asks for."""
    session, says = st.session_state, dict(st.query_params.items())
    chose, taken = session.pop(_CHOSE, False), session.pop(_TAKEN, False)
    came = session.get(_PAGE) != page
    linked = came and says == session.get(_LINKED, {}).get(page)
    written = says in (session.get(_SAYS), session.get(_SAID))  # here, if the browser may not know the newest yet
    if _SAYS not in session or not (taken or chose or linked or written):
        _take(says)
    elif came and not taken:
        session[_OPEN] = ""
        if not _goes_along(page):
            session[_WALK] = ""
    for key in _UNDRAWN:
        session.setdefault(key, "")
    kept = session.get(_KEPT, {})
    # Of widgets that are not drawn on this page: the session would forget them. It has, where a part of the page ran by
    # itself before another page was asked for.
    for key in session.get(_USUAL, {}):
        if key in session or key in kept:
            keep_undrawn(session, key, kept.get(key))
    session[_SAYS], session[_PAGE], session[_UNREAD] = says, page, {}
    session.setdefault(_OWN, {})[page] = []


def bind(key: str, usual: Any, options: Collection[Any] = (), longest: int = _LONGEST_FIELD) -> None:
    """Let a widget that is drawn next, of this key, stand in the URL, unless it has its usual value.

    usual: a text, a whole number or a truth value; options: what else than that it may be, if not anything of its type;
    longest: the characters that are read of it, whoever wrote the URL.
    """
    session = st.session_state
    session.setdefault(_USUAL, {})[key] = usual
    own = session[_OWN][session[_PAGE]]
    if key not in _COMMON and key not in own:
        own.append(key)
    if key in session[_LEFT]:
        session[key] = read_as(usual, unpack(session[_LEFT].pop(key))[:longest])
    if key not in session or (options and session[key] not in options):
        session[key] = usual


def keep_unread() -> None:
    """The page cannot be run: the URL keeps what it says to its widgets."""
    session = st.session_state
    session[_UNREAD] = {key: text for key, text in session[_SAYS].items() if key not in _COMMON}


def publish() -> None:
    """Write the URL, if it says anything else than what is on screen: a step of the browser's history."""
    session, says, said = st.session_state, list_query(), dict(st.query_params.items())
    if says != said:
        session[_SAID] = said
        st.query_params.from_dict(says)
    kept = {key: session[key] for key in session.get(_USUAL, {}) if key in session}
    session.update({_SAYS: says, _CHOSE: False, _KEPT: kept})


def list_query(page: str = "") -> dict[str, str]:
    """What the URL has to say; of another page, what a link to that has to."""
    session = st.session_state
    here = page in ("", session.get(_PAGE))
    own = session.get(_OWN, {}).get(page or session.get(_PAGE), ())
    stays = () if here else (_OPEN,) if _goes_along(page) else (_OPEN, _WALK)
    common = [key for key in _COMMON if key not in stays]
    usual = {**session.get(_USUAL, {}), **{key: "" for key in FIXED if key in session.get(_SAYS, {})}}  # it stays there
    chosen = {key: pack(write_value(value)) for key in (*common, *own)
              if (value := session.get(key)) not in (None, usual.get(key, ""))}  # fmt: skip
    says = {**session.get(_UNREAD, {}), **chosen} if here else chosen
    if page:
        session.setdefault(_LINKED, {})[page] = says
    return says


def read_page() -> str:
    """The name of the page that is run."""
    return st.session_state.get(_PAGE, "")


# What is run, and the place in it that is looked at.


def use_sentence(text: str, pair: str = "") -> None:
    """Run another sentence, or pair of sentences."""
    st.session_state.update(text=text, pair=pair)
    forget_tokens()


def forget_tokens() -> None:
    """There are other tokens: nothing is chosen or masked among them."""
    _choose(**dict.fromkeys(_OF_TOKENS, ""))


def choose_model(name: str, against: str = "") -> None:
    """Run another model. against: the one that its passes are compared with, if any."""
    _choose(model=name, against=against)
    forget_tokens()


def read_against() -> str:
    """The model that is compared with; "" for none."""
    return st.session_state.get(_AGAINST, "")


def compare_no_more() -> None:
    _choose(against="")


def choose_head(layer: int, head: int) -> None:
    """Look at another head. The number that is explained is then the same one of that head."""
    _choose(layer=str(layer), head=str(head))
    for text in read_walk()[-1:]:
        with suppress(AddressError):
            open_drawer([read_address(text).move(layer, head)])


def choose_token(position: int) -> None:
    """Look at another token, of the same head."""
    view = read_view()
    if view is not None:
        _choose(layer=str(view.chosen.layer), head=str(view.chosen.head))
    _choose(token=str(position), window="")


def go(place: Mapping[str, str | int]) -> None:
    """Look elsewhere, in one step of the browser's history. place: by the URL's names; a layer has its head with it."""
    if "layer" in place:
        choose_head(int(place["layer"]), int(place["head"]))
    _choose(**place)


def choose(key: str, text: str) -> None:
    """Set what the URL names by a key: something that a page has bound, or a position."""
    usual = {**dict.fromkeys(_UNDRAWN, ""), **st.session_state.get(_USUAL, {})}
    if key in usual:
        _choose(**{key: read_as(usual[key], text if key in _COMMON else text[:_LONGEST_FIELD])})


def note_choice() -> None:
    """A widget was used: what it says counts, whatever the URL says that the browser sent along."""
    st.session_state[_CHOSE] = True


def _choose(**what: Any) -> None:
    st.session_state.update(what)
    note_choice()


# The changes of a what-if, as one line of text.


def read_changes() -> str:
    return st.session_state.get(_CHANGES, "")


def use_changes(line: str, *, from_fragment: bool = False) -> None:
    """Run the pass with these changes. from_fragment: only a part of the page runs; `rerun_if_asked` runs the rest."""
    _choose(changes=line)
    if from_fragment:
        ask_for_rerun()


def ask_for_rerun() -> None:
    """Of the whole page, in the function that is called for a widget of a fragment."""
    st.session_state[_AGAIN] = True


def rerun_if_asked() -> None:
    """To stand at the top of a fragment whose widgets change more than that."""
    if st.session_state.pop(_AGAIN, False):
        st.rerun()


def read_shown() -> str | None:
    """Which pass the panels show, as asked for; the control stands below what needs to know."""
    return st.session_state.get(_SHOW)


# The drawer: one number explained, and the walk that led to it.


def read_walk() -> tuple[str, ...]:
    """The cells walked through, as text; none where the drawer is closed."""
    way = st.session_state.get(_WALK, "")
    return tuple(way.split(_STEP))[:_LONGEST_WALK] if way else ()


def find_other_page(cell: str) -> str:
    """The page that alone can tell of a cell, if that is another one than this; else ""."""
    return "" if _is_told_on(st.session_state.get(_PAGE, ""), cell) else _TRAINING


def _goes_along(page: str) -> bool:
    """Whether the drawer stays open on the way to a page."""
    return all(_is_told_on(page, cell) for cell in read_walk()[-1:])


def _is_told_on(page: str, cell: str) -> bool:
    with suppress(AddressError):
        return page == _TRAINING or not read_address(cell).of_training
    return True


def open_drawer(way: Sequence[object]) -> None:
    """Explain the last of these cells, addresses or text; no cells close the drawer."""
    _choose(walk=_STEP.join(map(str, way)))


# What the app hands to the page that it runs.


def keep_view(view: View) -> None:
    st.session_state[_VIEW] = view


def read_view() -> View | None:
    """What the page draws from; None on a deep link into a server that has just started."""
    return st.session_state.get(_VIEW)


# Widgets and components.


def read(key: str, default: Any = None) -> Any:
    """A widget's value, or what else is remembered under a key."""
    return st.session_state.get(key, default)


def write(key: str, value: Any) -> None:
    """Set a widget that is drawn later in this run or in the next one, or remember something else."""
    st.session_state[key] = value


def take(key: str, default: Any = None) -> Any:
    """`read`, and forget it."""
    return st.session_state.pop(key, default)


def on_event(component: str, name: str, act: Callable[[Any], object]) -> Callable[[], None]:
    """The function to be called for an event of a component of ours: it acts on what was sent.

    What a component sends while the page that it stands on is left arrives when it is gone; that is forgotten.
    """

    def take_event() -> None:
        sent = st.session_state.get(component)
        if sent is not None:
            act(sent[name])

    return take_event


def read_event(component: str, name: str) -> Any:
    """What a component that stands on every page, or a widget, has just sent, in the function that is called for it."""
    return st.session_state[component][name]
