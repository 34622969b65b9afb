"""What costs less than Streamlit's own has the same result."""

import asyncio
import inspect
import json
from copy import deepcopy
from functools import partial
from json import JSONEncoder
from types import SimpleNamespace

import pytest
from streamlit.components.v2.bidi_component import main as bidi_main
from streamlit.components.v2.bidi_component import serialization
from streamlit.components.v2.bidi_component.main import BidiComponentMixin
from streamlit.cursor import Cursor, RunningCursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements import html
from streamlit.elements.widgets import button
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest

from bertviz_core.ui.frame import streamlit_costs
from tests.loops import run_alone


def test_places_are_copied_apart_from_what_goes_on(monkeypatch):
    """As Streamlit needs it: what is drawn into a part later begins where it began, wherever the page has got to."""
    monkeypatch.setattr(DeltaGenerator, "__deepcopy__", None)
    monkeypatch.setattr(Cursor, "__deepcopy__", None, raising=False)
    streamlit_costs.copy_places_by_fields()
    page = RunningCursor(0)
    page.lock_element()
    main = DeltaGenerator(0, page)
    card = DeltaGenerator(0, page.open_block(), main, "vertical")
    spun = DeltaGenerator(0, page.lock_element(), card)
    spun._cursor._transient_elements[0] = Element()
    spun._form_data = card._creating_fragment_id = "f"
    places = (main, card, spun)
    copied = deepcopy(places)
    assert [write_place(place) for place in copied] == [write_place(place) for place in places]
    assert copied[1]._parent is copied[0] and copied[2]._parent is copied[1]
    before = [write_place(place) for place in copied]
    for place in (main, card):
        place._cursor.lock_element()
        place._cursor._transient_elements[3] = Element()
    spun._cursor._transient_elements[1] = Element()
    assert [write_place(place) for place in copied] == before


def write_place(place):
    cursor = place._cursor
    return (
        *(place._root_container, place._block_type, place._form_data, place._creating_fragment_id),
        *(type(cursor), cursor.root_container, cursor.parent_path, cursor.index, str(cursor._transient_elements)),
    )


@pytest.fixture
def hand_over(monkeypatch):
    """Streamlit's own methods, with ours in their place twice, as where a module is loaded again."""
    for name in ("_call_soon_on_event_loop", "_on_scriptrunner_event", "_handle_scriptrunner_event_on_event_loop"):
        monkeypatch.setattr(AppSession, name, inspect.unwrap(getattr(AppSession, name)))
    streamlit_costs.hand_over_together()
    streamlit_costs.hand_over_together()


@pytest.mark.usefixtures("hand_over")
def test_the_loop_is_woken_once_for_a_run_and_looks_by_itself_for_what_is_said_later():
    called = []

    async def talk():
        loop = StandingLoop(asyncio.get_running_loop())
        one, other = Session(loop), Session(loop)
        loop.plain.set_exception_handler(lambda _, context: called.append(str(context["exception"])))
        for i in range(3):
            AppSession._call_soon_on_event_loop(one, partial(called.append, i))
        AppSession._call_soon_on_event_loop(one, fail)
        AppSession._call_soon_on_event_loop(one, partial(called.append, 3))
        AppSession._call_soon_on_event_loop(other, partial(called.append, "other"))
        await asyncio.sleep(0)
        AppSession._call_soon_on_event_loop(one, partial(called.append, 4))
        woken = loop.woken
        await loop.go_on()  # the run is over, and nobody looks any more
        assert called == [0, 1, 2, "no", 3, "other", 4]
        AppSession._call_soon_on_event_loop(one, partial(called.append, 5))
        await loop.go_on()
        return woken, loop.woken

    assert run_alone(talk()) == (2, 3)
    assert called == [0, 1, 2, "no", 3, "other", 4, 5]


@pytest.mark.usefixtures("hand_over")
def test_what_a_run_says_is_held_until_it_ends(monkeypatch):
    monkeypatch.setattr(streamlit_costs, "HOLD_S", 3_600)
    message, ended = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.SHUTDOWN

    async def talk():
        session, heard = Session(asyncio.get_running_loop()), []
        say = partial(AppSession._on_scriptrunner_event, session, "run")
        for event in (message, message, message, ended):
            say(event=event, forward_msg=ForwardMsg())
            for _ in range(4):
                await asyncio.sleep(0)
            heard.append(len(session.heard))
        return heard, session.heard

    assert run_alone(talk()) == ([1, 1, 1, 4], [message, message, message, ended])


