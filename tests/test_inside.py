"""What leans on the inside of Streamlit, uvicorn or Plotly stands in few modules, and is in the installed versions."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit
import uvicorn
from _plotly_utils.utils import to_typed_array_spec
from starlette.websockets import WebSocket
from streamlit.commands import navigation
from streamlit.components.v2.bidi_component import serialization
from streamlit.components.v2.bidi_component.main import BidiComponentMixin
from streamlit.cursor import Cursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements import html
from streamlit.elements.widgets import button
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunContext, ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, _coalesce_widget_states
from streamlit.runtime.session_manager import ClientContext, SessionClient
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from uvicorn.lifespan.on import LifespanOn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import Protocol

from bertviz_core.figures import plotly_inside
from bertviz_core.ui.frame import streamlit_inside
from bertviz_core.ui.frame.gate import fit_gate
from bertviz_core.ui.frame.late import pass_over_late_requests
from edge.line import WANTED
from edge.streamlit_files import CLOSED, FILES, find_static, read_inline_scripts
from tests.test_imports import imports, modules

ROOT = Path(__file__).parents[1]
APP, COSTS = "bertviz_core.ui.frame.streamlit_inside", "bertviz_core.ui.frame.streamlit_costs"
PLOTLY = "bertviz_core.figures.plotly_inside"
INSIDE = (APP, COSTS, "edge.inside", "edge.connections", PLOTLY)
LIBRARIES = ("streamlit", "uvicorn", "starlette", "plotly", "_plotly_utils")
# What every module of the app and the edge may import: what Streamlit, uvicorn and Starlette document, and the types of
# what Streamlit's documented functions give, which have no other name.
PUBLIC = re.compile(
    r"streamlit(\.components(\.v2(\.types\.ComponentRenderer)?)?|\.delta_generator\.DeltaGenerator"
    r"|\.navigation\.page\.StreamlitPage)?|uvicorn(\.\w+)?|starlette(\.\w+)+"
)
# What these modules read or replace, by where it is.
ATTRIBUTES = {
    AppSession: (
        "request_rerun",
        "id",
        "_pages_manager",
        "handle_backmsg_exception",
        "_scriptrunner",
        "_call_soon_on_event_loop",
        "_on_scriptrunner_event",
        "_event_loop",
        "_handle_scriptrunner_event_on_event_loop",
        "_enqueue_forward_msg",
        "_create_new_session_message",
    ),
    ScriptRunner: ("_run_script", "request_stop", "_session_id", "_script_thread", "_requests"),
    PagesManager: ("current_page_script_hash", "intended_page_name"),
    ScriptRequests: ("_lock", "_state", "_rerun_data"),
    WebSocket: ("receive_bytes",),
    ScriptRunContext: (
        "pages_manager",
        "session_id",
        "session_state",
        "is_history_navigation",
        "has_script_started",
        "_enqueue",
    ),
    SafeSessionState: ("_yield_callback", "filtered_state", "_state"),
    SessionState: ("_key_id_mapper", "_new_session_state", "_old_state"),
    Runtime: ("is_active_session", "get_client", "media_file_mgr"),
    DeferredFileHandler: ("handle",),
    MediaFileManager: (
        "_deferred_callables",
        "_storage",
        "_file_metadata",
        "_lock",
        "_files_by_session_and_coord",
        "_delete_file",
    ),
    SessionClient: ("client_context",),
    ClientContext: ("cookies", "remote_ip"),
    uvicorn.Config: ("ws_max_size", "ws_protocol_class", "http_protocol_class", "timeout_graceful_shutdown"),
    LifespanOn: ("config", "receive"),
    H11Protocol: (
        "cycle",
        "connection_made",
        "connection_lost",
        "pause_writing",
        "resume_writing",
        "send_400_response",
    ),
    RequestResponseCycle: ("response_started", "response_complete", "disconnected", "message_event"),
    WebSocketsSansIOProtocol: (
        "transport",
        "connection_made",
        "connection_lost",
        "pause_writing",
        "resume_writing",
        "data_received",
        "handle_ping",
        "handle_cont",
        "handle_parser_exception",
        "conn",
        "queue",
        "loop",
        "close_sent",
        "close_timer",
        "read_paused",
    ),
    Protocol: ("parser_exc", "close_sent", "data_to_send"),
    go.Figure: ("to_dict", "to_json", "_repr_html_", "_repr_mimebundle_", "_ipython_display_"),
    DeltaGenerator: (
        "__deepcopy__",
        "_block_type",
        "_creating_fragment_id",
        "_cursor",
        "_form_data",
        "_parent",
        "_root_container",
    ),
    Cursor: ("_transient_elements",),
}
EVENT = ["self", "sender", "event", "forward_msg", "exception", "client_state", "page_script_hash",
         "fragment_ids_this_run", "pages", "run_descriptor"]  # fmt: skip
SIGNATURES = {
    navigation.send_page_not_found: ["ctx"],
    html.clean_text: ["text"],
    html._html_only_style_tags: ["html_content"],
    button.process_query_params: ["query_params"],
    serialization._extract_dataframes_from_dict: ["data", "arrow_blobs"],
    BidiComponentMixin._canonicalize_json_for_identity: ["self", "payload"],
    DeltaGenerator: ["root_container", "cursor", "parent", "block_type"],
    AppSession.request_rerun: ["self", "client_state"],
    AppSession.handle_backmsg_exception: ["self", "e"],
    AppSession._call_soon_on_event_loop: ["self", "callback"],
    AppSession._enqueue_forward_msg: ["self", "msg"],
    AppSession._on_scriptrunner_event: EVENT,
    AppSession._handle_scriptrunner_event_on_event_loop: EVENT,
    ScriptRunner._run_script: ["self", "rerun_data"],
    ScriptRunner.request_stop: ["self"],
    WebSocket.receive_bytes: ["self"],
    DeferredFileHandler.handle: ["self", "request", "session_id"],
    MediaFileManager._delete_file: ["self", "file_id"],
    MemoryMediaFileStorage.load_and_get_id: ["self", "path_or_data", "mimetype", "kind", "filename"],
    H11Protocol.send_400_response: ["self", "msg"],
    WebSocketsSansIOProtocol.data_received: ["self", "data"],
    WebSocketsSansIOProtocol.handle_ping: ["self"],
    WebSocketsSansIOProtocol.handle_cont: ["self", "event"],
    WebSocketsSansIOProtocol.handle_parser_exception: ["self"],
    _coalesce_widget_states: ["old_states", "new_states"],
}
FIELDS = {
    ClientState: ("page_script_hash", "fragment_id", "is_auto_rerun", "is_history_navigation", "widget_states",
                  "context_info", "query_string", "page_name"),
    WidgetStates: ("widgets",),
    WidgetState: ("json_value", "json_trigger_value"),
    BackMsg: ("rerun_script", "backend_operation_request"),
}  # fmt: skip


def read(module):
    return ast.parse(modules(ROOT)[module].read_text(encoding="utf-8"))


def has(owner, name):
    """Whether instances of a class have this: of the class, declared, or set by its own methods."""
    declared = {each for base in owner.__mro__ for each in vars(base).get("__annotations__", {})}
    return hasattr(owner, name) or name in declared or f"self.{name}" in inspect.getsource(owner)


def list_private(tree):
    """The attributes with an underscore that a module reads of something else than itself."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and re.match("_[^_]", node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }


