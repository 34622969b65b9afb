"""What Streamlit does in each run and what costs less another way, with the same result: nothing that is seen changes.

As in streamlit_inside.py, every function says why it is needed, and which public thing would do instead, and the names
are looked for in the installed version by a test.
"""

# Private names are what this module is for.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from functools import lru_cache, partial, wraps
from threading import Lock
from typing import Any

from streamlit.cursor import Cursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements import html
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent, get_script_run_ctx
from streamlit.runtime.state import SessionStateProxy
from streamlit.runtime.state.safe_session_state import SafeSessionState

from bertviz_core.ui.frame.streamlit_inside import wrap_once

_NOTHING = object()
Callback = Callable[[], None]
Handle = Callable[..., None]  # a session's method that takes an event of a run
HandOver = Callable[[AppSession, Callback], None]  # to the server's loop, which calls it later


def cut_costs() -> None:
    """Have all of it stand where Streamlit's own stands."""
    copy_places_by_fields()
    hand_over_together()
    look_up_single_keys()
    look_through_once()


# Where a page is drawn.


def copy_places_by_fields() -> None:
    """Have the places where a page is drawn copied by their fields, each of them once.

    Streamlit copies all that are open for each part of a page that can run by itself: by Python's general way, and what
    several of them share once more for each. That is a sixteenth of a run. Instead: that it copies what changes.
    """
    copies: dict[type, Callable[..., object]] = {Cursor: _copy_cursor, DeltaGenerator: _copy_generator}
    for owner, copies_it in copies.items():
        setattr(owner, "__deepcopy__", copies_it)  # noqa: B010 - the one has none, and the other's has other names


def _copy_cursor(cursor: Cursor, memo: dict[int, Any]) -> Cursor:
    """Where the next element stands: what changes in it is a number and a list, which is nearly always empty."""
    copied, said = copy(cursor), cursor._transient_elements
    copied._transient_elements = deepcopy(said, memo) if len(said) else type(said)()
    return copied


def _copy_generator(place: DeltaGenerator, memo: dict[int, Any]) -> DeltaGenerator:
    """What Streamlit's own copy has, but that what was copied already is not copied again."""
    cursor, parent = deepcopy(place._cursor, memo), deepcopy(place._parent, memo)
    copied = DeltaGenerator(place._root_container, cursor, parent, place._block_type)
    copied._form_data = deepcopy(place._form_data, memo)
    copied._creating_fragment_id = place._creating_fragment_id
    return copied


# What a run says to the server's loop.


def hand_over_together() -> None:
    """Have the server's loop woken once for what a run says until it wakes, and not for every message.

    Each wakes it by a byte in a pipe, and for that lets go of Python's lock; a page is 150 messages. Instead: that a
    run hands over what it has said since the loop looked last.
    """
    wrap_once(AppSession, "_call_soon_on_event_loop", _gather)
    wrap_once(AppSession, "_handle_scriptrunner_event_on_event_loop", _take_message)


def _take_message(handle: Handle) -> Handle:
    """A message is put into the browser's queue at once: Streamlit first looks whether it is any of the other events,
    and whether by it the run has begun or ended."""

    def take_message(
        session: AppSession,
        sender: ScriptRunner | None,
        event: ScriptRunnerEvent,
        forward_msg: ForwardMsg | None = None,
        *more: Any,
    ) -> None:
        if event is ScriptRunnerEvent.ENQUEUE_FORWARD_MSG and forward_msg is not None:
            if sender is session._scriptrunner:
                session._enqueue_forward_msg(forward_msg)
        else:
            handle(session, sender, event, forward_msg, *more)

    return take_message


def _gather(hand_over: HandOver) -> HandOver:
    waiting: dict[AppSession, list[Callback]] = {}
    lock = Lock()

    def gather(session: AppSession, callback: Callback) -> None:
        with lock:
            first = session not in waiting
            waiting.setdefault(session, []).append(callback)
        if first:
            hand_over(session, partial(take, session))

    def take(session: AppSession) -> None:
        with lock:
            said = waiting.pop(session)
        for callback in said:  # by the loop itself: where one fails the others are called nevertheless
            session._event_loop.call_soon(callback)

    return gather


# What a widget looks up.


def look_up_single_keys() -> None:
    """Have a widget look only for its own key in the session's state.

    Streamlit makes a copy of the whole for each text field and each menu, to see whether that widget's value is None:
    a twentieth of a run. Instead: that it asks for that key.
    """
    plain = SafeSessionState.filtered_state
    if isinstance(plain, property) and plain.fget is not None and not hasattr(plain.fget, "__wrapped__"):
        setattr(SafeSessionState, "filtered_state", property(_look_up(plain.fget)))  # noqa: B010


def _look_up(list_all: Callable[[SafeSessionState], dict[str, Any]]) -> Callable[[SafeSessionState], Mapping[str, Any]]:
    @wraps(list_all)
    def look_up(state: SafeSessionState) -> Mapping[str, Any]:
        return _Keys(state, list_all)

    return look_up


class _Keys(Mapping[str, Any]):
    """The state by its keys; all of it is put together only for whoever goes through it."""

    def __init__(self, state: SafeSessionState, list_all: Callable[[SafeSessionState], dict[str, Any]]) -> None:
        self._state, self._list_all = state, list_all

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._list_all(self._state))

    def __len__(self) -> int:
        return len(self._list_all(self._state))


# What is looked through.


def look_through_once() -> None:
    """Have HTML of one line not looked through for what its lines are indented by, nor HTML that begins with something
    else than a style sheet for whether it holds anything else: of the app's own sheet that takes a thirtieth of a run.

    Instead: a call for a style sheet, and one that leaves HTML as it is.
    """
    wrap_once(html, "clean_text", _strip_lines)
    wrap_once(html, "_html_only_style_tags", _look_at_begin)


def _strip_lines(clean: Callable[[object], str]) -> Callable[[object], str]:
    def strip_lines(text: object) -> str:
        return text.strip() if isinstance(text, str) and "\n" not in text else clean(text)

    return strip_lines


def _look_at_begin(look_through: Callable[[str], bool]) -> Callable[[str], bool]:
    look_through_few = lru_cache(maxsize=4)(look_through)  # the app's sheet, with and without the drawer's place

    def look_at_begin(text: str) -> bool:
        begins = text.lstrip()[:6].lower()
        return (not begins or begins.startswith(("<style", "<!--"))) and look_through_few(text)

    return look_at_begin


# What is read of a session's state.


def find_kept(session: SessionStateProxy, key: str, usual: Any) -> Any:
    """What a session remembers under a key, or else `usual`, without what Streamlit does around it for each key: it
    takes a lock, looks whether the browser asks for something else, and writes a sentence of what is not there.

    A run reads 200. Instead: `st.session_state.get` that costs as much as that of a dictionary.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return session.get(key, usual)
    state = context.session_state._state
    if key in state._key_id_mapper:  # a widget's: that is told as the browser and its form have it
        return session.get(key, usual)
    found = state._new_session_state.get(key, _NOTHING)
    return state._old_state.get(key, usual) if found is _NOTHING else found
