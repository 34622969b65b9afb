"""What a panel says and what its tables hold, compared with what they should."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.documents import find_title
from bertviz_core.documents.names import SOURCES
from bertviz_core.programs import PROGRAMS
from tests.derived.reading import Number, Panel, Table, find_numbers, unescape
from tests.derived.truth import Truth

# Columns of names and formulas, which may have digits.
NAMES = ("symbol", "name", *SOURCES.values(), *map(find_title, PROGRAMS))
_RANGE = re.compile(r"(\d+)–(\d+) of ([\d,]+)")
RECORDED = "Recorded"  # begins what every panel says of the cell that it works out


def check_texts(panel: Panel, truth: Truth, known: set[int], names: Sequence[str]) -> None:
    """Every number in the texts is one of those expected, and every one expected is there. names: have digits too."""
    told, known = truth.told, known | set(truth.may)
    texts = [unescape(text) for text in (panel.title, *panel.texts) if not text.startswith(RECORDED)]
    for name in names:
        texts = [text.replace(name, "") for text in texts]
    for span in _RANGE.finditer(" ".join(texts)):
        first, last, size = (int(text.replace(",", "")) for text in span.groups())
        assert (first, last) in list_windows(panel) | set(truth.spans) and size in known | set(told), span[0]
    found = [number for text in texts for number in find_numbers(_RANGE.sub(" ", text))]
    for number in found:
        fits = any(number.tells(expected, 1e-7) for expected in told)
        assert fits or (number.exact and number.value in known), f"{number.text} is none of {told}"
    for expected in told:
        assert any(number.tells(expected, 1e-7) for number in found), f"{expected} is none of {[n.text for n in found]}"


def list_windows(panel: Panel) -> set[tuple[int, int]]:
    """The first and last index that the panel's maps draw of an axis, and that its bars or table name."""
    found = set()
    for part in panel.traces:
        if "z" in part and np.ndim(part["z"]) == 2:
            for side, count in zip("yx", part["z"].shape, strict=True):
                start = int(part.get(f"{side}0", 0))
                found.add((start, start + count - 1))
    return found


def check_table(table: Table, columns: Mapping[str, Sequence]) -> None:
    """Every column is expected and holds what is expected, cell by cell."""
    for name, cells in table.columns.items():
        numeric = name not in NAMES and any(isinstance(cell, int | float) or find_numbers(str(cell)) for cell in cells)
        assert name in columns or not numeric, f"no calculation for the column {name!r}"
    for name, expected in columns.items():
        cells = table.columns[name]
        assert len(cells) == len(expected), name
        for cell, value in zip(cells, expected, strict=True):
            check_cell(cell, value, (name, cell, value))


def check_mixed(cell: str, values: Sequence[str | float], why: object) -> None:
    """Words and numbers in this order, and no other number."""
    rest = f"{' '.join(cell.split())} "
    for one in values:
        if isinstance(one, str):
            assert rest.startswith(f"{one} "), why
            rest = rest[len(one) + 1 :]
        else:
            number = next(iter(find_numbers(rest)), None)
            assert number is not None and number.tells(one), why
            rest = rest.partition(number.text)[2].lstrip()
    assert not find_numbers(rest), why


def check_cell(cell: object, value: object, why: object) -> None:
    """A text as it is, a number within its printed digits, nothing as a dash."""
    if value is None:
        assert cell in ("–", None), why
    elif isinstance(value, tuple):
        check_mixed(str(cell), value, why)
    elif isinstance(value, str):
        assert cell == value, why
    elif isinstance(cell, int | float):
        assert math.isclose(cell, value, rel_tol=1e-6), why
    else:
        numbers: list[Number] = find_numbers(str(cell))
        assert len(numbers) == 1 and numbers[0].tells(value), why
