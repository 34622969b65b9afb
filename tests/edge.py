"""What a server says to browsers, asked over the wire; for `streamlit run` and for the service."""

import http.client
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from edge.guard import LARGEST_MESSAGE

NAMES = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Permissions-Policy")
ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


def ask(url, path, method="GET", body=None, **headers):
    """The status, the headers and the body of an answer."""
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    found = answer.status, answer.headers, answer.read().decode(errors="replace")
    line.close()
    return found


def tells(headers):
    """Whether an answer says all that every answer says, each thing once."""
    told = {name: headers.get_all(name) or [] for name in NAMES}
    return (
        all(len(values) == 1 for values in told.values())
        and told["X-Content-Type-Options"] == ["nosniff"]
        and told["Referrer-Policy"] == ["no-referrer"]
        and "script-src 'self'" in told["Content-Security-Policy"][0]
        and "unsafe-eval'" not in told["Content-Security-Policy"][0].replace("wasm-unsafe-eval", "")
    )


def cookies(headers):
    """The cookies that an answer sets: values and attributes, by name."""
    set_ = [each.partition("=") for each in headers.get_all("Set-Cookie") or []]
    return {name: rest.split("; ") for name, _, rest in set_}


def open_line(url, **headers):
    return connect(
        f"{url.replace('http', 'ws')}/_stcore/stream",
        subprotocols=["streamlit"],
        max_size=None,
        additional_headers=headers,
    )


def run_page(line, padding=0):
    """Ask for a page by a message of about so many bytes, and read up to the end of its script's last run."""
    request = BackMsg()
    request.rerun_script.page_name = "notation"
    request.rerun_script.cached_message_hashes.append("x" * padding)
    line.send(request.SerializeToString())
    message = ForwardMsg()
    while not (message.WhichOneof("type") == "script_finished" and message.script_finished in ENDS):
        message.ParseFromString(line.recv(60))
    return message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def check_messages(url):
    """A long message closes its own socket, with the code that says so, and no other; what a page sends passes."""
    with ThreadPoolExecutor(1) as own:  # in this thread Playwright may have a loop running
        own.submit(_check_messages, url).result()


def _check_messages(url):
    with open_line(url) as other:
        assert run_page(other, 100_000)
        for times in (1, 4, 16):  # so much is still on its way when the server says that it is too long
            with open_line(url) as line:
                try:
                    run_page(line, times * LARGEST_MESSAGE)
                except ConnectionClosed as closed:
                    assert closed.rcvd is not None and closed.rcvd.code == 1009, closed
                else:
                    raise AssertionError("the message was taken")
            assert run_page(other)


FLOODS = {
    "pings": b"\x89\x80\x00\x00\x00\x00" * 20_000,
    "pongs": b"\x8a\x80\x00\x00\x00\x00" * 20_000,
    "heartbeats": (b"\x82\x83\x00\x00\x00\x00" + BackMsg(app_heartbeat=True).SerializeToString()) * 20_000,
    "empty parts of a message": b"\x02\x80\x00\x00\x00\x00" + b"\x00\x80\x00\x00\x00\x00" * 20_000,
}


def check_floods(url):
    """A flood of small frames, and what is none of Streamlit's messages, close their own sockets and no other."""
    with ThreadPoolExecutor(1) as own:
        own.submit(_check_floods, url).result()


def _check_floods(url):
    with open_line(url) as other:
        assert run_page(other)
        for name, flood in FLOODS.items():
            with open_line(url) as line:
                with suppress(OSError):  # it is closed before all of it is sent
                    line.socket.sendall(flood)
                _await_end(line)
            assert run_page(other), name
        for junk in ("text", b"\xff\xff\xff", b""):
            with open_line(url) as line:
                line.send(junk)
                _await_end(line)
        other.send(BackMsg(clear_cache=True).SerializeToString())  # passed over, with what everybody shares
        assert run_page(other)


def _await_end(line):
    with suppress(ConnectionClosed):
        while True:
            line.recv(timeout=60)


async def answer(scope, receive, send):
    """An app that says yes."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})
