"""Requests that come too fast are merged, nothing that was pressed is lost, and runs of a session do not overlap."""

import asyncio

import pytest
from lines import dial
from starlette.websockets import WebSocketDisconnect, WebSocketState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import RerunData
from wire import Conversation

from bertviz_core.ui.frame import doors
from bertviz_core.ui.frame import gate as gate_module
from bertviz_core.ui.frame.budget import ONE, Budget, get_budget
from bertviz_core.ui.frame.doors import INSIDE_S
from bertviz_core.ui.frame.gate import BURST, CROWD, CROWD_S, PER_SECOND, Gate, read_slowly
from bertviz_core.ui.frame.visitor import COOKIE
from tests.gate import Clock, Run, Session, ask, guard, look, read
from tests.loops import run_alone

_FLOOD = 200  # messages


def test_in_a_crowd_who_only_comes_and_goes_is_never_run():
    async def crowd():
        gate, clock = guard()
        early, late, gone = [Session() for _ in range(CROWD)], Session(), Session()
        for session in (*early, late, gone):
            gate.take(session, ask(head="Head 1"))
        assert all(session.answered for session in early) and not late.answered and not gone.answered
        gone.connected = False
        clock.now += CROWD_S
        for session in (late, gone):
            assert 0 < await look(gate, session) <= CROWD_S
        assert len(late.answered) == 1 and not gone.answered and not gate._asked[gone].waiting
        gate.take(late, ask(head="Head 2"))  # only the first one waits
        assert len(late.answered) == 2
        named = Session("ann")
        gate.take(named, ask(head="Head 1"))
        assert named.answered, "who has a name does not wait for a crowd that has none"
        clock.now += 1.0
        one = Session()
        gate.take(one, ask(head="Head 1"))
        assert one.answered

    run_alone(crowd())


def test_a_first_run_that_waits_for_its_share_keeps_nobody_out():
    async def crowd():
        gate, _ = guard()

        def begin(session, state):
            session.answered.append(state)
            session._scriptrunner = Run()

        gate._request = begin
        greedy, mine = Session("home"), Session("home")
        for session in (greedy, mine):
            gate.take(session, ask(head="Head 1"))
        gate._open_again()
        assert greedy.answered and not mine.answered, "one of an address at a time"
        with get_budget().wait(greedy.id):
            gate._open_again()
        assert mine.answered

    run_alone(crowd())


def test_first_runs_begin_a_few_at_a_time_and_addresses_take_turns(monkeypatch):
    assert doors.OF_ONE_ADDRESS == doors.AT_ONCE - 1, "one address leaves room for others"
    monkeypatch.setattr(doors, "AT_ONCE", 4)
    monkeypatch.setattr(doors, "OF_ONE_ADDRESS", 3)

    async def crowd():
        gate, clock = guard()
        runs = []

        def begin(session, state):
            session.answered.append(state)
            session._scriptrunner = Run()
            runs.append(session)

        gate._request = begin
        theirs, mine = [Session("there") for _ in range(30)], [Session("home") for _ in range(3)]
        for session in theirs[:4]:
            gate.take(session, ask(head="Head 1"))
        assert runs == theirs[:3], "one address leaves some room"
        clock.now += 0.9
        for session in (*theirs[4:], *mine):
            gate.take(session, ask(head="Head 1"))
            gate.take(session, ask(head="Head 2"))  # whoever waits may go on choosing
        clock.now += CROWD_S
        for session in (*theirs[4:], *mine):
            if gate._asked[session].timer:
                await look(gate, session)
        assert runs[3:] == mine[:1]
        runs[0]._scriptrunner.end()
        theirs[3].connected = False
        gate._open_again()
        assert runs[4:] == mine[1:2], "of those who have fewer inside"
        assert read(mine[0].answered[0]) == {"head": "Head 2"}
        clock.now += INSIDE_S  # what takes long keeps nobody out
        gate._open_again()
        begun = runs[5:]
        assert mine[2] in begun and len(begun) == 4
        assert [one for one in begun if one in theirs] == theirs[4:7], "in order, and who has gone is passed over"
        assert gate._opening is not None
        gate._opening.cancel()
        for session in runs:
            session._scriptrunner.end()

    run_alone(crowd())


