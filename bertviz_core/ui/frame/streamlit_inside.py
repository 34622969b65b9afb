"""What of the app leans on Streamlit's inside, which promises none of it; the rest stands in streamlit_costs.py.

Every function says why it is needed, and which public thing would do instead. The names are looked for in the installed
version by a test. What the browser is sent has a list of its own: components/shared/selectors.json.
"""

# Private names are what this module is for.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, NamedTuple

import streamlit as st
from starlette.websockets import WebSocket
from streamlit import runtime
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, DeferredFileResponsePayload
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileMetadata
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType, _coalesce_widget_states
from streamlit.runtime.scriptrunner_utils.script_run_context_attr import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.runtime.session_manager import ClientContext

Request = Callable[[AppSession, ClientState | None], None]  # of a run, by what a browser says of itself; or the server
Run = Callable[[ScriptRunner, RerunData], None]
Read = Callable[[WebSocket], Awaitable[bytes]]
Answer = Callable[[Any, Any, str], Awaitable[Any]]  # to what a browser asks for, of a session

_WRAPPED_BY = "bertviz_wrapped_by"  # what a method has that others stand in: their names
# What Streamlit, and pyarrow for its tables, import at their first use.
_LATE_PARTS = ("packaging.tags", "pyarrow.pandas_compat", "pyarrow.vendored.version", "streamlit.material_icon_names")
_DAY_S = 86_400
_FILES = "bertviz-files"  # what holds files, where else a session does
_BYTES = "application/octet-stream"


# What stands in methods of the server.


def wrap_requests(wrap: Callable[[Request], Request]) -> None:
    """Have something stand before whatever asks for a run of a session.

    Streamlit begins a run for every message, however many come, and for whatever page. Instead: a hook that may refuse
    a request or put it off.
    """
    wrap_once(AppSession, "request_rerun", wrap)


def wrap_runs(wrap: Callable[[Run], Run]) -> None:
    """Have something stand around every run of a page, or of parts of it, in its thread.

    Of a run that is broken off, or of a part of a page, the script does not hear. Instead: a hook around runs.
    """
    wrap_once(ScriptRunner, "_run_script", wrap)


def wrap_reads(wrap: Callable[[Read], Read]) -> None:
    """Have something stand before the next message of a socket is read.

    Streamlit reads them by this method of Starlette's, as fast as they come. Instead: a bound of its own.
    """
    wrap_once(WebSocket, "receive_bytes", wrap)


def wrap_once(owner: type | ModuleType, method: str, wrap: Callable[[Any], Any]) -> None:
    """Once a process, also where the module of `wrap` is loaded again."""
    plain = getattr(owner, method)
    by = getattr(plain, _WRAPPED_BY, ())
    if wrap.__qualname__ not in by:
        wrapped = wraps(plain)(wrap(plain))
        setattr(wrapped, _WRAPPED_BY, (*by, wrap.__qualname__))
        setattr(owner, method, wrapped)


# Files that are made when they are asked for.


def wrap_downloads(wrap: Callable[[Answer], Answer]) -> None:
    """Have something stand in for what makes the files that buttons offer.

    Streamlit makes every one at once, for whoever names it, in threads of which no line knows, and keeps it until two
    more pages have been run, whoever by. Instead: a hook around it, and a bound of its own.
    """
    wrap_once(DeferredFileHandler, "handle", wrap)


class Wanted(NamedTuple):
    """A file that somebody asks for: what makes it, its type, and its name."""

    make: Callable[[], bytes]
    mime: str
    name: str


def find_wanted(request: Any, session: str) -> Wanted | None:
    """What a session asks for; None where no button of its own page offers that. Instead: a hook's argument."""
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        entry = manager._deferred_callables.get(request.deferred_file.file_id)
    if entry is None or entry["session_id"] != session:
        return None
    return Wanted(partial(_read_whole, entry["callable"]), entry["mimetype"] or _BYTES, entry["filename"] or "file")


