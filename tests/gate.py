"""What browsers ask a server for, sessions and their runs, and a clock, for tests of the gate."""

import asyncio
import threading
from types import SimpleNamespace

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context_attr import SCRIPT_RUN_CONTEXT_ATTR_NAME

from bertviz_core.ui.frame.bucket import Bucket
from bertviz_core.ui.frame.gate import Gate

PAGE = "hash of heads"


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def ask(fragment="", page=PAGE, query="", **values):
    """A request with these values of widgets: a text is what a menu says, True a button that was pressed."""
    state = ClientState(fragment_id=fragment, page_script_hash=page, query_string=query)
    for name, value in values.items():
        kind = "trigger_value" if value is True else "json_trigger_value" if value[0] == "[" else "string_value"
        state.widget_states.widgets.append(WidgetState(id=name, **{kind: value}))
    return state


def read(state):
    return {one.id: getattr(one, one.WhichOneof("value")) for one in state.widget_states.widgets}


class Run:
    """A run that a session asks for: a thread that ends when it may, as Streamlit keeps it."""

    def __init__(self, begun=True):
        self.go, self.stopped, self._requests = threading.Event(), False, ScriptRequests()
        self._script_thread = threading.Thread(target=self.go.wait, daemon=True)
        self.context = SimpleNamespace(has_script_started=begun)
        setattr(self._script_thread, SCRIPT_RUN_CONTEXT_ATTR_NAME, self.context)
        self._script_thread.start()

    def request_stop(self):
        self.stopped = True

    def end(self):
        self.go.set()
        self._script_thread.join(60)


class Session:
    def __init__(self, near=""):
        self.answered, self._scriptrunner, self.connected, self.near, self.visitor = [], None, True, near, near
        self.id = str(id(self))


def guard(runs=1000):
    """A gate with a clock set by hand. runs: of all sessions together."""
    clock = Clock()
    shared = Bucket(runs, runs, clock)
    return Gate(
        lambda session, state: session.answered.append(state),
        lambda _: shared,
        lambda session: session.connected,
        clock,
        lambda session: session.near,
        lambda session: session.visitor,
    ), clock


async def look(gate, session):
    """Do what the gate has set a timer for. Returns after how long it would have been called."""
    asked = gate._asked[session]
    wait = asked.timer.when() - asyncio.get_running_loop().time()
    asked.timer.cancel()
    gate._look_again(session, asked)
    return wait
