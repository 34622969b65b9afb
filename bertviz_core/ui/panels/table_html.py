"""What every table of ours has in common, as HTML: its columns' names, its rows, the region in which it scrolls.

All that is given is HTML: other people's words are escaped before they come here.
"""

from __future__ import annotations

from collections.abc import Iterable


def write_heads(names: Iterable[str]) -> str:
    """The names of the columns, where they have one; the first is that of the rows."""
    return "".join(f'<th scope="col">{name}</th>' if name else "<td></td>" for name in names)


def write_cells(inside: Iterable[str]) -> list[str]:
    """Cells of a row that have no looks of their own."""
    return [f"<td>{one}</td>" for one in inside]


def write_row(name: str, cells: Iterable[str], kind: str = "") -> str:
    """A row. name: what stands first in it; cells: each a <td>; kind: its class, if it has one."""
    return f'<tr{_write_class(kind)}><th scope="row">{name}</th>{"".join(cells)}</tr>'


def write_table(heads: str, rows: Iterable[str], kind: str = "") -> str:
    """A table that stands for itself, or in a region."""
    return f"<table{_write_class(kind)}><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def write_region(
    label: str, inside: str, kind: str = "bv-table", *, picture: bool = False, scrolls: bool = True
) -> str:
    """Where a table stands. label: as it is read aloud; picture: it is what the page opens with.

    scrolls: it may be wider than the page, and is then moved with the keyboard.
    """
    more = " data-picture" * picture + ' tabindex="0"' * scrolls
    return f'<div class="{kind}"{more} role="region" aria-label="{label}">{inside}</div>'


def _write_class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
