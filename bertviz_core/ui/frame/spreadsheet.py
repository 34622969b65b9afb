"""Rows as a .csv file that a spreadsheet can open without running what is in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from bertviz_core.ui.frame.files import check_size

_BEGINS = tuple("=+-@\t\r\n＝＋－＠")  # with one of these a spreadsheet takes a cell for a formula
_TEXT = "'"


def write_csv(rows: Iterable[Iterable[str | float]]) -> bytes:
    """The rows as a file. A text that begins like a formula gets an apostrophe before it, as spreadsheets mark texts;
    numbers stay as they are. Raises InputError where it gets too large."""
    out = io.BytesIO()
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([_mark(cell) for cell in row])
        check_size(out.tell())
    text.detach()
    return out.getvalue()


def quote_formula(word: str) -> str:
    """A word for a table on screen, which Streamlit's own button saves as it is: in quotes where it begins like a
    formula."""
    return f"“{word}”" if word.startswith(_BEGINS) else word


def _mark(cell: str | float) -> str | float:
    return _TEXT + cell if isinstance(cell, str) and cell.startswith(_BEGINS) else cell
