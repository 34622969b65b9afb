"""Rows as a .csv file that a spreadsheet can open without running what is in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from bertviz_core.ui.frame.files import check_size
from edge.spreadsheet import BEGIN, guard_cell


def write_csv(rows: Iterable[Iterable[str | float]]) -> bytes:
    """The rows as a file, texts as `guard_cell` leaves them. Raises InputError where it gets too large."""
    out = io.BytesIO()
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([guard_cell(cell) if isinstance(cell, str) else cell for cell in row])
        check_size(out.tell())
    text.detach()
    return out.getvalue()


def quote_formula(word: str) -> str:
    """A word for a table on screen, which Streamlit's own button saves as it is: in quotes where it begins like a
    formula."""
    return f"“{word}”" if BEGIN.match(word) else word