@pytest.mark.parametrize("module", INSIDE)
def test_everything_that_is_imported_is_there(module):
    for full in imports(module, modules(ROOT)[module]):
        if full.partition(".")[0] in LIBRARIES:
            package, _, name = full.rpartition(".")
            assert not package or hasattr(importlib.import_module(package), name), full


@pytest.mark.parametrize("owner", ATTRIBUTES)
def test_everything_that_is_read_or_replaced_is_there(owner):
    assert [name for name in ATTRIBUTES[owner] if not has(owner, name)] == []
    assert not has(owner, "_no_such_name")


@pytest.mark.parametrize("module", INSIDE)
def test_no_private_attribute_is_read_that_is_not_looked_for(module):
    assert list_private(read(module)) <= {name for names in ATTRIBUTES.values() for name in names}


def test_methods_take_what_stands_in_for_them_takes():
    assert {
        function: list(inspect.signature(inspect.unwrap(function)).parameters) for function in SIGNATURES
    } == SIGNATURES


@pytest.mark.parametrize("message", FIELDS)
def test_messages_of_a_browser_have_their_fields(message):
    assert set(FIELDS[message]) <= set(message.DESCRIPTOR.fields_by_name)


def test_what_pages_ask_for_is_known_by_its_name():
    kinds = BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields
    request = BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type
    known = {field.name for field in (*kinds, *request.oneofs_by_name["payload"].fields)}
    assert set(WANTED) <= known


