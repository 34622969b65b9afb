"""The gate between what browsers ask for and the runs that answer.

Streamlit answers every message of a socket that asks for a run: it tells the run before to stop, and starts another in
a thread of its own at once. Hundreds a second leave no time for anybody else. Nor are the two runs of a session, old
and new, kept apart: the old one can finish its work on the session's state in the middle of the new one's, and what was
chosen is lost where a run is stopped before it has taken that. So here messages that come too fast are merged, and a
run begins when the one before has ended.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from bertviz_core.ui.frame.bucket import Bucket
from bertviz_core.ui.frame.budget import get_budget
from bertviz_core.ui.frame.doors import Doors
from bertviz_core.ui.frame.streamlit_inside import (
    AppSession,
    ClientState,
    Read,
    Request,
    RerunData,
    Run,
    ScriptRunner,
    WidgetStates,
    get_runner,
    has_begun,
    is_at_work,
    is_connected,
    leave_runner,
    merge_widgets,
    name_session,
    name_session_of,
    tell_failure,
    wrap_reads,
    wrap_requests,
    wrap_runs,
)
from bertviz_core.ui.frame.visitor import (
    NOBODY,
    name_payer,
    name_visitor,
    read_network,
    read_payer,
    read_visitor,
)
from edge.pace import name_network

PER_SECOND, BURST = 20.0, 5  # runs of a session
READ_PER_SECOND, READ_BURST = 60.0, 60  # messages of a socket: the rest stays with who sends it, and costs nothing here
_SLOW_READ_S = 0.2  # between two of those of a visitor who has taken too much
CROWD, CROWD_S = 8, 0.3  # where more sessions than that begin in a second, the first run of each waits for so long:
# who only comes and goes has gone by then, and costs nothing
MOST_PARTS = 32  # of a page, that wait at a time; a page has fewer
MOST_PRESSED = 100  # buttons, before the request with them is handed on
LONG_QUERY = 1_000  # characters of an address that holds a long sentence, which is costly
_LOOK_S = 0.01  # between two looks at a run that is to end
_DOORS_S = 0.02  # between two looks whether another session may come in
_TAKE_S = 5.0  # a run that has not taken by then what was chosen is stopped all the same
_END_S = 0.5  # a run that has not ended by then works out something long, and ends when it looks up

_GONE = 1006  # the code of a socket that was not closed but lost


def fit_gate() -> None:
    """Have the server ask for no more runs than a person wants, and count what they take."""
    wrap_requests(pass_gate)
    wrap_runs(count_seconds)
    wrap_reads(read_slowly)


def pass_gate(request: Request) -> Request:
    """The request, as a gate hands it on."""
    gate = Gate(request)

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        gate.take(session, client_state)

    return request_rerun


def read_slowly(receive: Read) -> Read:
    """The next message of a socket, no sooner than a person could have sent it.

    Of many that have come, Streamlit's loop takes one after the other without a look at anything else.
    """
    buckets: WeakKeyDictionary[WebSocket, Bucket] = WeakKeyDictionary()

    async def receive_bytes(self: WebSocket) -> bytes:
        bucket, payer = buckets.setdefault(self, Bucket(READ_PER_SECOND, READ_BURST)), find_payer(self)
        said = get_budget().get_said(payer)
        over = get_budget().count_wait(payer) > 0
        if wait := max(bucket.count_wait(), said.count_wait(), _SLOW_READ_S if over else 0.0):
            await asyncio.sleep(wait)
        bucket.take()
        if self.application_state == WebSocketState.DISCONNECTED:  # Streamlit would log it as an error
            raise WebSocketDisconnect(_GONE)
        message = await receive(self)
        said.take(1 + len(message) / 1000)
        return message

    return receive_bytes


def count_seconds(run: Run) -> Run:
    """The run of a page, or of parts of it, with the processor seconds of its thread charged to its visitor."""

    def run_and_charge(runner: ScriptRunner, rerun_data: RerunData) -> None:
        payer, began = read_payer(name_session_of(runner)), time.thread_time()
        try:
            run(runner, rerun_data)
        finally:
            get_budget().charge(payer, time.thread_time() - began)

    return run_and_charge


def find_payer(socket: WebSocket) -> str:
    """To whom is charged what is said on a socket."""
    return name_payer(name_visitor(socket.cookies), name_network(socket.client.host if socket.client else ""))


def find_near(session: AppSession) -> str:
    """The address that a session comes from."""
    return read_network(name_session(session))


def find_visitor(session: AppSession) -> str:
    """Whose a session is."""
    return read_visitor(name_session(session))


def is_running(session: AppSession) -> bool:
    """Whether a run of a session goes on; one that waits until its visitor may take more is in nobody's way."""
    runner = get_runner(session)
    return runner is not None and is_at_work(runner) and not get_budget().is_waiting(name_session(session))


