"""A Hugging Face hub on 127.0.0.1 that serves one folder as one model, and misbehaves on request."""

import hashlib
import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODEL = "tester/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REVISIONS = ("main", "v1", COMMIT)


class FakeHub:
    """The server. `trouble` is what goes wrong from now on, "" nothing.

    (status, code): every request is answered so; "silent": none is answered; "silent files": none for a file;
    "cut": the connection breaks in the middle of the weights; "cut once": only once; "drip": weights come in crumbs;
    "endless": they never end, of whatever size they were announced.
    """

    def __init__(self, folder) -> None:
        self.folder = Path(folder)
        self.trouble: str | tuple[int, str] = ""
        self.sizes: dict[str, int] = {}  # announced in place of the true ones
        self.requests: list[str] = []
        self._stopped, self._held = threading.Event(), socket.socket()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()
        self._held.close()

    def stop(self) -> None:
        """Close the port: from now on connections are refused. It stays ours, or another server might answer there."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._server.shutdown()
            address = self._server.server_address
            self._server.server_close()
            self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._held.bind(address)  # and nobody listens
            self._thread.join()

    def files(self) -> dict[str, int]:
        return {
            file.relative_to(self.folder).as_posix(): file.stat().st_size
            for file in sorted(self.folder.rglob("*"))
            if file.is_file()
        }

    def wait(self, seconds: float | None = None) -> bool:
        """Wait, but not longer than the server lives; whether it has stopped."""
        return self._stopped.wait(seconds)


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            hub.requests.append(f"{self.command} {path}")
            file = re.fullmatch(rf"/{MODEL}/resolve/[^/]+/(.+)", path)
            if hub.trouble == "silent" or (file and hub.trouble == "silent files"):
                hub.wait()
            elif isinstance(hub.trouble, tuple) and (file or hub.trouble[1] != "GatedRepo"):
                self._answer(hub.trouble[0], b"{}", {"X-Error-Code": hub.trouble[1]})
            elif file and file[1] in hub.files():
                self._file((hub.folder / file[1]).read_bytes())
            elif path.startswith(f"/api/models/{MODEL}/revision/") and path.rpartition("/")[2] not in REVISIONS:
                self._answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            elif re.fullmatch(rf"/api/models/{MODEL}(/revision/[^/]+)?", path):
                self._json({"id": MODEL, "sha": COMMIT, "siblings": self._siblings()})
            elif re.fullmatch(rf"/api/models/{MODEL}/tree/.+", path):
                self._json(
                    [{"type": "file", "path": name, "size": size, "oid": name} for name, size in hub.files().items()]
                )
            else:
                self._answer(404, b"{}", {"X-Error-Code": "EntryNotFound" if file else "RepoNotFound"})

        def _siblings(self) -> list[dict]:
            return [{"rfilename": name, "size": hub.sizes.get(name, size)} for name, size in hub.files().items()]

        def _json(self, body) -> None:
            self._answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

        def _file(self, body: bytes) -> None:
            start = int(re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-"))[1])
            headers = {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": COMMIT}
            if start:
                hub.requests.append(f"resumed at {start}")
                headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self._answer(206 if start else 200, body[start:], headers, troubled=self.path.endswith(".safetensors"))

        def _answer(self, status: int, body: bytes, headers: dict[str, str], troubled: bool = False) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            endless = troubled and hub.trouble == "endless" and self.command == "GET"
            self.send_header(*(("Connection", "close") if endless else ("Content-Length", str(len(body)))))
            self.end_headers()
            if self.command == "HEAD":
                return
            if troubled and hub.trouble in ("cut", "cut once"):
                hub.trouble = hub.trouble.removesuffix("cut once")
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
            elif endless:
                while not hub.wait(0.01):
                    self.wfile.write(bytes(1 << 16))
            elif troubled and hub.trouble == "drip":
                for at in range(0, len(body), len(body) // 12):
                    self.wfile.write(body[at : at + len(body) // 12])
                    hub.wait(0.4)
            else:
                self.wfile.write(body)

        def log_message(self, *_) -> None:
            """Be quiet."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client has gone away

    return Handler
