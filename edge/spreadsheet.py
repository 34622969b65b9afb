"""Tables that leave the server: no text in a .csv file is run by the spreadsheet that opens it."""

from __future__ import annotations

import re

_SIGNS = re.escape("=+-@＝＋－＠")  # with one of these a formula begins
_BLANKS = r"\t\r\n"  # behind which it is still one; there, and at a semicolon, some spreadsheets begin another cell
BEGIN = re.compile(rf"[{_SIGNS}{_BLANKS}]")  # of a text that may be a formula
_FORMULA = re.compile(rf"^(?={BEGIN.pattern})|(?<=[;{_BLANKS}])(?=[{_SIGNS}])")


def guard_cell(text: str) -> str:
    """A text with an apostrophe, as spreadsheets mark texts, before whatever they would take for a formula."""
    return _FORMULA.sub("'", text)
