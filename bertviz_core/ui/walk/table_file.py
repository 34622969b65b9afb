"""What a number was made from as a .csv file: every operand, not only those that are listed, with every digit."""

from __future__ import annotations

from collections.abc import Iterator

from bertviz_core.ui.frame.spreadsheet import write_csv
from bertviz_core.ui.frame.told import Told
from bertviz_core.ui.walk.explain import Explained

Line = list[str | float]


def write_table(shown: Explained) -> bytes:
    """A line for each part of a number: its operands, their values, and the amount that it contributes; below them the
    operands that are in every part, and the number itself."""
    return write_csv(_list_lines(shown))


def _list_lines(shown: Explained) -> Iterator[Line]:
    why, found = shown.why, shown.found
    values = dict(why.operands)
    width = max((len(part.operands) for part in found), default=1)
    yield [*("operand", "value") * width, *found.measure.columns, found.measure.heading]
    for part in found:
        line: Line = []
        for operand in part.operands:
            line += [str(operand), values[str(operand)]]
        line += [""] * (2 * width - len(line)) + [*part.columns]
        yield [*line, "" if part.amount is None else part.amount]
    for operand in found.shared:
        yield [str(operand), values[str(operand)]]
    yield [why.address, why.value]


def write_told(told: Told, address: str) -> bytes:
    """The same of a number that is in no pass: the parts that it is told with."""
    parts: Iterator[Line] = ([name, value, where] for name, value, where in told.parts)
    return write_csv([["part", "value", "address"], *parts, [told.name, told.value, address]])