def _read_whole(make: Callable[[], Any]) -> bytes:
    content = make()
    if isinstance(content, bytes):
        return content
    with content as file:
        return file.read()


def answer_with_file(request: Any, url: str) -> BackendOperationResponse:
    """Tell the browser where its file is. Instead: what a hook returns."""
    payload = DeferredFileResponsePayload(url=url)
    return BackendOperationResponse(request_id=request.request_id, deferred_file=payload)


def refuse_file(request: Any, why: str) -> BackendOperationResponse:
    """Tell the browser why it gets no file: the button shows that. Instead: what a hook raises."""
    return BackendOperationResponse(request_id=request.request_id, error_msg=why)


def put_file(content: bytes, wanted: Wanted) -> str:
    """Have the server hold a file until `drop_file`, and not only until two pages more were run; its address.

    Instead: a way to give a file to a browser, and to take it away.
    """
    manager, kind = runtime.get_instance().media_file_mgr, MediaFileKind.DOWNLOADABLE
    with manager._lock:
        name = manager._storage.load_and_get_id(content, wanted.mime, kind, wanted.name)
        manager._file_metadata[name] = MediaFileMetadata(kind)
        manager._files_by_session_and_coord[_FILES][name] = name
        return manager._storage.get_url(name)


def drop_file(url: str) -> None:
    """Have the server let go of a file. Instead: as for `put_file`."""
    manager, name = runtime.get_instance().media_file_mgr, PurePosixPath(url).stem
    with manager._lock:
        manager._files_by_session_and_coord[_FILES].pop(name, None)
        if name in manager._file_metadata:
            manager._delete_file(name)


# Sessions and their runs, as the server has them.


def name_session(session: AppSession) -> str:
    """The session's name. Sessions have no public face. Instead: a hook's argument that has one."""
    return session.id


def name_session_of(runner: ScriptRunner) -> str:
    """The name of the session that a run is for. Instead: as for `name_session`."""
    return runner._session_id


def read_page_hash(session: AppSession) -> str:
    """The page that a session is on, or that is being drawn. A request for a part of a page says of which; only this
    tells whether that was left.

    The session's own word for it comes late: while a page is first drawn that was asked for by its name in the URL, it
    is still that of the script. Instead: that Streamlit passes over what parts of another page ask for.
    """
    return session._pages_manager.current_page_script_hash


def tell_failure(session: AppSession, error: Exception) -> None:
    """Do what Streamlit does where a message cannot be handled: a request that was put off is answered outside of
    where it looks for errors. Instead: a hook that may put off a request."""
    session.handle_backmsg_exception(error)


def get_runner(session: AppSession) -> ScriptRunner | None:
    """The run of a session that is not told to stop. Streamlit begins another beside it, and both write to the
    session's state. Instead: that a run begins when the one before has ended."""
    return session._scriptrunner


def leave_runner(session: AppSession, runner: ScriptRunner) -> WidgetStates | None:
    """Tell a session's run to stop; what it still says is not for the browser, as where Streamlit does so itself.

    Gives what the widgets of parts of the page say that wait for the run's end: they would be lost with it. Instead: as
    for `get_runner`.
    """
    requests = runner._requests
    with requests._lock:
        said = requests._rerun_data.widget_states if requests._state is ScriptRequestType.RERUN else None
    runner.request_stop()
    session._scriptrunner = None
    return said


def is_at_work(runner: ScriptRunner) -> bool:
    """Whether a run's thread has not ended. Instead: as for `get_runner`."""
    return runner._script_thread is not None and runner._script_thread.is_alive()


def has_begun(runner: ScriptRunner) -> bool:
    """Whether a run has taken what was chosen, and called what is to be called for it: one that is stopped before
    loses that. Instead: that Streamlit keeps it for the next run."""
    context = getattr(runner._script_thread, SCRIPT_RUN_CONTEXT_ATTR_NAME, None)
    return context is not None and context.has_script_started


