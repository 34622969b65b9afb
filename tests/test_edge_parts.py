"""A short message can have hundreds of thousands of parts: it is refused before it is taken apart."""

import asyncio
import random

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState

from edge import line
from edge.inside import has_more_parts
from edge.line import MOST_PARTS, hear_wanted
from edge.sizes import LONGEST_QUERY
from tests.loops import run_alone


def list_many():
    """Messages of more parts than any page of ours sends, each in another place."""
    many = MOST_PARTS + 1
    yield "widgets", BackMsg(rerun_script=ClientState(widget_states={"widgets": [WidgetState()] * many}))
    yield "hashes", BackMsg(rerun_script=ClientState(cached_message_hashes=[""] * many))
    for field, value in (("string_array_value", ""), ("int_array_value", 0), ("double_array_value", 0.0)):
        widget = WidgetState(id="$$ID-1", **{field: {"data": [value] * many}})
        yield field, BackMsg(rerun_script=ClientState(widget_states={"widgets": [widget]}))
    yield "file names", BackMsg(file_urls_request={"file_names": [""] * many})


@pytest.mark.parametrize("said", [message for _, message in list_many()], ids=[name for name, _ in list_many()])
def test_of_too_many_parts_none_is_taken_apart(said, monkeypatch):
    monkeypatch.setattr(line, "KEPT_S", 0.0)
    monkeypatch.setattr(line, "read_message", pytest.fail)
    sent = []

    async def receive():
        return {"type": "websocket.receive", "bytes": said.SerializeToString()}

    async def send(message):
        sent.append(message)

    assert run_alone(hear_wanted(receive, send)())["type"] == "websocket.disconnect"
    assert sent == [{"type": "websocket.close", "code": line.TOO_MUCH}]


def count_fields(message):
    """As protobuf lists them, where all lists are of texts or of messages."""
    found = 0
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        found += len(values) + sum(count_fields(each) for each in values if field.message_type)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_it_counts_what_protobuf_takes_apart(seed):
    rng = random.Random(seed)
    state = ClientState(query_string="a=1" * rng.randrange(100), fragment_id="0" * rng.randrange(64))
    state.cached_message_hashes.extend(["f" * rng.randrange(40) for _ in range(rng.randrange(30))])
    for i in range(rng.randrange(30)):
        said = [{"int_value": -i}, {"double_value": 0.5}, {"trigger_value": True}, {"json_value": "[]"}]
        said.append({"string_array_value": {"data": ["x" * 200, ""]}})
        state.widget_states.widgets.add(id=f"$$ID-{i}", **rng.choice(said))
    state.context_info.timezone_offset = rng.randrange(-(1 << 31), 1 << 31)
    message = BackMsg(rerun_script=state)
    data, parts = message.SerializeToString(), count_fields(message)
    assert not has_more_parts(data, parts) and has_more_parts(data, parts - 1)
    for cut in range(len(data)):  # what is cut has no more
        assert not has_more_parts(data[:cut], parts)


@pytest.mark.parametrize("data", [b"", b"\xff" * (1 << 18), b"\x5a" + b"\xff" * 9 + b"\x01", b"\x5a\x7f"], ids=len)
def test_what_is_no_message_is_left_to_who_takes_it_apart(data):
    assert not has_more_parts(data, MOST_PARTS)


def test_of_what_is_refused_nothing_is_kept_while_its_sender_waits(monkeypatch):
    monkeypatch.setattr(line, "KEPT_S", 3_600)

    gone = []

    class Said(bytes):
        """Bytes that say when nobody has them any more."""

        def __del__(self):
            gone.append(True)

    async def hear(message):
        queue = [{"type": "websocket.receive", "bytes": Said(message.SerializeToString())}]

        async def receive():
            return queue.pop()

        async def send(_):
            pass

        hearing = asyncio.create_task(hear_wanted(receive, send)())
        for _ in range(20):
            await asyncio.sleep(0)
        found = [*gone, hearing.done()]
        gone.clear()
        hearing.cancel()
        return found

    widget = WidgetState(id="no widget")
    refused = (
        BackMsg(rerun_script=ClientState(query_string="x" * (LONGEST_QUERY + 1))),
        BackMsg(rerun_script=ClientState(widget_states={"widgets": [widget]})),
    )
    assert [run_alone(hear(each)) for each in refused] == [[True, False]] * 2
