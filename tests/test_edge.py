"""What the server says before Streamlit does: headers, cookies, what is refused, who can reach it."""

import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from streamlit import net_util
from streamlit.web.server.app_discovery import discover_asgi_app
from uvicorn import Config
from uvicorn.lifespan.on import LifespanOn

from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame import visitor
from edge.connections import END_S, bound_server
from edge.guard import LARGEST_MESSAGE, VISITOR, Guard
from edge.headers import ANCESTORS, Frames, read_frames
from edge.streamlit_files import find_static
from tests.browser import App, answers
from tests.edge import ask, check_messages, cookies, tells
from tests.loops import run_alone

ROOT = Path(__file__).parents[1]
SCRIPT = next((find_static() / "static" / "js").glob("index.*.js")).name
ELSEWHERE = "http://course.test"  # a page that shows the app in a frame
ANSWERS = {
    "a page": ("/", "GET", 200),
    "another page": ("/attention?text=x", "GET", 200),
    "a file of Streamlit's": (f"/static/js/{SCRIPT}", "GET", 200),
    "the health": ("/_stcore/health", "GET", 200),
    "the host's word": ("/_stcore/host-config", "GET", 200),
    "no file": ("/media/none.csv", "GET", 404),
    "no component": ("/_stcore/bidi-components/none/none.js", "GET", 404),
    "not a path": ("//elsewhere.test/%2e%2e", "GET", 400),
    "a redirection": ("/attention/", "GET", 301),
    "what is wanted": ("/_stcore/health", "OPTIONS", 204),
    "an upload": ("/_stcore/upload_file/a/b", "PUT", 404),
    "a page that is changed": ("/", "POST", 405),
    "figures": ("/_stcore/metrics", "GET", 404),
    "the script's own check": ("/_stcore/script-health-check", "GET", 404),
    "a program": ("/_stcore/agent/interact", "POST", 404),
    "an account": ("/auth/login", "GET", 404),
}


@pytest.mark.parametrize(("path", "method", "status"), ANSWERS.values(), ids=ANSWERS)
def test_every_answer_has_the_headers(server, path, method, status):
    found, headers, _ = ask(server, path, method)
    assert (found, tells(headers)) == (status, True), headers.items()


def test_nothing_is_uploaded_and_no_request_has_a_body(server):
    known = cookies(ask(server, "/_stcore/health")[1])["_streamlit_xsrf"][0]
    allowed = {"Cookie": f"_streamlit_xsrf={known}", "X-Xsrftoken": known}  # as anybody can have it
    for method in ("PUT", "DELETE", "OPTIONS"):
        status, _, said = ask(server, "/_stcore/upload_file/session/file", method, b"x" * 1000, **allowed)
        assert status == 404 and said.startswith("The app takes no files")
    assert ask(server, "/", "GET", b"x" * 10)[::2] == (
        413,
        "The app takes requests without a body; this one has one.\n",
    )
    assert ask(server, "/attention", "GET", iter([b"x"]), Transfer_Encoding="chunked")[0] == 413
    assert ask(server, "/", "POST")[1]["Allow"] == "GET, HEAD, OPTIONS"


def test_a_long_message_closes_its_own_socket_alone(server):
    check_messages(server)


def test_no_other_site_may_send_orders(server):
    assert json.loads(ask(server, "/_stcore/host-config")[2])["allowedOrigins"] == []


def test_a_visitor_is_given_a_cookie_of_their_own_once(server):
    first, second = (cookies(ask(server, "/attention")[1]) for _ in range(2))
    value, *attributes = first[VISITOR]
    assert re.fullmatch("[0-9a-f]{32}", value) and value != second[VISITOR][0]
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Lax"]
    assert VISITOR not in cookies(ask(server, "/", Cookie=f"a=b; {VISITOR}={value}; c=d")[1])
    for wrong in ("", "x", f"{value}0", f"{value[:-1]}G"):
        assert VISITOR in cookies(ask(server, "/", Cookie=f"{VISITOR}={wrong}")[1])
    for path in (f"/static/js/{SCRIPT}", "/_stcore/health", "/media/none.csv"):
        assert VISITOR not in cookies(ask(server, path)[1])


def test_cookies_are_secure_where_the_connection_is(server):
    for path, name in (("/", VISITOR), ("/_stcore/health", "_streamlit_xsrf")):
        plain, secure, listed, pretended = (
            cookies(ask(server, path, X_Forwarded_Proto=proto)[1])[name][1:]
            for proto in ("http", "https", "HTTPS, http", "x")
        )
        assert plain == pretended and "Secure" not in plain and plain[-1] == "SameSite=Lax"
        assert secure == listed == [*plain, "Secure"]


