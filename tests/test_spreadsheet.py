"""Files of values: a spreadsheet finds texts and numbers in them, and no formula."""

import csv
import io

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.spreadsheet import write_csv
from bertviz_core.ui.panels import derived, panel
from bertviz_core.ui.panels.derived import Values
from bertviz_core.ui.views import predictions
from tests.factory import VOCABULARY, random_checkpoint

FORMULAS = ('=HYPERLINK("https://example.org";"x")', "+1", "-1+2", "@SUM(1)", "＝1", "\tx", "\r\nx")
HIDDEN = {"a;=1": "a;'=1", "a\t+1": "a\t'+1", "\t=1": "'\t'=1", "a\n@x;-y": "a\n'@x;'-y", "a; b-1": "a; b-1"}


def read(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


def downloads(monkeypatch, module, show, *args):
    """What is handed to the menu of downloads as the .csv file."""
    found = []
    monkeypatch.setattr(module, "show_downloads", lambda name, as_csv, as_npy: found.append(as_csv()))
    show(*args)
    return read(*found)


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_no_text_is_a_formula(text):
    assert read(write_csv([["a,b", text], [-1.5, 2]])) == [["a,b", "'" + text], ["-1.5", "2"]]


@pytest.mark.parametrize(("text", "kept"), HIDDEN.items(), ids=map(ascii, HIDDEN))
def test_no_part_of_a_text_is_a_formula_where_another_separator_is_set(text, kept):
    assert read(write_csv([["a", text]])) == [["a", kept]]


def test_derived_numbers_are_saved_as_numbers_and_names_as_texts(monkeypatch):
    names = [*FORMULAS, 'a "quoted", word']
    matrix = np.array([[-1e-7, 2.0]] * len(names), dtype=np.float32)
    rows = downloads(monkeypatch, derived, derived.show_values, "x", Values(matrix, names, ["=1", "b"]))
    assert rows[0] == ["", "'=1", "b"]
    assert [row[0] for row in rows[1:]] == [*("'" + name for name in FORMULAS), names[-1]]
    assert all([float(cell) for cell in row[1:]] == [float(np.float32(-1e-7)), 2.0] for row in rows[1:])


def test_tokens_are_saved_as_texts(tmp_path, monkeypatch):
    folder = random_checkpoint(tmp_path / "odd")
    (folder / "tokenizer.json").unlink()
    entries = [{"rome": "=", "the": "+"}.get(entry, entry) for entry in VOCABULARY]
    (folder / "vocab.txt").write_text("\n".join(entries), encoding="utf-8")
    trace = bv.run(bv.load_model(folder), "= + cat")
    rows = downloads(monkeypatch, panel, panel.show_values, trace, Address("embeddings.sum"))
    assert [row[:2] for row in rows[1:]] == [["0", "[CLS]"], ["1", "'="], ["2", "'+"], ["3", "cat"], ["4", "[SEP]"]]
    np.testing.assert_array_equal(np.array([row[2:] for row in rows[1:]], np.float32), trace["embeddings.sum"])


def test_no_word_in_a_table_on_screen_begins_a_formula(monkeypatch):
    """Streamlit's own button saves such a table as it is."""
    trace, found = bv.run(bv.load_model("bundled"), "= + - @"), []
    monkeypatch.setattr(predictions.st, "dataframe", lambda rows, **_: found.extend(rows))
    predictions._show_top_table(trace, range(6))
    cells = [cell for row in found for cell in row.values()]
    assert any("+" in cell for cell in cells) and not any(cell.startswith(tuple("=+-@")) for cell in cells)