@pytest.mark.usefixtures("hand_over")
def test_of_a_sessions_later_runs_nothing_is_said_before_they_have_said_more_than_that_they_begin():
    """What only begins would be drawn as old, and at once as new."""
    begun, message = ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG
    short = [begun, message, message, ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS]

    async def talk():
        loop, heard = StandingLoop(asyncio.get_running_loop()), []
        session = Session(loop)
        say = partial(AppSession._on_scriptrunner_event, session, "run")
        for run in (short, short, [begun, message]):
            for event in run:
                say(event=event, forward_msg=ForwardMsg())
                for _ in range(4):
                    await asyncio.sleep(0)
                heard.append(len(session.heard))
            await loop.go_on()  # a run that goes on is heard of meanwhile
            heard.append(len(session.heard))
        return heard, session.heard

    assert run_alone(talk()) == ([1, 1, 1, 4, 4, 4, 4, 4, 8, 8, 8, 8, 10], [*short, *short, begun, message])


@pytest.mark.usefixtures("hand_over")
def test_nothing_is_lost_or_changes_places_where_threads_speak_while_the_loop_listens(monkeypatch):
    monkeypatch.setattr(streamlit_costs, "HOLD_S", 0.001)
    heard = {0: [], 1: [], 2: []}

    async def listen():
        session = Session(asyncio.get_running_loop())

        def speak(speaker):
            for i in range(2_000):
                AppSession._call_soon_on_event_loop(session, partial(heard[speaker].append, i))

        await asyncio.gather(*(asyncio.to_thread(speak, speaker) for speaker in heard))
        await asyncio.sleep(0.2)

    run_alone(listen())
    assert list(heard.values()) == [list(range(2_000))] * 3


def test_a_message_is_for_the_browser_if_its_run_is_the_sessions_and_events_are_streamlits_own(monkeypatch):
    name = "_handle_scriptrunner_event_on_event_loop"
    monkeypatch.setattr(AppSession, name, lambda _, sender, event, *more: seen.append((sender, event, *more)))
    streamlit_costs.hand_over_together()
    seen = []
    session = SimpleNamespace(_scriptrunner="run", _enqueue_forward_msg=seen.append)
    handle = partial(getattr(AppSession, name), session)
    message, ended = ForwardMsg(), ScriptRunnerEvent.SHUTDOWN
    handle("run", ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, message)
    handle("one that was told to stop", ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, message)
    handle("run", ended, None, None, "state")
    assert seen == [message, ("run", ended, None, None, "state")]


def fail():
    raise ValueError("no")


class Session:
    """What of a session is needed to hand over to its loop. heard: the events that came."""

    def __init__(self, loop):
        self._event_loop, self.heard = loop, []

    def _call_soon_on_event_loop(self, callback):
        AppSession._call_soon_on_event_loop(self, callback)

    def _handle_scriptrunner_event_on_event_loop(self, _, event, *more):
        self.heard.append(event)


class StandingLoop:
    """A loop whose clock stands until it is to go on, and that counts how often another thread wakes it."""

    def __init__(self, plain):
        self.plain, self.woken, self.later = plain, 0, []

    def call_soon_threadsafe(self, callback, *given):
        self.woken += 1
        self.plain.call_soon_threadsafe(callback, *given)

    def call_soon(self, callback):
        self.plain.call_soon(callback)

    def call_later(self, _, *call):
        self.later.append(call)

    async def go_on(self):
        """Until nobody wants to be called later any more."""
        for _ in range(10):
            await asyncio.sleep(0)
            due, self.later = self.later, []
            for callback, *given in due:
                callback(*given)
        assert not self.later


def test_a_state_says_of_a_key_what_streamlit_says_and_all_only_to_who_goes_through_it(monkeypatch):
    plain = inspect.unwrap(SafeSessionState.filtered_state.fget)
    monkeypatch.setattr(SafeSessionState, "filtered_state", property(plain))
    state = SafeSessionState(SessionState(), lambda: None)
    state["chosen"], state["nothing"] = 3, None
    own = dict(state.filtered_state)
    streamlit_costs.look_up_single_keys()
    streamlit_costs.look_up_single_keys()
    assert dict(state.filtered_state) == own == {"chosen": 3, "nothing": None}
    assert len(state.filtered_state) == 2
    monkeypatch.setattr(SessionState, "filtered_state", property(pytest.fail))
    keys = state.filtered_state
    assert keys["chosen"] == 3 and keys["nothing"] is None and "neither" not in keys


