"""The example notebooks run from top to bottom, and show something in every cell that ends with a value."""

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.rare

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_every_value_is_shown(file, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parents[1]))  # as where the project is installed
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # beside other tests threads would wait for one another
    notebook = nbformat.read(file, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are made anew, not kept"
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code" and isinstance(ast.parse(cell.source).body[-1], ast.Expr):
            assert any(output.output_type in ("execute_result", "stream") for output in cell.outputs), cell.source
