"""nginx as the service configures it, before stubs instead of replicas."""

import gzip
import http.client
import http.server
import queue
import shutil
import socket
import socketserver
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from deploy.proxy import Place, render_config
from edge.sizes import LONGEST_QUERY

LONG = LONGEST_QUERY - 500  # bytes of an address; with its name the longest line that http.client reads


class Stub(http.server.BaseHTTPRequestHandler):
    """A replica as nginx sees it: says its number, and has one file that only it has, and one that is long."""

    number = -1
    taken = queue.SimpleQueue()  # of long files, whether nginx took them whole

    def do_GET(self):
        if self.path == "/media/long":
            self.send_long()
            return
        missing = self.path.startswith("/media/") and self.path not in (f"/media/{self.number}", "/media/range")
        self.send_response(404 if missing else 200)
        self.send_header("Referrer-Policy", "unsafe-url")  # nginx has the last word
        if self.path == "/elsewhere":
            self.send_header("Location", "x" * LONG)
        self.end_headers()
        if self.path == "/whose":
            self.wfile.write(str(self.headers.get_all("X-Forwarded-For")).encode())
            return
        parts = f"{self.headers['Range']} {self.headers['If-Range']}" if self.path.endswith("range") else self.number
        self.wfile.write(str(parts).encode())

    def send_long(self):
        self.send_response(200)
        self.end_headers()
        self.connection.settimeout(1)
        try:
            for _ in range(400):
                self.connection.sendall(bytes(100_000))
        except TimeoutError:
            self.taken.put(False)
        else:
            self.taken.put(True)

    def address_string(self):
        return ""

    def log_message(self, *_):
        pass


@contextmanager
def stub(place, number):
    """A stub replica in service; gone, socket and all but its name, at the end."""
    handler = type("Numbered", (Stub,), {"number": number})
    place.socket(number).unlink(missing_ok=True)
    with socketserver.UnixStreamServer(str(place.socket(number)), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield
        server.shutdown()


@pytest.fixture
def place(tmp_path):
    """A free port, and a folder whose path is short enough for sockets."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return Place("127.0.0.1", port, tmp_path)


def need_nginx():
    if shutil.which("nginx") is None or shutil.which("setpriv") is None:
        pytest.skip("No nginx, or no setpriv: install Debian's packages nginx and util-linux.")


def answers(place):
    with socket.socket() as line:
        return line.connect_ex((place.address, place.port)) == 0


@pytest.fixture
def nginx(place):
    """nginx as it is configured for two replicas, of which none is there; what it logs is kept."""
    need_nginx()
    config, log = place.folder / "nginx.conf", place.folder / "log"
    asset = place.folder / "assets" / "static" / "js" / "index.abc.js"
    asset.parent.mkdir(parents=True)
    asset.write_bytes(b"let x = 1;" * 100)
    asset.with_suffix(".js.gz").write_bytes(gzip.compress(b"let x = 2;" * 100))
    config.write_text(render_config(place, 2), encoding="utf-8")
    with log.open("wb") as output, subprocess.Popen(["nginx", "-e", "stderr", "-c", config], stderr=output) as server:
        deadline = time.monotonic() + 20
        while not answers(place):
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        yield place
        server.terminate()


def ask(place, path, method="GET", body=None, **headers):
    """The status, the headers and the body of an answer."""
    line = http.client.HTTPConnection(place.address, place.port, timeout=10)
    line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    found = answer.status, answer.headers, answer.read()
    line.close()
    return found
