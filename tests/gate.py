"""What browsers ask a server for, and a clock, for tests of the gate."""

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState

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