def test_a_session_with_a_long_sentence_has_a_door_of_its_own():
    async def come():
        gate, _ = guard()
        gate._request = lambda session, state: (
            session.answered.append(state),
            setattr(session, "_scriptrunner", Run()),
        )
        long, other, short = (Session("home") for _ in range(3))
        for session, query in ((long, "text=" + "word+" * 300), (other, "text=" + "other" * 300), (short, "text=word")):
            gate.take(session, ask(query=query))
        assert long.answered and short.answered and not other.answered
        gate._opening.cancel()
        for session in (long, short):
            session._scriptrunner.end()

    run_alone(come())


def test_a_flood_is_merged_and_its_last_message_is_answered_though_no_other_comes():
    async def flood():
        gate, clock = guard()
        session = Session()
        for i in range(500):
            gate.take(session, ask(head=f"Head {i}"))
        assert len(session.answered) == BURST
        clock.now += 1.5 / PER_SECOND
        assert 0 < await look(gate, session) <= 1 / PER_SECOND
        assert len(session.answered) == BURST + 1 and read(session.answered[-1]) == {"head": "Head 499"}
        assert gate._asked[session].timer is None

    run_alone(flood())


def test_many_sessions_of_one_visitor_have_no_more_than_he_may_ask_for():
    async def flood():
        gate, clock = guard(runs=8)
        sessions = [Session() for _ in range(8)]
        for i in range(100):
            for session in sessions:
                gate.take(session, ask(head=f"Head {i}"))
        assert sum(len(session.answered) for session in sessions) == 8
        clock.now += 1.01
        for session in sessions:
            await look(gate, session)
        assert sum(len(session.answered) for session in sessions) == 16

    run_alone(flood())


def test_of_one_who_has_taken_too_much_all_sessions_together_are_answered_once_a_second():
    async def flood():
        clock = Clock()
        budget = Budget(clock, lambda session: True)
        gate = Gate(
            lambda session, state: session.answered.append(state),
            lambda session: budget.get_runs("ann", str(id(session))),
            lambda session: True,
            clock,
            lambda session: session.near,
            lambda session: session.visitor,
        )
        budget.charge("bob", 0.1)
        budget.charge("ann", 100.0)
        sessions = [Session() for _ in range(4)]
        for second in range(1, 4):
            for session in sessions:
                gate.take(session, ask(head=f"Head {second}"))
            assert sum(len(session.answered) for session in sessions) == second, second
            clock.now += 1.0
            for session in sessions:
                if gate._asked[session].timer is not None:
                    await look(gate, session)

    run_alone(flood())


def test_a_run_begins_when_the_one_before_has_ended():
    async def choose_twice():
        gate, _ = guard()
        session, run = Session(), Run()
        session._scriptrunner = run
        gate.take(session, ask(head="Head 1"))
        assert run.stopped and session._scriptrunner is None and not session.answered
        gate.take(session, ask(head="Head 2"))
        run.end()
        await look(gate, session)
        assert [read(one) for one in session.answered] == [{"head": "Head 2"}]

    run_alone(choose_twice())


@pytest.mark.parametrize(("back", "answered"), [(False, {"menu": True, "head": "Head 1"}), (True, {"head": "Head 1"})])
def test_what_a_part_of_the_page_waits_to_say_is_not_lost_with_the_run_that_it_waits_for(back, answered):
    async def press_and_choose():
        gate, _ = guard()
        session, run = Session(), Run()
        session._scriptrunner = run
        pressed = ask("part", menu=True, head="Head 0")
        run._requests.request_rerun(RerunData(fragment_id="part", widget_states=pressed.widget_states))
        chosen = ask(head="Head 1")
        chosen.is_history_navigation = back
        gate.take(session, chosen)
        run.end()
        await look(gate, session)
        assert [read(one) for one in session.answered] == [answered]

    run_alone(press_and_choose())


