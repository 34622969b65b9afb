"""What all sessions share: models, traces, what was worked out to be drawn, trainings; and which models are whose."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar, cast

import streamlit as st

from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.shelf import ModelShelf
from bertviz_core.errors import BusyError, CheckpointError, InputError, TrainingError
from bertviz_core.learning import Host, Queue
from bertviz_core.sharing.fairness import OF_ONE_ADDRESS
from bertviz_core.sharing.findings import Findings
from bertviz_core.sharing.line import Line
from bertviz_core.sharing.load import Load
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.memory import read_budget
from bertviz_core.sharing.threads import CORES
from bertviz_core.sharing.watch import Watch
from bertviz_core.tracing.remember import measure_bytes, recall, remember
from bertviz_core.tracing.store import TraceStore
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.budget import get_budget
from bertviz_core.ui.frame.keys import VIEW, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.streamlit_inside import end_if_superseded, is_connected, is_served, read_session
from bertviz_core.ui.frame.visitor import read_network, read_visitor

T = TypeVar("T")
OFFERED = (BUNDLED, "google-bert/bert-base-uncased")
_RUNS_AT_ONCE = 3  # of pages: all share one interpreter, so that more at once would only keep one another waiting
_RUNS_OF_ONE = 1  # visitor, of these, while others are there
_BUSY = 0.6  # of a core, by pages, from where on what nobody asked for waits
_LONGEST_LINE = 256  # runs that wait at most
OWN = "yours, "  # how the names of models begin that a session has trained itself
UNTRAINED = f"{OWN}untrained"
_OWN: Key[Mapping[str, str]] = Key("own-models", {})  # of a session: what the shelf calls them, by name
_SETTING = "BERTVIZ_MODELS"  # a comma-separated list: only these models may be chosen


def list_models() -> tuple[tuple[str, ...], bool]:
    """The models to choose from, and whether the user may name another one."""
    listed = tuple(name.strip() for name in os.environ.get(_SETTING, "").split(",") if name.strip())
    return (listed, False) if listed else (OFFERED, True)


def get_model(name: str) -> Model:
    """The process's model of this name. Raises CheckpointError.

    What is not offered is refused before anything is looked up: whoever asks learns nothing about folders or the hub.
    """
    if name.startswith(OWN):
        return _get_own(name)
    names, free = list_models()
    if not free and name not in names:
        raise CheckpointError(
            f"This server offers only these models: {', '.join(names)}. The link asks for another one. Use one of "
            f"these, or run the explorer on your own machine without {_SETTING}."
        )
    return get_shelf().get(name, end_if_superseded)


def has_model(name: str) -> bool:
    """Whether the model of this name is there without being loaded."""
    return get_shelf().find(state.read(_OWN).get(name, name)) is not None


def list_own() -> tuple[str, ...]:
    """The models that this session has trained, and what they were before, by name."""
    return tuple(state.read(_OWN))


def keep_own(models: Collection[Model]) -> None:
    """Offer models to this session alone, instead of those it had; nobody else can choose them."""
    kept = {model.name: f"{model.name} {model.revision}" for model in models}
    for model in models:
        get_shelf().adopt(kept[model.name], model)
    state.write(_OWN, kept)


def _get_own(name: str) -> Model:
    key = state.read(_OWN).get(name)
    found = get_shelf().find(key) if key else None
    if found is None:
        raise CheckpointError(
            f"The model “{name}” is not there: it was trained in another visit, or had to make room. A link "
            "holds a training's settings, not what came of it. Open the page Training and train it again."
        )
    return found


def admit() -> None:
    """Raises BusyError for a visit for which there is no room in the memory; who has a page already goes on."""
    if state.read(VIEW) is not None:
        return
    try:
        most = read_budget().bounds.visits
    except InputError:  # what is wrong with the setting the page says
        return
    here, session = get_budget().list_admitted(), read_session()
    if told := _tell_no_room(most, here, read_network(session)):
        get_budget().dismiss(read_visitor(session), session)
        raise BusyError(told)


def _tell_no_room(most: int, here: Collection[str], network: str) -> str:
    """Why there is no room for one of the sessions that are here, who comes from a network; "" where there is."""
    if len(here) > most:
        return f"{most} visitors at a time have room in this server's memory, and {len(here)} are here."
    near = sum(read_network(session) == network for session in here) if network else 0
    if near > most * OF_ONE_ADDRESS:
        return f"{near - 1} of the {most} visitors who have room in this server's memory come from your address."
    return ""


@contextmanager
def tell_if_busy() -> Generator[None]:
    """To stand around costly work in a part of a page: where there is no room for it, the page says so and goes on."""
    try:
        yield
    except BusyError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")


def watch_connection() -> Callable[[], bool]:
    """Tells, whenever it is called, whether this session's browser is connected."""
    session = read_session()
    return lambda: is_connected(session)


