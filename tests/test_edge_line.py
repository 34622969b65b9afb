"""What a browser may say on its web socket, and how much of it."""

import asyncio
from contextlib import ExitStack

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from uvicorn import Config
from uvicorn.server import ServerState

from edge import connections, line
from edge.guard import VISITOR, Guard
from edge.headers import Frames
from edge.inside import name_kind, read_message
from edge.line import MOST_WIDGETS, hear_wanted
from edge.sizes import LONGEST_QUERY
from tests.edge import check_floods
from tests.loops import run_alone


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setattr(line, "KEPT_S", 0.05)


def test_a_flood_of_small_frames_and_what_no_page_says_end_their_own_socket_alone(server):
    check_floods(server)


ASKED = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
TOO_LONG = b"\x82\xff" + (1 << 30).to_bytes(8, "big") + bytes(4)  # how a message of 1 GiB begins
TOLD = b"\x03\xf1"  # 1009


async def accept(scope, receive, send):
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def send_too_long(parts, leave):
    """Send so many parts of 64 KiB of a message after its server has said that it is too long, and leave or stay.

    Whether the server said so, and whether it took them all and ended in order.
    """

    def serve():
        return connections.BoundedProtocol(Config(accept, ws_max_size=100, log_config=None), ServerState(), {})

    service = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
    try:
        writer.write(ASKED)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(TOO_LONG)
        told = TOLD in await reader.read(1000)
        for _ in range(parts):
            writer.write(bytes(1 << 16))
            await writer.drain()
        if leave:
            writer.write_eof()
        return told, await asyncio.wait_for(reader.read(), 20) == b""
    except ConnectionError:
        return told, False
    finally:
        writer.close()
        service.close()


@pytest.mark.parametrize(("parts", "taken"), [(0, True), (20, True), (200, False)])
def test_who_sends_too_long_a_message_is_told_so_and_may_send_some_more_of_it(monkeypatch, parts, taken):
    monkeypatch.setattr(connections, "LEAVE_S", 60.0)
    monkeypatch.setattr(connections, "MOST_UNHEARD", 50 << 16)
    assert run_alone(send_too_long(parts, leave=True)) == (True, taken)


def test_who_sent_too_long_a_message_and_stays_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(connections, "LEAVE_S", 0.1)
    assert run_alone(send_too_long(0, leave=False)) == (True, True)


def test_only_what_pages_ask_for_is_heard():
    files = BackMsg(), BackMsg()
    files[0].backend_operation_request.install_skills.SetInParent()
    files[1].backend_operation_request.deferred_file.SetInParent()
    rerun = BackMsg(rerun_script=ClientState())
    said = [BackMsg(load_git_info=True), BackMsg(clear_cache=True), files[0], rerun, files[1]]
    queue = [{"type": "websocket.receive", "bytes": one.SerializeToString()} for one in said]
    queue += [{"type": "websocket.receive", "text": "text"}]
    sent = []

    async def receive():
        return queue.pop(0)

    async def send(message):
        sent.append(message)

    async def hear():
        heard = hear_wanted(receive, send)
        return [await heard() for _ in range(3)]

    *kept, last = run_alone(hear())
    assert [name_kind(read_message(message["bytes"])) for message in kept] == ["rerun_script", "deferred_file"]
    assert last["type"] == "websocket.disconnect"
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_who_was_hung_up_on_counts_as_there_for_some_time():
    said, sockets = [{"type": "websocket.receive", "text": "text"}], line.Sockets()

    async def receive():
        return said.pop()

    async def send(_):
        pass

    async def talk():
        with sockets.hold("ann"):
            await hear_wanted(receive, send)()

    async def look():
        talking = asyncio.create_task(talk())
        await asyncio.sleep(0.01)
        assert not said and sockets._open == {"ann": 1}
        await talking
        return dict(sockets._open)

    assert run_alone(look()) == {}


def ask_with(more):
    """Requests of which each says as much as it may in one thing, or one more."""
    state = ClientState()
    for i in range(MOST_WIDGETS + more):
        state.widget_states.widgets.add(id=f"$$ID-{i}", trigger_value=True)
    yield state
    for field in ("json_value", "json_trigger_value"):
        for value in (
            "[" * (line.MOST_BRACKETS + more) + "]" * (line.MOST_BRACKETS + more),
            f"[{','.join(['{}'] * (line.MOST_BRACKETS + more - 1))}]",
            f'"{"x" * (line.LONGEST_VALUE + more - 2)}"',
        ):
            state = ClientState()
            state.widget_states.widgets.add(id="$$ID-listener", **{field: value})
            yield state
    yield ClientState(query_string="x" * (LONGEST_QUERY + more))
    yield ClientState(query_string="&".join(["a=1"] * (line.MOST_FIELDS + more)))
    yield ClientState(page_name="x" * (line.LONGEST_NAME + more))
    yield ClientState(fragment_id="a" * (64 + more))
    yield ClientState(page_script_hash="a" * (64 + more))


