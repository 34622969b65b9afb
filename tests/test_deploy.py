"""The service: nginx in front of replicas, the replicas themselves, and the files for other machines."""

import asyncio
import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import yaml
from huggingface_hub import SpaceCard, SpaceHardware

from deploy import proxy, replicas
from deploy.machine import BESIDE_BYTES, PROCESS_BYTES, count_bytes
from deploy.proxy import HEALTH, lay_out_assets, render_config
from deploy.rehearse import read_steps
from deploy.replicas import CHILD, Replica
from deploy.service import make_environment, roll
from deploy.space import FRAMES, PROXY, is_large, list_shipped, make_space
from edge.headers import ANCESTORS, Frames
from edge.sizes import LONGEST_ADDRESS
from tests.nginx import LONG, ask, need_nginx, stub

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
IMAGE = {step.word: step.rest for step in read_steps((ROOT / "Dockerfile").read_text(encoding="utf-8"))}
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]["app"]
CLUSTER = {each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))}
# A stand-in for the app: warm after a moment, tells its pid, no longer answers once /hang was asked.
STAND_IN = """
import http.server, os, socketserver, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    def address_string(self): return ""
    def log_message(self, *_): pass
    def do_GET(self):
        time.sleep(60 if self.path == "/hang" else 0)
        self.send_response(200); self.end_headers(); self.wfile.write(str(os.getpid()).encode())
time.sleep(0.2)
socketserver.UnixStreamServer(sys.argv[1], Answer).serve_forever()
"""


def test_a_cold_service_says_so_to_visitors_and_to_machines(nginx):
    for page in ("/attention?text=My+secret", "/join/", "/join/AB2C", "/lead/AB2C"):
        status, headers, body = ask(nginx, page)
        assert (status, headers["Retry-After"], headers["Cache-Control"]) == (503, "2", "no-store")
        assert b"loading the model" in body and b'http-equiv="refresh"' in body and "Set-Cookie" not in headers
    assert b'src="/waiting.js"' in body and b"location.reload()" in ask(nginx, "/waiting.js")[2]
    for path in (HEALTH, "/join/AB2C/state"):
        assert ask(nginx, path)[::2] == (503, b"No process is warm yet.\n")
    with stub(nginx, 1):
        assert ask(nginx, HEALTH)[0] == 200
    assert "secret" not in (nginx.folder / "log").read_text()


def test_visitors_are_spread_over_the_replicas_and_stay_where_they_are(nginx):
    with stub(nginx, 0), stub(nginx, 1):
        first = [ask(nginx, "/") for _ in range(4)]
        assert sorted(body for _, _, body in first) == [b"0", b"0", b"1", b"1"]
        for _, headers, body in first:
            cookie = headers["Set-Cookie"]
            assert cookie == f"bertviz_home={body.decode()}; Path=/; HttpOnly; SameSite=Lax"
            for path in ("/", "/_stcore/stream", HEALTH):
                _, later, again = ask(nginx, path, Cookie=cookie.partition(";")[0])
                assert again == body and "Set-Cookie" not in later
        for proto in ("https", "https, http"):
            encrypted = ask(nginx, "/", X_Forwarded_Proto=proto)[1]["Set-Cookie"]
            assert encrypted.endswith("; Path=/; HttpOnly; SameSite=Lax; Secure")
        assert "Set-Cookie" in ask(nginx, "/", Cookie="bertviz_home=7")[1]


def test_who_has_lost_their_replica_is_served_by_another_until_it_is_back(nginx):
    with stub(nginx, 1):
        with stub(nginx, 0):
            assert ask(nginx, "/", Cookie="bertviz_home=0")[2] == b"0"
        status, headers, body = ask(nginx, "/", Cookie="bertviz_home=0")
        assert (status, body) == (200, b"1") and "Set-Cookie" not in headers
        with stub(nginx, 0):
            assert ask(nginx, "/", Cookie="bertviz_home=0")[2] == b"0"
            # their session is still where it was made
            assert ask(nginx, "/media/1", Cookie="bertviz_home=0")[::2] == (200, b"1")
            assert ask(nginx, "/media/2", Cookie="bertviz_home=0")[0] == 404


