"""What `pip install` gives: the library with its model and without Streamlit, and the app behind one command."""

import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path

import pytest

import bertviz_core as bv
from bertviz_core.__main__ import find_app, read_arguments, write_command
from bertviz_core.version import DISTRIBUTION, read_version
from tests.browser import CLOSED_PORT, answers, visit

ROOT = Path(__file__).parents[1]
# Runs the bundled model where whatever belongs to an extra cannot be imported.
LIBRARY_ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"streamlit", "pandas", "starlette", "uvicorn", "segno", "edge"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import bertviz_core as bv
trace = bv.run(bv.load_model(), "When in Rome, do as the [MASK] do.")
print(bv.__version__, bv.__file__, f"{trace['cls.predictions.probs[token=8]'].max():.4f}")
"""


def pip(*words, **more):
    command = [sys.executable, "-m", "pip", *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=200, **more)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    made = pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    if "No matching distribution found for hatchling" in made.stderr and not os.environ.get("CI"):
        pytest.skip("No package index, from which pip takes what builds a wheel.")
    assert made.returncode == 0, made.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs of an environment that has the wheel, and all else from that of the tests; nothing of the clone."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    made = pip("--python", folder / "bin" / "python", "install", "--no-deps", "--no-index", "--prefix", folder, wheel)
    assert made.returncode == 0, made.stderr
    return folder / "bin"


def environment():
    """What a program is told, without where the tests found their modules."""
    told = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "BERTVIZ_MODELS")}
    return {**told, "HF_ENDPOINT": CLOSED_PORT}


@pytest.mark.rare
def test_the_wheel_has_all_that_the_clone_needs_and_no_package_of_a_general_name(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"bertviz_core", f"bert_every_number-{bv.__version__}.dist-info"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    package = {name for name in listed.splitlines() if name.startswith("bertviz_core/") and not name.endswith(".d.ts")}
    beside = {
        f"bertviz_core/app_files/{name}"
        for name in listed.splitlines()
        if name == "app.py" or name.split("/")[0] in {"edge", "pages", "rooms", "deploy", ".streamlit"}
    }
    assert len(package) > 500 and len(beside) > 60
    assert sorted((package | beside) - names) == []
    assert [name for name in names if "__pycache__" in name] == []


@pytest.mark.rare
def test_the_library_runs_the_bundled_model_in_an_empty_folder_without_streamlit(installed, tmp_path):
    command = [installed / "python", "-c", LIBRARY_ALONE]
    told = {"cwd": tmp_path, "env": environment(), "timeout": 60}
    done = subprocess.run(command, check=False, capture_output=True, text=True, **told)
    assert done.returncode == 0, done.stderr
    version, place, probability = done.stdout.split()
    assert version == bv.__version__
    assert Path(place).is_relative_to(installed.parent)
    assert probability == "0.0743"  # as README.md has it


@pytest.mark.rare
def test_the_command_serves_the_app_from_an_empty_folder(installed, tmp_path, chromium):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, log = f"http://127.0.0.1:{port}", tmp_path / "log"
    (tmp_path / "edge.py").write_text("raise SystemExit('the folder where it was started is not the app')")
    command = [installed / "bert-explorer", "--port", str(port), "--address", "127.0.0.1", "--model", "bundled"]
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=output, stderr=output) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while not answers(f"{url}/_stcore/health"):
                assert server.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            with visit(chromium, url, fresh=True) as app:
                app.open()
                app.page.locator("canvas").first.wait_for()
                app.open("attention", layer=3)
                app.page.get_by_text(re.compile("Attention weights")).first.wait_for()
                app.use_up()
        finally:
            server.send_signal(signal.SIGTERM)
            ended = server.wait(timeout=20)
    assert "Traceback" not in log.read_text(), log.read_text()
    assert "bert-explorer --model bundled --address 0.0.0.0" in log.read_text()
    assert ended in (0, -signal.SIGTERM)


def test_a_clone_has_the_version_of_its_file(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "{DISTRIBUTION}"\nversion = "7.8.9"\n')
    assert read_version(tmp_path) == "7.8.9"
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert bv.__version__ == written[1]


@pytest.mark.parametrize("file", [None, '[project]\nname = "somebody-elses"\nversion = "7.8.9"\n', "[tool.other]\n"])
def test_what_is_installed_has_the_version_of_its_metadata(tmp_path, monkeypatch, file):
    monkeypatch.setattr("bertviz_core.version.metadata.version", {DISTRIBUTION: "4.5.6"}.__getitem__)
    if file is not None:
        (tmp_path / "pyproject.toml").write_text(file)
    assert read_version(tmp_path) == "4.5.6"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "0"], "--port is 0, and must be between 1 and 65535"),
        (["--port", "many"], "invalid int value"),
        (["--processes", "0"], "--processes is 0, and must be at least 1"),
        (["--model", "a,b"], "--model takes one name"),
        (["--model", " "], "--model takes one name"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(words, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        read_arguments(words)
    assert said in capsys.readouterr().err


def test_without_the_apps_libraries_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("bertviz_core.__main__.find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="2"):
        read_arguments([])
    assert 'pip install "bert-every-number[app]"' in capsys.readouterr().err


def test_a_clones_command_runs_the_clones_app():
    assert find_app() == ROOT
    command = write_command(read_arguments(["--port", "8123"]))
    assert command[1:5] == ["-P", "-m", "streamlit", "run"]
    assert command[5:] == [str(ROOT / "app.py"), "--server.address=localhost", "--server.port=8123"]


def test_several_processes_are_those_of_the_service(monkeypatch):
    monkeypatch.setattr("bertviz_core.__main__.shutil.which", lambda _: "/usr/sbin/nginx")
    command = write_command(read_arguments(["--processes", "3", "--address", "0.0.0.0"]))
    assert command[1:] == ["-m", "deploy", "--address=0.0.0.0", "--port=8501", "--processes=3"]
