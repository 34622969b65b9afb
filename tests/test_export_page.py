"""What the overview gives away: the notebook, the script and the weights, in a folder of their own, run as they are."""

import subprocess
import sys

import pytest

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from tests.test_notebook_export import RUNNER


@pytest.fixture
def overview(app):
    app.open("", text="the cat [MASK] on the mat", pair="in rome", open="export")
    return app


def saved(app, label, folder):
    """Click a button of the box and save what comes under the name that it comes with."""
    with app.page.expect_download() as coming:
        app.page.get_by_role("button", name=label).click()
    file = folder / coming.value.suggested_filename
    coming.value.save_as(file)
    return file


def ran(command, folder):
    return subprocess.run(
        [sys.executable, "-I", *map(str, command)],
        cwd=folder,
        env={"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


@pytest.mark.rare
def test_what_is_downloaded_runs_on_a_machine_that_has_nothing_else(overview, tmp_path):
    weights = saved(overview, "Weights (46 MB)", tmp_path)
    assert weights.name == "model.safetensors"
    assert weights.read_bytes() == (BUNDLED_FOLDER / "model.safetensors").read_bytes()
    notebook = saved(overview, "Notebook (.ipynb)", tmp_path)
    written = notebook.read_text(encoding="utf-8")
    assert str(BUNDLED_FOLDER) in written and "rome" in written
    notebook.write_text(written.replace(str(BUNDLED_FOLDER), "/another/machine"), encoding="utf-8")
    assert "All 152 tensors" in ran(["-c", RUNNER, notebook], tmp_path)
    script = saved(overview, "Script (.py)", tmp_path)
    assert (notebook.name, script.name) == ("bert.ipynb", "bert.py")
    script.write_text(script.read_text(encoding="utf-8") + "print(tuple(probs.shape))", encoding="utf-8")
    assert ran([script], tmp_path) == "(11, 30522)\n"


@pytest.mark.slow
@pytest.mark.rare
def test_a_documents_formulas_are_run_when_they_are_asked_for(overview, tmp_path):
    overview.page.get_by_role("button", name="Script (.py)").scroll_into_view_if_needed()  # a menu closes on scrolling
    overview.choose("Formulas", "notebook (001)")
    notebook = saved(overview, "Notebook (.ipynb)", tmp_path)
    assert notebook.name == "notebook.ipynb"
    written = notebook.read_text(encoding="utf-8")
    assert "One layer, cell by cell" in written and "Notebook, In [46]" in written
    assert "All 160 tensors" in ran(["-c", RUNNER, notebook], tmp_path)
