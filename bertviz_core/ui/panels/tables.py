"""Tables of numbers: one row a token, head or component, with bars behind the numbers whose sizes are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.panels import table_html


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its name, and one number a row, or a text, or None where there is nothing to say.

    color: of the bars behind the numbers, if any; end: the size at which a bar is full, by default the largest;
    signed: bars start in the middle, negative ones to the left; cells_of: what clicks on the numbers work out, one a
    row; write: how numbers that are not whole are written; mark: a size at which a line stands in every row.
    """

    name: str
    values: Sequence[float | int | str | None]
    color: str = ""
    end: float | None = None
    signed: bool = False
    cells_of: Sequence[Address] = ()
    write: Callable[[float], str] = format_number
    mark: float | None = None

    def cells(self) -> list[str]:
        """The column as HTML, cell by cell."""
        numbers = [abs(value) for value in self.values if isinstance(value, float)]
        end = self.end or max(numbers, default=0.0) or 1.0
        texts = [_render_text(value, self.write) for value in self.values]
        for i, cell in enumerate(self.cells_of):
            texts[i] = f'<button data-cell="{cell}" title="Work it out">{texts[i]}</button>'
        return [f"<td{self._bar(value, end)}>{text}</td>" for value, text in zip(self.values, texts, strict=True)]

    def _bar(self, value: float | int | str | None, end: float) -> str:
        layers = [*self._mark(end), *self._fill(value, end)]
        return f' style="background:{",".join(layers)}"' if layers else ""

    def _mark(self, end: float) -> Iterator[str]:
        if self.mark is not None:
            at = f"{min(abs(self.mark) / end, 1.0) * 100:.1f}%"
            ink = f"var(--bv-text) calc({at} - 1px),var(--bv-text) {at}"
            yield f"linear-gradient(to right,transparent calc({at} - 1px),{ink},transparent {at})"

    def _fill(self, value: float | int | str | None, end: float) -> Iterator[str]:
        if not self.color or not isinstance(value, float):
            return
        size = min(abs(value) / end, 1.0) * 100
        start, stop = (
            (50 + min(0, np.sign(value) * size / 2), 50 + max(0, np.sign(value) * size / 2))
            if self.signed
            else (0.0, size)
        )
        tint = f"color-mix(in srgb,{'var(--bv-negative)' if value < 0 else self.color} 33%,transparent)"
        yield (
            f"linear-gradient(to right,transparent {start:.1f}%,{tint} {start:.1f}%,"
            f"{tint} {stop:.1f}%,transparent {stop:.1f}%)"
        )


def render_table(
    what: str,
    names: Sequence[str],
    columns: Sequence[Column],
    chosen: Collection[int] = (),
    opens: tuple[str, Sequence[object]] | None = None,
) -> str:
    """A table as HTML. what: the name of the rows, and of the whole; names: one a row; chosen: rows to mark.

    opens: what a click on a row's name chooses, and which one a row: ("head", ["2,0", ...]), ("token", [0, ...]),
    ("cell", addresses).
    """
    heads = table_html.write_heads(map(escape, (what, *(column.name for column in columns))))
    rows = zip(_render_names(names, opens), *(column.cells() for column in columns), strict=True)
    body = (
        table_html.write_row(name, cells, "bv-chosen" if i in chosen else "") for i, (name, *cells) in enumerate(rows)
    )
    return table_html.write_region(escape(f"Table by {what}"), table_html.write_table(heads, body))


def _render_names(names: Sequence[str], opens: tuple[str, Sequence[object]] | None) -> list[str]:
    if opens is None:
        return [escape(name) for name in names]
    kind, what = opens
    return [
        f'<button data-{kind}="{escape(str(one))}">{escape(name)}</button>'
        for name, one in zip(names, what, strict=True)
    ]


def _render_text(value: float | int | str | None, write: Callable[[float], str]) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return escape(value)
    return write(value) if isinstance(value, float) else format_number(value)