async def ask_guard(app, frames=None, kind="http", **headers):
    """What the guard sends around an app of a few lines; headers: of the request."""
    sent = []

    async def send(message):
        sent.append(message)

    heard = [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": "/", "scheme": "http", "headers": heard}
    try:
        await Guard(app, frames or Frames())(scope, None, send)
    except ArithmeticError:
        sent.append("raised")
    return sent


def sent_by(*asked, **headers):
    return run_alone(ask_guard(*asked, **headers))


async def speak_on(scope, receive, send):
    """An app whose web socket the server has closed meanwhile."""
    try:
        await send({"type": "websocket.send", "bytes": b""})
    except OSError as error:  # as where the browser has gone: Starlette makes its WebSocketDisconnect of this
        await scope["noted"](str(error))


def test_what_is_said_on_a_socket_that_the_server_has_closed_is_no_fault_of_the_app():
    noted = []

    async def speak():
        async def note(what):
            noted.append(what)

        async def refuse(message):
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

        asked = {"type": "websocket", "scheme": "ws", "headers": [], "noted": note}
        await Guard(speak_on, Frames())(asked, None, refuse)

    run_alone(speak())
    assert len(noted) == 1 and "websocket.close" in noted[0]


async def say_hello(scope, receive, send):
    own = [(b"Referrer-Policy", b"unsafe-url"), (b"Set-Cookie", b"theirs=a%b; Secure; Path=/x; samesite=strict")]
    await send({"type": "http.response.start", "status": 200, "headers": own})


async def fail(scope, receive, send):
    raise ArithmeticError


def test_what_the_app_says_itself_gives_way_to_what_every_answer_says():
    (start,) = sent_by(say_hello)
    assert [value for name, value in start["headers"] if name.lower() == b"referrer-policy"] == [b"no-referrer"]
    assert (b"Set-Cookie", b"theirs=a%b; Path=/x; SameSite=Lax") in start["headers"]


def test_in_a_frame_of_another_site_cookies_are_of_that_place_and_only_over_tls():
    framed = Frames(f"'self' {ELSEWHERE}")
    rules = {"https": "SameSite=None; Secure; Partitioned", "http": "SameSite=Lax"}
    for proto, rule in rules.items():
        (start,) = sent_by(say_hello, framed, X_Forwarded_Proto=proto)
        found = [value.decode() for name, value in start["headers"] if name.lower() == b"set-cookie"]
        assert len(found) == 2 and all(each.endswith(f"; {rule}") and each.count("SameSite") == 1 for each in found)


def test_a_failure_is_a_sentence_with_all_headers_and_still_the_server_hears_of_it():
    start, body, raised = sent_by(fail)
    assert start["status"] == 500 and (b"x-content-type-options", b"nosniff") in start["headers"]
    assert body["body"] == b"The server failed. Load the page again.\n" and raised == "raised"


def test_a_page_of_another_site_opens_no_socket_and_no_server_elsewhere_is_asked_why(server, monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("elsewhere"))
    here = {"Host": "bert.test", "kind": "websocket"}
    for origin in (
        "https://evil.test",
        "null",
        "https://bert.test.evil.test",
        "https://bert.test:8443",
        "http://localhost:3000",
    ):
        assert sent_by(fail, Origin=origin, **here) == [{"type": "websocket.close", "code": 1008}]
    for allowed in ({"Origin": "https://bert.test"}, {}):
        assert sent_by(fail, **allowed, **here) == ["raised"]
    assert asked == []


def test_the_bound_of_messages_is_set_on_the_server_that_starts():
    config = Config(say_hello, ws_max_size=200_000_000)
    bound_server(LifespanOn(config).receive, LARGEST_MESSAGE, {"X-Odd": "x"})
    assert config.ws_max_size == LARGEST_MESSAGE
    assert getattr(config.http_protocol_class, "of_answers") == {"X-Odd": "x"}  # noqa: B009 - a class of any server
    assert config.timeout_graceful_shutdown == END_S
    with pytest.raises(RuntimeError, match="another server runs the app"):
        bound_server(None, LARGEST_MESSAGE, {})


def test_streamlit_finds_the_app_with_its_edge():
    assert discover_asgi_app(ROOT / "app.py").import_string == "app:app"


@pytest.mark.parametrize(
    "sources",
    [
        "",
        "  \n",
        "'self'",
        "'none'",
        "*",
        "https: 'self'",
        f"'self' {ELSEWHERE}:8080",
        "https://huggingface.co https://*.hf.space",
    ],
)
def test_where_the_app_may_be_framed_is_read(monkeypatch, sources):
    monkeypatch.setenv(ANCESTORS, sources)
    assert read_frames().sources == (" ".join(sources.split()) or "'self'")
    assert read_frames().foreign == (sources.strip() not in ("", "'self'", "'none'"))


@pytest.mark.parametrize(
    "sources", ["self", "https://a;b", 'https://a"', "$host", "https://a b.example", "https://a\\b"]
)
def test_what_would_break_a_header_is_refused_with_a_sentence(monkeypatch, sources):
    monkeypatch.setenv(ANCESTORS, sources)
    with pytest.raises(ValueError, match="separated by spaces, such as 'self' https"):
        read_frames()


@pytest.fixture(scope="module")
def elsewhere():
    """A server of other pages: each shows in a frame what its address asks for. Gives its URL."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<iframe width=1200 height=800 src='{self.path[1:]}'></iframe>".encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as pages:
        threading.Thread(target=pages.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{pages.server_address[1]}"
        pages.shutdown()


@pytest.fixture(scope="module")
def framed(tmp_path_factory, elsewhere):
    """The app as one command starts it, but for its port, with pages elsewhere that may show it; and its log."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, log = f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("framed") / "log"
    environment = {**os.environ, ANCESTORS: f"'self' {elsewhere}", "STREAMLIT_SERVER_PORT": str(port)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT) as server,
    ):
        deadline = time.monotonic() + 60
        while not answers(f"{url}/_stcore/health"):
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield url, log
        server.kill()