def test_a_run_is_not_stopped_before_it_has_taken_what_was_chosen():
    async def press_twice():
        gate, _ = guard()
        session, run = Session(), Run(begun=False)
        session._scriptrunner = run
        gate.take(session, ask(second=True))
        assert not run.stopped and session._scriptrunner is run
        run.context.has_script_started = True
        await look(gate, session)
        assert run.stopped and not session.answered
        run.end()
        await look(gate, session)
        assert [read(one) for one in session.answered] == [{"second": True}]

    run_alone(press_twice())


@pytest.mark.parametrize(("begun", "patience"), [(True, [0.5]), (False, [5.0, 0.5])])
def test_a_run_that_works_something_long_out_keeps_nobody_waiting_for_ever(begun, patience):
    async def choose():
        gate, clock = guard()
        session, run = Session(), Run(begun)
        session._scriptrunner = run
        gate.take(session, ask(head="Head 1"))
        for seconds in patience:
            assert not session.answered
            clock.now += seconds
            await look(gate, session)
        assert len(session.answered) == 1 and run.stopped
        run.end()

    run_alone(choose())


def test_a_part_of_a_page_is_asked_for_while_the_page_runs():
    async def click():
        gate, _ = guard()
        session, run = Session(), Run()
        session._scriptrunner = run
        gate.take(session, ask("menu", menu=True))
        assert len(session.answered) == 1 and not run.stopped and session._scriptrunner is run
        run.end()

    run_alone(click())


def test_what_the_server_itself_asks_for_goes_through_from_any_thread():
    gate, _ = guard()
    session = Session()
    gate.take(session, None)
    gate.take(session, ask(head="Head 1"))  # a file has changed, says a thread that has no event loop
    assert len(session.answered) == 2


def test_a_socket_is_read_no_faster_than_a_person_sends(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    async def receive(_):
        return b"message"

    class Socket:
        cookies, client, application_state = {}, None, WebSocketState.CONNECTED

    async def flood():
        socket, paced = Socket(), read_slowly(receive)
        for _ in range(gate_module.READ_BURST + 10):
            assert await paced(socket) == b"message"
        socket.application_state = WebSocketState.DISCONNECTED
        with pytest.raises(WebSocketDisconnect):
            await paced(socket)

    monkeypatch.setattr(gate_module.asyncio, "sleep", sleep)
    run_alone(flood())
    assert slept and sum(slept[:10]) > 0.1


def test_of_one_visitor_no_more_is_read_than_a_person_says_on_however_many_sockets(monkeypatch):
    slept, budget = [], Budget(Clock())

    class Socket:
        def __init__(self, visitor):
            self.cookies, self.client = {COOKIE: visitor}, None
            self.application_state = WebSocketState.CONNECTED

    async def sleep(seconds):
        slept.append(seconds)

    async def receive(_):
        return bytes(249_000)

    async def say(visitor, times):
        paced = read_slowly(receive)
        for socket in [Socket(visitor) for _ in range(times)]:
            await paced(socket)

    monkeypatch.setattr(gate_module.asyncio, "sleep", sleep)
    monkeypatch.setattr(gate_module, "get_budget", lambda: budget)
    run_alone(say("ann", 4))
    assert slept == []
    run_alone(say("ann", 3))
    run_alone(say("bob", 1))
    assert slept == pytest.approx([(1 + 250 * i) / ONE.said for i in range(3)])


@pytest.mark.slow
@pytest.mark.rare
def test_a_flood_on_the_wire_is_merged_and_its_last_choice_is_answered(server):
    async def flood():
        talk, runs = Conversation(), 0
        async with asyncio.timeout(120), await dial(server, {COOKIE: "flooder"}) as line:
            await line.send(talk.open("attention"))
            while not talk.take(await line.recv(decode=False)):
                pass
            heads = talk.menus["Head"][1]
            for i in range(_FLOOD):
                await line.send(talk.choose("Head", heads[i % 2 + 3] if i < _FLOOD - 1 else heads[7]))
            while "head=7" not in talk.query:
                data = await line.recv(decode=False)
                talk.take(data)
                runs += ForwardMsg.FromString(data).HasField("new_session")
        assert not talk.trouble
        return runs

    assert 1 <= run_alone(flood()) < _FLOOD / 2
