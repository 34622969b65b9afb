"""What a browser may say on its web socket, and how much of it."""

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from edge.line import hear_wanted, read_kind
from tests.edge import check_floods
from tests.loops import run_alone


def test_a_flood_of_small_frames_and_what_no_page_says_end_their_own_socket_alone(server):
    check_floods(server)


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
    assert [read_kind(message["bytes"]) for message in kept] == ["rerun_script", "deferred_file"]
    assert last["type"] == "websocket.disconnect"
    assert [message["type"] for message in sent] == ["websocket.close"]