def test_the_app_answers_this_machine_alone_and_says_how_to_open_it(framed):
    url, log = framed
    with socket.socket() as line:  # an address that is this machine's too, but not the one of `localhost`
        assert line.connect_ex(("127.0.0.2", int(url.rpartition(":")[2]))) != 0
    assert "--server.address=0.0.0.0" in log.read_text() and "http://localhost:" in log.read_text()


def show_in_frame(page, elsewhere, url):
    """A page of another site with the app in a frame; the frame."""
    with page.expect_event("framenavigated", lambda frame: frame.parent_frame is not None):
        page.goto(f"{elsewhere}/{url}")
    return page.frames[1]


def test_a_frame_elsewhere_shows_the_app_where_the_operator_allows_it_and_nowhere_else(
    window, server, framed, elsewhere
):
    page = window.new_page()
    assert show_in_frame(page, elsewhere, server).url.startswith("chrome-error:")
    # What the server says first, while it loads its model: then scripts run there and the web socket is open.
    shown = show_in_frame(page, elsewhere, framed[0]).locator(expand(":--spinner, :--main h1"))
    shown.first.wait_for(timeout=60_000)
    page.close()


BROKEN = """async () => {
    const seen = [];
    document.addEventListener('securitypolicyviolation', (e) => seen.push(e.effectiveDirective));
    const add = (tag, rest) => document.body.append(Object.assign(document.createElement(tag), rest));
    add('script', {text: 'window.injected = true'});
    add('script', {src: 'http://127.0.0.1:9/x.js'});
    add('img', {src: 'http://127.0.0.1:9/x.png'});
    add('iframe', {src: 'data:text/html,x'});
    add('base', {href: 'http://127.0.0.1:9/'});
    const run = new Promise((done) => setTimeout(() => {  // this function itself may, as a tool of developers
        try { eval('1'); done('run'); } catch { done('refused'); }
    }));
    await fetch('http://127.0.0.1:9/').catch(() => 0);
    for (let i = 0; i < 50 && new Set(seen).size < 6; i++) await new Promise((done) => setTimeout(done, 100));
    return [window.injected ?? false, await run, [...new Set(seen)].sort()];
}"""


@pytest.mark.slow
def test_a_browser_runs_and_loads_nothing_that_is_not_the_apps(window, server):
    """The other tests in a browser hold that it runs and loads all that is: they fail where the console complains."""
    page = window.new_page()
    app = App(page, server)
    app.open("attention")
    assert app.trouble == []
    injected, evaluated, refused = page.evaluate(BROKEN)
    page.close()
    assert (injected, evaluated) == (False, "refused")
    assert refused == ["base-uri", "connect-src", "frame-src", "img-src", "script-src", "script-src-elem"]


def test_the_cookie_that_is_given_is_the_one_by_which_a_visitor_is_known():
    assert VISITOR == visitor.COOKIE