def get_shared(session: AppSession) -> Bucket:
    """What bounds the runs of all sessions of a session's visitor together."""
    name = name_session(session)
    return get_budget().get_runs(read_payer(name), name)


# What was asked for and is not answered yet: the whole page, or parts of it (fragments).


def add_request(waiting: list[ClientState], new: ClientState) -> None:
    """Add a request to those that wait. The last one wins; nothing that was pressed is lost.

    The whole page has all its parts in it. A part of a page that is being left is asked for in vain.
    """
    if not new.fragment_id:
        for old in waiting:
            new = merge_requests(old, new)
        waiting[:] = [new]
    elif waiting and not waiting[0].fragment_id:
        if waiting[0].page_script_hash == new.page_script_hash:
            waiting[0] = merge_requests(waiting[0], new)
    else:
        same = [i for i, old in enumerate(waiting) if old.fragment_id == new.fragment_id]
        if same:
            waiting[same[0]] = merge_requests(waiting[same[0]], new)
        else:
            waiting[:] = [*waiting[1 - MOST_PARTS :], new]


def merge_requests(old: ClientState, new: ClientState) -> ClientState:
    """One request for two of a session, as Streamlit itself merges what waits for a run."""
    merged = ClientState()
    merged.CopyFrom(new)
    add_said(merged, old.widget_states)
    merged.fragment_id = new.fragment_id if old.fragment_id else ""
    merged.is_history_navigation = new.is_history_navigation or (old.is_history_navigation and new.is_auto_rerun)
    if old.HasField("context_info") and not new.HasField("context_info"):
        merged.context_info.CopyFrom(old.context_info)
    return merged


def add_said(new: ClientState, said: WidgetStates | None) -> None:
    """Add to a request what was pressed before it.

    Where more was pressed than anybody can press by then, it is made up, and not kept.
    """
    states = merge_widgets(said, new.widget_states)
    if states is not None and len(states.widgets) <= len(new.widget_states.widgets) + MOST_PRESSED:
        new.widget_states.CopyFrom(states)


@dataclass
class _Asked:
    """What a session has asked for.

    until: its first run does not begin before; comes: whether it waits at the doors for that; inside: whether it has
    come in; leaving: the run that is to end before the next one; since: when it was first in the way, or told to stop.
    """

    bucket: Bucket
    until: float
    waiting: list[ClientState] = field(default_factory=list[ClientState])
    timer: asyncio.TimerHandle | None = None
    comes: bool = False
    inside: bool = False
    current: ScriptRunner | None = None
    leaving: ScriptRunner | None = None
    since: float = 0.0