@pytest.mark.parametrize("text", [
    "<p>a</p>", "  <p>a</p>\t", "", " ", "<style>p {}</style>", "<STYLE>p {}</style ><p>a</p>",
    "<!-- a --><style></style>", "<p>a</p><style>p {}</style>", "<p>\n  a</p>", "  a\n    b\n",
    "<style>\n  p {}\n</style>\n",
    "a<style></style>",
])  # fmt: skip
def test_html_is_taken_as_streamlit_takes_it(monkeypatch, text):
    plain = {name: inspect.unwrap(getattr(html, name)) for name in ("clean_text", "_html_only_style_tags")}
    for name, function in plain.items():
        monkeypatch.setattr(html, name, function)
    streamlit_costs.look_through_once()
    assert html.clean_text is not plain["clean_text"]
    assert html.clean_text(text) == plain["clean_text"](text)
    for each in (text, html.clean_text(text)):
        assert html._html_only_style_tags(each) == plain["_html_only_style_tags"](each)


def test_what_a_component_is_given_comes_to_it_as_streamlit_would_send_it(monkeypatch):
    name = "_extract_dataframes_from_dict"
    monkeypatch.setattr(serialization, name, inspect.unwrap(getattr(serialization, name)))
    data = {"cell": None, "lit": ["a", "b"], "place": {"layer": 1, "far": [1.5]}, "none": [], "rows": [[1, 2], [3, 4]]}
    sent = []
    for _ in range(2):
        sent.append(BidiComponent())
        serialization.serialize_mixed_data(data, sent[-1])
        streamlit_costs.pass_data_on()
    plain, passed = sent
    assert passed == plain and json.loads(passed.json) == data


def test_a_component_is_known_by_its_key_and_what_it_is_given_is_written_once(monkeypatch):
    """With a key it keeps its identity whatever it is given; without one it has another for other data."""
    for name in ("_build_bidi_identity_kwargs", "_canonicalize_json_for_identity"):
        monkeypatch.setattr(BidiComponentMixin, name, inspect.unwrap(getattr(BidiComponentMixin, name)))
    plain = [identify({"b": 1, "a": [2.5]}), identify({"b": 2}), identify(None)]
    streamlit_costs.identify_by_what_is_sent()
    written = []
    monkeypatch.setattr(bidi_main.json, "dumps", lambda data, **_: written.append(data))
    cheap = [identify({"b": 1, "a": [2.5]}), identify({"b": 2}), identify(None)]
    assert not written
    assert len({str(each) for each in cheap}) == len(plain) == 3
    assert [each.keys() for each in cheap] == [each.keys() for each in plain]
    assert cheap[2] == plain[2]


def identify(data):
    sent = BidiComponent()
    if data is not None:
        sent.json = JSONEncoder().encode(data)
    return DeltaGenerator()._build_bidi_identity_kwargs(
        component_name="name", isolate_styles=True, width="stretch", height="content", proto=sent, data=data
    )


def test_a_query_that_is_kept_says_what_was_asked_for(monkeypatch):
    plain = inspect.unwrap(button.process_query_params)
    monkeypatch.setattr(button, "process_query_params", plain)
    streamlit_costs.write_queries_once()
    assert button.process_query_params is not plain
    for text in ("When in Rome & so", "ä [MASK]", "x" * 5_000):
        says = {"text": text, "layer": "2"}
        assert [button.process_query_params(says) for _ in range(2)] == [plain(says)] * 2


def test_what_a_session_keeps_is_found_as_by_its_keys():
    def look():
        import streamlit as st

        from bertviz_core.ui.frame.streamlit_costs import find_kept

        st.session_state.setdefault("runs", 0)
        st.session_state["runs"] += 1
        st.text_input("Word", "usual", key="word")
        st.session_state["none"] = None
        names = ("runs", "word", "none", "neither", "set before")
        st.session_state["told"] = [
            (find_kept(st.session_state, name, "-"), st.session_state.get(name, "-")) for name in names
        ]

    at = AppTest.from_function(look)
    at.session_state["set before"] = 5
    said = []
    for word in ("usual", "other"):
        at.run()
        at.text_input(key="word").set_value(word)
        said.append(at.session_state["told"])
    said.append(at.run().session_state["told"])
    assert not at.exception
    assert all(found == own for told in said for found, own in told)
    assert [own for _, own in said[-1]] == [3, "other", None, "-", 5]
