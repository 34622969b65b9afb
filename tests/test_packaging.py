"""What is installed and shipped: exact pins, and an image that holds all that the app needs and nothing else."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest

from bertviz_core.ui.frame.resources import list_models
from deploy.rehearse import check_start, rehearse
from deploy.service import make_environment
from deploy.space import list_shipped
from tests.edge import ask, check_messages, cookies, tells

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SHIPPED = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
PIN = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[a-z]+\])?==([0-9][0-9.]*)")


def pins(text):
    """Versions by package, of a requirements file in which nothing but exact pins and comments stands."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(PIN.fullmatch(line).groups() for line in lines)


def runtime_pins():
    """The pins that the image installs, cut out of the file as the image does it."""
    cut = re.search(r"sed '(.+?)'", DOCKERFILE)[1]
    command = ["sed", cut, ROOT / "requirements.txt"]
    return pins(subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout)


def commands(name):
    """The arguments of an instruction that the Dockerfile gives as a list."""
    return json.loads(re.search(rf"^{name}(?:.*\\\n +CMD)? (\[.+\])$", DOCKERFILE, re.MULTILINE)[1])


def imported(folder):
    """The top-level packages that the shipped Python files import."""
    files = [
        file for name in SHIPPED for file in [folder / name, *(folder / name).rglob("*.py")] if file.suffix == ".py"
    ]
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A folder with the files that the image holds."""
    folder = tmp_path_factory.mktemp("image")
    for file in list_shipped():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, folder / file)
    return folder


def test_the_pinned_versions_are_the_tested_ones():
    wanted = pins((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    assert {name: version(name).split("+")[0] for name in wanted} == wanted
    assert wanted["torch"] == "2.13.0"


@pytest.mark.xdist_group("told")
def test_workers_are_told_the_groups_of_tests(request, worker_id):
    """Without a word from pytest or its plugin, tests of one group could be spread over all workers."""
    assert worker_id == "master" or request.node.nodeid.endswith("@told")


def test_the_image_installs_what_the_app_imports_and_no_test_tools(image):
    installed = set(runtime_pins())
    assert not installed & {"pytest", "playwright", "ruff", "pyright"}
    owners = packages_distributions()
    foreign = set(imported(image)) - sys.stdlib_module_names - {Path(name).stem for name in SHIPPED}
    assert {name for name in foreign if not installed & set(owners[name])} == set()


def test_the_image_leaves_out_what_makes_and_checks_the_app():
    assert not {Path(name).parts[0] for name in SHIPPED} & {"training", "tests", "benchmarks"}


def test_the_image_runs_as_user_1000_with_the_hub_cache_in_its_home():
    assert re.search(r"useradd .*--uid 1000\b", DOCKERFILE)
    assert re.search(r"^USER 1000$", DOCKERFILE, re.MULTILINE)
    assert re.search(r"\bHF_HOME=/home/user/", DOCKERFILE)


def test_the_image_offers_the_bundled_model_only_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("BERTVIZ_MODELS", raising=False)
    monkeypatch.setenv("BERTVIZ_MODELS", make_environment(1)["BERTVIZ_MODELS"])
    assert list_models() == (("bundled",), False)
    monkeypatch.setenv("BERTVIZ_MODELS", "")
    assert make_environment(1)["BERTVIZ_MODELS"] == "" and list_models()[1]


def test_the_image_serves_on_the_port_that_it_exposes_and_checks():
    port = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)[1]
    assert f"--port={port}" in commands("CMD")
    assert f"http://127.0.0.1:{port}/_stcore/health" in commands("HEALTHCHECK")[-1]


@pytest.mark.rare
def test_the_app_runs_on_the_image_files_alone(image):
    script = (
        "from streamlit.testing.v1 import AppTest; assert not AppTest.from_file('app.py').run(timeout=60).exception"
    )
    subprocess.run([sys.executable, "-c", script], cwd=image, check=True, timeout=90)


def check_edge(url):
    """Of the real service: what its replicas say through nginx, and what they refuse where nginx does not."""
    status, headers, _ = ask(url, "/attention", X_Forwarded_Proto="https")
    assert status == 200 and tells(headers)
    given = cookies(headers)
    assert set(given) == {"bertviz_home", "bertviz_visitor"}
    assert all(rest[-4:] == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"] for rest in given.values())
    assert cookies(ask(url, "/_stcore/health", X_Forwarded_Proto="https")[1])["_streamlit_xsrf"][-1] == "Secure"
    assert json.loads(ask(url, "/_stcore/host-config")[2])["allowedOrigins"] == []
    assert ask(url, "/_stcore/upload_file/a/b", "PUT", b"x")[0] == 404
    assert ask(url, "/", "POST")[0] == 405 and ask(url, "/", "GET", b"x")[0] == 413
    check_messages(url)


@pytest.mark.rare
def test_every_step_of_the_image_runs_without_rights_and_it_starts_healthy_and_ends_well():
    if shutil.which("nginx") is None or shutil.which("setpriv") is None:
        pytest.skip("No nginx, or no setpriv: install Debian's packages nginx and util-linux.")
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:  # sockets need short paths
        Path(folder).chmod(0o755)
        rehearsal = rehearse(Path(folder))
        check_start(rehearsal, check_edge)
    assert [line.split()[0] for line in rehearsal.left_out] == ["apt-get"]
    assert all(word in rehearsal.left_out[0] for word in ("nginx", "useradd"))
