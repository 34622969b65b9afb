"""What Streamlit does in each run and what costs less another way, with the same result: nothing that is seen changes.

As in streamlit_inside.py, every function says why it is needed, and which public thing would do instead, and the names
are looked for in the installed version by a test.
"""

# Private names are what this module is for.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache, partial, wraps
from threading import Lock
from typing import Any
from weakref import WeakSet

from streamlit.components.v2.bidi_component import serialization
from streamlit.components.v2.bidi_component.main import BidiComponentMixin
from streamlit.cursor import Cursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements import html
from streamlit.elements.widgets import button
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent, get_script_run_ctx
from streamlit.runtime.state import SessionStateProxy
from streamlit.runtime.state.safe_session_state import SafeSessionState

from bertviz_core.ui.frame.streamlit_inside import wrap_once

HOLD_S = 0.05  # for which a message of a run waits at most: most runs are over by then
BEGIN_S = 0.1  # for which a run's first one waits, where what the run before has said stands there meanwhile
_NOTHING = object()
_SHORT = 1 << 10  # characters of a query that is kept: a sentence of any length stands in it
Callback = Callable[[], None]
Handle = Callable[..., None]  # a session's method that takes an event of a run
HandOver = Callable[[AppSession, Callback], None]  # to the server's loop, which calls it later


def cut_costs() -> None:
    """Have all of it stand where Streamlit's own stands."""
    copy_places_by_fields()
    hand_over_together()
    identify_by_what_is_sent()
    look_up_single_keys()
    look_through_once()
    pass_data_on()
    write_queries_once()


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
    copied, said = object.__new__(type(cursor)), cursor._transient_elements
    copied.__dict__.update(cursor.__dict__)
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
    """Have what a run says handed over to the server's loop together: when it ends, and meanwhile every HOLD_S, from
    BEGIN_S on; of a session's first run also what it says first.

    Each message wakes the loop by a byte in a pipe, and both then want Python's lock: a page is 150 messages, and all
    of that a tenth of a run. And a browser draws the page anew for every few messages that it gets; of a run that only
    says that it has begun, to have all that stands there marked as old, and then once more as new. Instead: that a run
    hands over what it has said since the loop looked last.
    """
    waiting = _Waiting()
    wrap_once(AppSession, "_call_soon_on_event_loop", waiting.gather)
    wrap_once(AppSession, "_on_scriptrunner_event", waiting.hasten)
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


class _Waiting:
    """What runs have said and the loop has not taken yet, of the sessions at which it looks by itself."""

    def __init__(self) -> None:
        self._said: dict[AppSession, list[Callback]] = {}
        self._known = WeakSet[AppSession]()  # of which a run has ended
        self._lock = Lock()

    def gather(self, hand_over: HandOver) -> HandOver:
        """What a run says waits, but what a session's first one says first."""

        def gather(session: AppSession, callback: Callback) -> None:
            with self._lock:
                first = session not in self._said
                self._said.setdefault(session, []).append(callback)
            if first:
                hand_over(session, partial(self._wait if session in self._known else self._look, session))

        return gather

    def hasten(self, take_event: Handle) -> Handle:
        """What is no message, such as a run's end, is taken at once, with all that was said before it; but not that a
        run begins where one has ended before."""

        def hasten(session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, **more: Any) -> None:
            take_event(session, sender, event, **more)
            begins = event is ScriptRunnerEvent.SCRIPT_STARTED
            if event is not ScriptRunnerEvent.ENQUEUE_FORWARD_MSG and not (begins and session in self._known):
                if not begins:
                    self._known.add(session)
                with suppress(RuntimeError):  # the loop is closed
                    session._event_loop.call_soon_threadsafe(self._take, session)

        return hasten

    def _wait(self, session: AppSession) -> None:
        session._event_loop.call_later(BEGIN_S, self._look, session)

    def _look(self, session: AppSession) -> None:
        """Take what was said, and look again as long as there is something."""
        with self._lock:
            said = self._said.pop(session)
            if said:
                self._said[session] = []
        if said:
            self._hand_on(session, said)
            session._event_loop.call_later(HOLD_S, self._look, session)

    def _take(self, session: AppSession) -> None:
        """Take what was said, where it is waited for."""
        with self._lock:
            said = self._said.get(session, [])
            if said:
                self._said[session] = []
        self._hand_on(session, said)

    def _hand_on(self, session: AppSession, said: list[Callback]) -> None:
        for callback in said:  # by the loop itself: where one fails the others are called nevertheless
            session._event_loop.call_soon(callback)


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


def pass_data_on() -> None:
    """Have what a component is given not looked through for tables, of twenty libraries, value by value: those of this
    app are given none. Instead: a way to say that data is JSON."""
    wrap_once(serialization, "_extract_dataframes_from_dict", _pass_on)


def _pass_on(_: object) -> Callable[..., dict[str, Any]]:
    def pass_on(data: dict[str, Any], _: object = None) -> dict[str, Any]:
        return data

    return pass_on


def identify_by_what_is_sent() -> None:
    """Have what a component is given not written a second time, in an order of its own, only to tell components without
    a key apart: every one here has a key. Instead: a way to say so."""
    wrap_once(BidiComponentMixin, "_build_bidi_identity_kwargs", _identify_by_proto)
    wrap_once(BidiComponentMixin, "_canonicalize_json_for_identity", _take_as_sent)


def _identify_by_proto(identify: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def identify_by_proto(mixin: BidiComponentMixin, **said: Any) -> dict[str, Any]:
        return identify(mixin, **{name: value for name, value in said.items() if name != "data"})

    return identify_by_proto


def _take_as_sent(_: object) -> Callable[..., str]:
    def take_as_sent(_: BidiComponentMixin, payload: str) -> str:
        return payload

    return take_as_sent


def write_queries_once() -> None:
    """Have the query of a link written once for all links and runs that say the same: fifteen of a page's say nearly
    the same. Instead: links that take a query as it is written."""
    wrap_once(button, "process_query_params", _write_once)


def _write_once(write: Callable[[Any], str]) -> Callable[[Mapping[str, str]], str]:
    written = lru_cache(maxsize=1 << 8)(write)

    def write_once(says: Mapping[str, str]) -> str:
        return written(tuple(says.items())) if sum(map(len, says.values())) <= _SHORT else write(says)

    return write_once


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