@st.cache_resource(show_spinner=False)
def get_queue() -> Queue:
    """The trainings of all sessions, of which one runs at a time, in a process of its own."""
    return Queue(Host(_show_asking, passes=_take_turn_beside))


@st.cache_resource(show_spinner=False)
def get_shelf() -> ModelShelf:
    """The process's models; one that has to go takes its traces along."""
    watch = get_watch()
    shelf = ModelShelf(read_budget().bounds.models, get_store().forget_model, watch.refuse_if_full)
    watch.empty_with(shelf.clear)
    return shelf


@st.cache_resource(show_spinner=False)
def get_store() -> TraceStore:
    """The process's traces."""
    watch, bounds = get_watch(), read_budget().bounds
    at_once = min(CORES, bounds.passes_at_once)
    store = TraceStore(
        bounds.traces, bounds.recomputed, at_once, _show_place, watch.refuse_if_full, read_visitor, get_line()
    )
    watch.empty_with(store.clear)
    return store


def take_turn() -> AbstractContextManager[None]:
    """To stand around every pass that a page has made and the store does not keep: it then has a turn in the lane."""
    return get_store().turn(costly=True)


def work_out_once(trace: Trace, name: str, make: Callable[[], T]) -> T:
    """What is read out of a trace by costly work and remembered, as `remember` says: in a turn, which who asks for what
    is known already does not wait for."""
    known = recall(trace, name)
    if known is not None:
        return cast(T, known)
    with take_turn():
        return remember(trace, name, make)


@st.cache_resource(show_spinner=False)
def get_drawn() -> ByteLRU[tuple[object, ...], Any]:
    """What pages have worked out to be drawn, by what it depends on; whoever takes it must not change it."""
    drawn: ByteLRU[tuple[object, ...], Any] = ByteLRU(read_budget().bounds.drawn)
    get_watch().empty_with(drawn.clear)
    return drawn


@cache
def get_findings() -> Findings:
    """What is worked out unasked, in turns of the store that is there by then; its thread outlives all caches."""
    found = Findings(
        read_budget().bounds.findings,
        take_turn,
        measure_bytes,
        lambda: not get_line().is_idle,
        lambda: get_line().is_waited_in or pages.measure() > _BUSY,
        _is_there,
    )
    pages = Load(lambda: time.process_time() - found.spent_s)
    get_watch().empty_with(found.clear)
    return found


def _is_there(session: str) -> bool:
    """Whether a session's browser is connected; without a server, as in a test, whoever asks is there."""
    return is_connected(session) or not is_served()


@st.cache_resource(show_spinner=False)
def get_watch() -> Watch:
    """The watch over the process's memory. Raises InputError where there is too little to begin with."""
    return Watch(read_budget().server)


@st.cache_resource(show_spinner=False)
def get_line() -> Line:
    """The runs of pages, of which some are at work and the others wait, and say so."""
    return Line(_RUNS_AT_ONCE, _LONGEST_LINE, _show_line, read_visitor, _RUNS_OF_ONE, read_network)


@contextmanager
def _show_asking() -> Generator[None]:
    """What a page says while it waits for the process that trains; others have its turn meanwhile."""
    with get_line().pause(), _show("The training is asked between its steps …"):
        yield


@contextmanager
def _take_turn_beside() -> Generator[None]:
    """A turn for passes that the process that trains makes for a page, which gives up its own turn meanwhile.

    Whoever has one of these turns must not wait for that of its page: another page may have that and wait for this one.
    Raises TrainingError where there is none to be had.
    """
    try:
        with get_line().pause(), take_turn():
            yield
    except BusyError as error:
        raise TrainingError(str(error)) from None


def _show_place(before: int) -> AbstractContextManager[None]:
    """What a page says while it waits for a forward pass."""
    return _show(f"{before} before you: forward passes of others …" if before else "Running the forward pass …")


def _show_line(before: int) -> AbstractContextManager[None]:
    """What a page says before it is run."""
    return _show(f"{before} before you: this page goes on by itself …") if before else nullcontext()


def _show(text: str) -> AbstractContextManager[None]:
    """Say it on the page that this thread runs, if it runs one."""
    return st.spinner(text) if read_session() else nullcontext()