def merge_widgets(old: WidgetStates | None, new: WidgetStates) -> WidgetStates | None:
    """What the widgets of two requests say, as Streamlit itself merges what waits for a run: nothing that was pressed
    is lost. Instead: a hook that may put off a request."""
    return _coalesce_widget_states(old, new)


# The run that the calling thread is in, and its session.


def read_session() -> str:
    """The session for which the calling thread runs a page; "" for none. What is shared by all sessions has to tell
    them apart. Instead: `st.context` with the session's name."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def is_history_navigation() -> bool:
    """Whether it is the browser's Back or Forward that this run answers: where they led counts, and not what their
    message says of the widgets. Streamlit tells only its own widgets. Instead: `st.context` with the same."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def read_asked_page() -> str:
    """The name of a page by which the browser's address asks for this run; "" for the first page, and once the browser
    knows the page. Of a name that no page has, Streamlit gives the first page, and keeps the name for itself. Instead:
    `st.navigation` telling what was asked for."""
    context = get_script_run_ctx(suppress_warning=True)
    return (context.pages_manager.intended_page_name or "").strip("/") if context else ""


def end_if_superseded() -> None:
    """End this run where the browser has asked for something else, as every call that draws does: one that only waits
    would not notice. Instead: a call that draws nothing and does so."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        context.session_state._yield_callback()


def keep_undrawn(state: MutableMapping[Any, Any], key: str, forgotten: object) -> None:
    """Keep what a widget says through a run that does not draw it: Streamlit forgets that, but not what the script has
    set itself. forgotten: what it said, if that is forgotten already. Instead: a widget that outlives its page."""
    state[key] = state.get(key, forgotten)


def _forget(_: object) -> None:
    """Send nothing."""


@contextmanager
def keep_unsent() -> Generator[None]:
    """Draw without sending anything: what a page's functions draw here is worked out, and nobody sees it.

    It leaves no gap only in a container that is drawn before, and closed behind it. Instead: a container of that kind.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    send, context._enqueue = context._enqueue, _forget
    try:
        yield
    finally:
        context._enqueue = send


def is_connected(session: str) -> bool:
    """Whether a session's browser is connected: what is asked for and bounded is counted only then. Instead: a hook
    for sockets that open and close."""
    try:  # what stands for a server while a test runs a page answers with neither, and cannot be asked which
        return runtime.exists() and runtime.get_instance().is_active_session(session) is not False
    except RuntimeError:  # the server ended in between
        return False


def is_served() -> bool:
    """Whether pages are run for browsers, and not by themselves, as in a test. Instead: as for `is_connected`."""
    return runtime.exists()


def read_cookies(session: str) -> Mapping[str, str]:
    """The cookies of a session's browser. `st.context.cookies` has them only in a run, and a request has to be known
    before. Instead: a hook's argument with them."""
    context = _find_context(session)
    return context.cookies if context else {}


def read_remote(session: str) -> str:
    """The address that a session's browser comes from; "" where nobody says. `st.context.ip_address` has it only in a
    run. Instead: as for `read_cookies`."""
    context = _find_context(session)
    address = context.remote_ip if context else None
    return address if isinstance(address, str) else ""  # a test has something else


def _find_context(session: str) -> ClientContext | None:
    client = runtime.get_instance().get_client(session) if runtime.exists() else None
    return client.client_context if client else None


# What has to be there before it is needed.


def import_late_parts() -> None:
    """Import what Streamlit imports at its first use, where two sessions could see it half made. Instead: that it
    imports all of itself at its start."""
    for name in _LATE_PARTS:
        importlib.import_module(name)


@st.fragment(run_every=_DAY_S)
def run_anew_on_reconnect() -> None:
    """Have the browser ask for a full run whenever it connects again; draws nothing.

    Streamlit's own page asks for one only where a fragment runs by itself. Without, a process that takes over knows
    none of the page's fragments, and passes over every click in them. Instead: that it always asks for one.
    """