class Gate:
    """Hands on what sessions ask for, when it is time. Only for the thread of the server's event loop.

    request: what is done then; shared: what bounds the runs of several sessions together; connected: whether the
    browser of a session is there; near: the address that it comes from; who: its visitor.
    """

    def __init__(
        self,
        request: Request,
        shared: Callable[[AppSession], Bucket] = get_shared,
        connected: Callable[[AppSession], bool] = lambda session: is_connected(name_session(session)),
        clock: Callable[[], float] = time.monotonic,
        near: Callable[[AppSession], str] = find_near,
        who: Callable[[AppSession], str] = find_visitor,
    ) -> None:
        self._request, self._shared, self._connected = request, shared, connected
        self._clock, self._near, self._who = clock, near, who
        self._doors = Doors(is_running, connected, clock)
        self._opening: asyncio.TimerHandle | None = None
        self._asked: WeakKeyDictionary[AppSession, _Asked] = WeakKeyDictionary()
        self._came = {named: deque[float](maxlen=CROWD) for named in (True, False)}  # when the newest sessions began

    def take(self, session: AppSession, client_state: ClientState | None) -> None:
        """Take a request. Of the server itself (a file has changed, say), from whatever thread, it goes through."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            client_state = None
        if client_state is None:
            self._request(session, client_state)
            return
        asked = self._asked.get(session)
        if asked is None:
            until = self._come(self._who(session))
            asked = self._asked[session] = _Asked(Bucket(PER_SECOND, BURST, self._clock), until)
        add_request(asked.waiting, client_state)
        if asked.timer is None and not asked.comes:
            self._hand_on(session, asked)

    def _come(self, visitor: str) -> float:
        """Note that a session begins; gives when its first run may: at once, but in a crowd.

        Who comes by a cookie does not wait for a crowd that sends none.
        """
        now, came = self._clock(), self._came[visitor != NOBODY]
        crowded = len(came) == CROWD and now - came[0] < 1.0
        came.append(now)
        return now + CROWD_S if crowded else now

    def _look_again(self, session: AppSession, asked: _Asked) -> None:
        asked.timer = None
        if not self._connected(session):  # where it comes back, its browser asks again
            asked.waiting.clear()
            return
        try:
            self._hand_on(session, asked)
        except Exception as error:
            tell_failure(session, error)

    def _hand_on(self, session: AppSession, asked: _Asked) -> None:
        while asked.waiting:
            wait = self._count_wait(session, asked)
            if wait > 0:
                asked.timer = asyncio.get_running_loop().call_later(wait, self._look_again, session, asked)
                return
            if not asked.inside:
                asked.comes = True
                costly = len(asked.waiting[0].query_string) > LONG_QUERY
                self._doors.come(session, self._near(session), self._who(session), costly=costly)
                self._open_doors()
                return
            self._doors.note(self._near(session))
            asked.bucket.take()
            self._shared(session).take()
            self._request(session, asked.waiting.pop(0))

    def _open_doors(self) -> None:
        """Have those begin who may come in now, and look again while others wait."""
        for session in self._doors.let_in():
            asked = self._asked[session]
            asked.comes, asked.inside = False, True
            self._look_again(session, asked)
        if self._doors.are_waited_at and self._opening is None:
            self._opening = asyncio.get_running_loop().call_later(_DOORS_S, self._open_again)

    def _open_again(self) -> None:
        self._opening = None
        self._open_doors()

    def _count_wait(self, session: AppSession, asked: _Asked) -> float:
        """Seconds until it is worth looking again whether the first that waits can be answered; 0 where it can."""
        wait = max(asked.bucket.count_wait(), self._shared(session).count_wait(), asked.until - self._clock())
        if wait > 0 or asked.waiting[0].fragment_id:
            return wait
        return 0.0 if self._end_run(session, asked) else _LOOK_S

    def _end_run(self, session: AppSession, asked: _Asked) -> bool:
        """Stop the run that is in the way, once it has taken what was chosen. Returns whether none is any more."""
        now, runner = self._clock(), get_runner(session)
        if runner is not None:
            if asked.current is not runner:
                asked.current, asked.since = runner, now
            if is_at_work(runner) and not has_begun(runner) and now - asked.since < _TAKE_S:
                return False
            said = leave_runner(session, runner)
            if not asked.waiting[0].is_history_navigation:  # who goes back has left what was pressed
                add_said(asked.waiting[0], said)
            asked.leaving, asked.since = runner, now
        if asked.leaving is not None and is_at_work(asked.leaving) and now - asked.since < _END_S:
            return False
        asked.current = asked.leaving = None
        return True