def test_static_files_are_compressed_and_kept(nginx):
    status, headers, body = ask(nginx, "/static/js/index.abc.js", Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"], headers["Content-Type"]) == (200, "gzip", "text/javascript")
    assert headers["Cache-Control"] == "public, immutable, max-age=31536000" and body[:2] == b"\x1f\x8b"
    assert gzip.decompress(body) == b"let x = 2;" * 100
    assert ask(nginx, "/static/js/index.abc.js")[2] == b"let x = 1;" * 100  # as it lies there: nothing is unpacked
    assert ask(nginx, "/static/js/index.old.js")[0] == 404


def test_of_one_address_so_many_requests_are_answered_at_a_time(monkeypatch, request):
    monkeypatch.setattr(proxy, "MOST_OF_ONE_ADDRESS", 3)
    place = request.getfixturevalue("nginx")
    big = place.folder / "assets" / "static" / "js" / "big.abc.js"
    big.write_bytes(bytes(20_000_000))
    with ExitStack() as held:
        for _ in range(3):
            line = held.enter_context(socket.create_connection((place.address, place.port)))
            line.sendall(b"GET /static/js/big.abc.js HTTP/1.1\r\nHost: x\r\n\r\n")
            assert line.recv(12) == b"HTTP/1.1 200"  # and reads no more
        assert ask(place, "/static/js/index.abc.js")[0] == 429
    for _ in range(100):  # nginx sees by and by that they are gone
        if ask(place, "/static/js/index.abc.js")[0] == 200:
            break
        time.sleep(0.05)
    else:
        pytest.fail("Nobody is answered any more.")


def test_of_one_address_so_many_requests_come_to_the_processes_and_all_of_its_own_files_are_sent(monkeypatch, request):
    for name, most in (("A_SECOND", 1), ("AT_ONCE", 3), ("IN_LINE", 3)):
        monkeypatch.setattr(proxy, name, most)
    place = request.getfixturevalue("nginx")
    with stub(place, 0), stub(place, 1):
        statuses = [ask(place, path)[0] for path in ("/", "/attention", "/media/0", "/_stcore/health", "/", "/media/0")]
        assert statuses[:4] == [200] * 4 and 429 in statuses[4:]
        assert [ask(place, "/static/js/index.abc.js")[0] for _ in range(8)] == [200] * 8


def test_an_answer_may_lead_to_a_long_address(nginx):
    with stub(nginx, 0), stub(nginx, 1):
        status, headers, _ = ask(nginx, "/elsewhere")
    assert (status, len(headers["Location"])) == (200, LONG)


def test_an_address_may_be_as_long_as_a_page_makes_it(nginx):
    """It holds what was typed: who loads the page again, or follows a link, is not turned away."""
    with stub(nginx, 0), stub(nginx, 1):
        asked = f"/training?texts={'x' * LONG}"
        assert ask(nginx, asked, Cookie=f"bertviz_visitor={'0' * 32}; other={'x' * 4000}")[0] == 200
        status, headers, said = ask(nginx, asked + "x" * LONGEST_ADDRESS)
    assert (status, said) == (414, b"This address is longer than any of the app's own.\n")
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("processes", [1, 16])
def test_nginx_takes_the_configuration(place, processes):
    need_nginx()
    (place.folder / "nginx.conf").write_text(render_config(place, processes), encoding="utf-8")
    command = ["nginx", "-t", "-q", "-e", "stderr", "-c", place.folder / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_streamlit_sends_is_compressed_before_anybody_asks(tmp_path):
    lay_out_assets(tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.gz")]
    assert any(re.fullmatch(r"static/js/index\.[\w-]+\.js\.gz", name) for name in found) and len(found) > 100
    plain, packed = tmp_path / found[0].removesuffix(".gz"), tmp_path / found[0]
    assert plain.read_bytes() == gzip.decompress(packed.read_bytes())


async def pid_of(replica):
    """Who serves. Who is asked in the moment of their end says nothing: then, as nginx does, the next one is asked."""
    answer = b""
    while not answer:
        reader, writer = await asyncio.open_unix_connection(replica.place.socket(replica.number))
        try:
            writer.write(b"GET / HTTP/1.0\r\n\r\n")
            with suppress(ConnectionResetError):
                answer = await reader.read()
        finally:
            writer.close()
    return int(answer.rpartition(b"\n")[2])


async def other_than(pid, replica):
    """The pid of the process that serves instead of this one."""
    async with asyncio.timeout(20):
        while True:
            try:
                if (found := await pid_of(replica)) != pid:
                    return found
            except OSError:
                pass
            await asyncio.sleep(0.02)


@pytest.mark.slow
def test_a_replica_that_dies_or_hangs_is_started_again_and_a_new_one_serves_before_the_old_one_ends(
    place, tmp_path, monkeypatch
):
    if shutil.which(CHILD[0]) is None:
        pytest.skip("No setpriv: install Debian's package util-linux.")
    program = tmp_path / "stand_in.py"
    program.write_text(STAND_IN, encoding="utf-8")
    monkeypatch.setattr(replicas, "PROGRAM", (sys.executable, str(program)))
    monkeypatch.setattr(replicas, "CHECK_SECONDS", 0.5)

    async def live():
        replica = Replica(0, place, dict(os.environ))
        keeper = asyncio.create_task(replica.keep())
        first = await other_than(0, replica)
        os.kill(first, signal.SIGKILL)
        second = await other_than(first, replica)
        _, line = await asyncio.open_unix_connection(place.socket(0))
        line.write(b"GET /hang HTTP/1.0\r\n\r\n")
        third = await other_than(second, replica)
        line.close()
        rolling, served = asyncio.create_task(roll([replica])), {third}
        while not rolling.done():
            served.add(await pid_of(replica))  # refused where for a moment nobody served
            await asyncio.sleep(0.01)
        fourth = await pid_of(replica)
        assert fourth != third and served <= {third, fourth}
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        for pid in (first, second, third, fourth):
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    with ThreadPoolExecutor(1) as pool:  # the browser tests leave a running loop in this thread
        pool.submit(asyncio.run, live()).result()


def test_who_comes_to_a_process_that_hangs_is_answered_by_another(monkeypatch, request):
    monkeypatch.setattr(proxy, "ANSWER_S", 1)
    place = request.getfixturevalue("nginx")
    with stub(place, 1), socket.socket(socket.AF_UNIX) as hangs:
        hangs.bind(str(place.socket(0)))
        hangs.listen()  # the system takes connections for it, and nobody answers
        for path in ("/", HEALTH, "/media/1"):
            assert ask(place, path, Cookie="bertviz_home=0")[::2] == (200, b"1")


def test_nobody_is_sent_to_a_process_that_does_not_answer_until_it_does(place, monkeypatch):
    monkeypatch.setattr(replicas, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(replicas, "CHECKS", 4)
    asked, answers = [], iter([True, False, False, True, False, False, False, False])

    async def answer(socket):
        asked.append((socket.name, socket.exists()))
        return next(answers)

    monkeypatch.setattr(replicas, "is_healthy", answer)
    place.socket(0).touch()
    with ThreadPoolExecutor(1) as pool:  # the browser tests leave a running loop in this thread
        pool.submit(asyncio.run, Replica(0, place, {})._hang()).result()
    here, aside = ("replica-0.sock", True), ("aside-0.sock", True)
    assert asked == [here, here, aside, aside, here, aside, aside, aside] and not place.socket(0).exists()


def test_a_replica_is_told_what_is_safe_and_the_operator_has_the_last_word(monkeypatch):
    for name in ("BERTVIZ_MODELS", "BERTVIZ_MEMORY_MB", "STREAMLIT_SERVER_COOKIE_SECRET", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    told = make_environment(2)
    assert told["BERTVIZ_MODELS"] == "bundled" and told["OMP_NUM_THREADS"] == "1"
    assert int(told["BERTVIZ_MEMORY_MB"]) == round((count_bytes() - BESIDE_BYTES) / 2e6)
    assert len(told["STREAMLIT_SERVER_COOKIE_SECRET"]) == 64
    assert "OMP_NUM_THREADS" not in make_environment(1)
    monkeypatch.setenv("BERTVIZ_MODELS", "")
    assert make_environment(2)["BERTVIZ_MODELS"] == ""


def test_all_files_agree_on_port_user_health_and_memory():
    port = IMAGE["EXPOSE"]
    assert COMPOSE["ports"] == [f"{port}:{port}"] and COMPOSE["build"] == ".."
    pod = CLUSTER["Deployment"]["spec"]["template"]["spec"]
    (app,) = pod["containers"]
    assert app["ports"] == [{"name": "http", "containerPort": int(port)}]
    assert pod["securityContext"]["runAsUser"] == int(IMAGE["USER"]) and pod["securityContext"]["runAsNonRoot"]
    assert {app[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")} == {HEALTH}
    assert f":{port}{HEALTH}" in IMAGE["HEALTHCHECK"]
    processes = int(next(each["value"] for each in app["env"] if each["name"] == "BERTVIZ_PROCESSES"))
    assert app["resources"]["requests"]["cpu"] == str(processes)
    limit = int(app["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    assert processes <= (limit - BESIDE_BYTES) // PROCESS_BYTES
    assert not Frames(next(each["value"] for each in app["env"] if each["name"] == ANCESTORS)).foreign
    assert SpaceCard.load(DEPLOY / "space.md").data.app_port == int(port)


def test_the_cluster_finds_the_pods_by_one_name():
    labels = CLUSTER["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert CLUSTER["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert CLUSTER["Service"]["spec"]["selector"] == labels
    assert CLUSTER["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert CLUSTER["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == "bert-explorer"
    (rule,) = CLUSTER["Ingress"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"] == {"name": "bert-explorer", "port": {"name": "http"}}
    assert "replicas" not in CLUSTER["Deployment"]["spec"], "the autoscaler counts the pods"


def test_a_space_has_all_that_the_image_needs_and_what_the_hub_wants(tmp_path):
    (tmp_path / ".git").mkdir()
    make_space(tmp_path)
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    own = {Path(name) for name in ("README.md", ".gitattributes", "Dockerfile", ".dockerignore")}
    assert made == own | set(list_shipped())
    told = read_steps((tmp_path / "Dockerfile").read_text())[-1]
    assert (told.word, told.rest) == ("ENV", f'{ANCESTORS}="{FRAMES}" {proxy.PROXIES}="{PROXY}"')
    assert Frames(FRAMES).foreign  # the hub's own page
    rules = [line.split()[0][1:] for line in (tmp_path / ".gitattributes").read_text().splitlines()]
    assert {path for path in made if is_large(tmp_path / path)} == {path for path in made if path.suffix in rules}
    card = SpaceCard.load(tmp_path / "README.md").data
    assert (card.sdk, card.license, len(card.emoji)) == ("docker", "apache-2.0", 1)
    assert {card.colorFrom, card.colorTo} <= {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert card.suggested_hardware in list(SpaceHardware) and len(card.short_description) <= 60
    with pytest.raises(FileExistsError, match="must be empty"):
        make_space(tmp_path)


def test_secrets_and_leftovers_are_not_shipped(tmp_path):
    shutil.copyfile(ROOT / ".dockerignore", tmp_path / ".dockerignore")
    kept = (".streamlit/config.toml", "app.py", "bertviz_core/a/secrets.toml.py", "deploy/nginx.conf", "edge/guard.py")
    for name in (*kept, ".streamlit/secrets.toml", "bertviz_core/a/__pycache__/b.pyc", ".env", "deploy/space.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [file.as_posix() for file in list_shipped(tmp_path)] == sorted(kept)