NOT_OURS = [ClientState(fragment_id="a\n2026-01-01 said by nobody"), ClientState(page_script_hash="../app.py")]


@pytest.mark.parametrize(
    ("state", "more"),
    [*((state, 0) for state in ask_with(0)), *((state, 1) for state in (*ask_with(1), *NOT_OURS))],
    ids=lambda one: str(one)[:30],
)
def test_who_says_more_than_a_page_has_is_hung_up_on(state, more):
    sent = []
    said = {"type": "websocket.receive", "bytes": BackMsg(rerun_script=state).SerializeToString()}

    async def receive():
        return said

    async def send(message):
        sent.append(message)

    heard = run_alone(hear_wanted(receive, send)())
    assert (heard == said, sent) == (not more, [{"type": "websocket.close", "code": line.TOO_MUCH}] * more)


@pytest.mark.parametrize(
    "widget",
    [
        {"id": "listener", "trigger_value": True},
        {"id": "", "trigger_value": True},
        *({"id": "$$ID-listener", field: said} for field in ("json_value", "json_trigger_value") for said in ("", "{")),
    ],
    ids=str,
)
def test_what_names_no_widget_or_is_no_json_does_not_come_to_the_app(widget):
    sent, state = [], ClientState()
    state.widget_states.widgets.add(**widget)
    said = {"type": "websocket.receive", "bytes": BackMsg(rerun_script=state).SerializeToString()}

    async def receive():
        return said

    async def send(message):
        sent.append(message)

    assert run_alone(hear_wanted(receive, send)()) != said
    assert sent == [{"type": "websocket.close", "code": 1003}]


def test_who_connects_and_asks_for_nothing_is_hung_up_on_and_who_has_asked_is_not(monkeypatch):
    monkeypatch.setattr(line, "SILENT_S", 0.05)
    sent = []

    async def send(message):
        sent.append(message)

    async def listen(said):
        queue = asyncio.Queue()
        for message in said:
            queue.put_nowait(message)
        heard = hear_wanted(queue.get, send)
        found = [await heard() for _ in said]
        if said:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(heard(), 0.3)
            return found
        return await heard()

    rerun = {"type": "websocket.receive", "bytes": BackMsg(rerun_script=ClientState()).SerializeToString()}
    assert run_alone(listen([rerun])) == [rerun] and sent == []
    assert run_alone(listen([]))["type"] == "websocket.disconnect"
    assert sent == [{"type": "websocket.close", "code": line.TOO_MUCH}]


@pytest.mark.parametrize(("visitor", "most"), [("ann", line.EACH), ("", line.NAMELESS)])
def test_one_visitor_opens_some_sockets_and_takes_no_others(visitor, most):
    sockets = line.Sockets()
    with ExitStack() as held:
        assert all(held.enter_context(sockets.hold(visitor)) for _ in range(most))
        for _ in range(2):  # what was refused counts for nothing
            with sockets.hold(visitor) as admitted:
                assert not admitted
        with sockets.hold("bob") as admitted:
            assert admitted
    with sockets.hold(visitor) as admitted:
        assert admitted


def test_who_is_refused_waits_for_the_word_where_not_too_many_do(monkeypatch):
    monkeypatch.setattr(line, "EACH", 0)
    monkeypatch.setattr(line, "MOST_REFUSED", 2)
    monkeypatch.setattr(line, "REFUSED_S", 0.1)
    told = []

    async def knock(guard, number):
        async def hear(message):
            told.append((number, message["code"]))

        heard = [(b"cookie", f"{VISITOR}={number:032x}".encode())]
        await guard({"type": "websocket", "scheme": "ws", "headers": heard}, None, hear)

    async def knock_together():
        guard = Guard(None, Frames())
        for first in (0, 4):  # who was told waits no longer
            await asyncio.gather(*(knock(guard, first + i) for i in range(4)))

    run_alone(knock_together())
    assert told == [(number, line.TOO_MUCH) for number in (2, 3, 0, 1, 6, 7, 4, 5)]


@pytest.mark.parametrize("asked", [False, True])
def test_who_connects_and_sends_nothing_is_hung_up_on(monkeypatch, asked):
    monkeypatch.setattr(connections, "HEAD_S", 0.1)

    class Plain(asyncio.Protocol):
        cycle = object() if asked else None

    async def wait():
        service = await asyncio.get_running_loop().create_server(connections.hurry(Plain), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*service.sockets[0].getsockname())
        try:
            return await asyncio.wait_for(reader.read(), 0.5 if asked else 20.0)
        except TimeoutError:
            return None
        except ConnectionResetError:
            return b""
        finally:
            writer.close()
            service.close()

    assert run_alone(wait()) == (None if asked else b"")