def test_a_run_says_when_it_has_taken_what_was_chosen():
    assert "has_script_started = True" in inspect.getsource(ScriptRunContext.on_script_start)


def test_the_parts_that_are_imported_late_are_there():
    assert all(importlib.util.find_spec(name) for name in streamlit_inside._LATE_PARTS)
    streamlit_inside.import_late_parts()


def test_the_server_has_the_addresses_that_are_closed_or_no_pages():
    server = Path(streamlit.__file__).parent / "web" / "server"
    source = "\n".join(file.read_text(encoding="utf-8") for file in server.rglob("*.py"))
    named = re.findall(r"[a-z_][a-z0-9_-]+", " ".join(CLOSED))
    names = {*FILES, *named, "_stcore/stream", "_stcore/health", "bidi-components"}
    assert {name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", source)} == set()


def test_the_page_of_the_installed_streamlit_has_its_script_where_it_is_looked_for():
    assert (
        len(read_inline_scripts()) == (find_static() / "index.html").read_text(encoding="utf-8").count("<script>") == 1
    )


def test_methods_are_replaced_once_and_keep_what_they_were(monkeypatch):
    plain = {AppSession: "request_rerun", ScriptRunner: "_run_script", WebSocket: "receive_bytes"}
    for owner, name in plain.items():
        monkeypatch.setattr(owner, name, inspect.unwrap(getattr(owner, name)))
    own = [getattr(owner, name) for owner, name in plain.items()]
    fit_gate()
    pass_over_late_requests()
    fitted = [getattr(owner, name) for owner, name in plain.items()]
    assert not set(fitted) & set(own) and [inspect.unwrap(method) for method in fitted] == own
    assert AppSession.request_rerun.__wrapped__.__wrapped__ is own[0]  # by the gate, and by what passes over
    fit_gate()
    pass_over_late_requests()
    assert [getattr(owner, name) for owner, name in plain.items()] == fitted


@pytest.mark.xdist_group("sources")
def test_no_other_module_reaches_inside():
    others = {name: file for name, file in modules(ROOT).items() if name not in INSIDE}
    reached = {
        name: sorted(
            full for full in imports(name, file) if full.partition(".")[0] in LIBRARIES and not PUBLIC.fullmatch(full)
        )
        for name, file in others.items()
    }
    assert {name: full for name, full in reached.items() if full} == {}
    private = {
        name: list_private(read(name))
        for name in others
        if name.startswith(("bertviz_core.ui.", "bertviz_core.figures.", "edge.", "pages.", "app"))
    }
    assert {name: names for name, names in private.items() if names} == {}


@pytest.mark.parametrize(
    "values",
    [
        *(np.eye(3, 4), np.eye(3, dtype="f4").T, np.arange(12.0)[::2], np.array([np.nan, np.inf]), np.zeros(0)),
        *(np.arange(300), np.float16([1]), np.array([True]), np.array(["a"]), np.array([None])),
    ],
    ids=lambda values: f"{values.dtype}{values.shape}",
)
def test_arrays_are_written_as_plotly_writes_them(values):
    np.testing.assert_equal(plotly_inside.write_array(values), to_typed_array_spec(values))
