"""A number's place among those beside it: in its vector, among the scores of a query, among the logits of all words."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import write_count, write_ordinal
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.walk import card

_COMPARED = 3  # numbers of a row in which a place says something


def tell_rank(trace: Trace, cell: Address) -> Said:
    """Whether it is the largest in size of its vector, or which place it has there; of a logit, by its height."""
    row = _read_row(trace, cell)
    if row is None:
        return say()
    if cell.index[-1][0] == "vocab":
        return _tell_place(
            row,
            cell.index[-1][1],
            "No other of the {all} entries is higher.",
            "{place} highest of {all}",
            "lowest of {all}",
        )
    sizes = np.abs(row)
    return _tell_place(
        sizes,
        cell.index[-1][1],
        "No other of its {all} is as large in size.",
        "{place} largest in size of {all}",
        "smallest in size of {all}",
    )


def tell_match(trace: Trace, cell: Address) -> Said:
    """Which place a score has among those of its query, padding left out."""
    row, real = _read_row(trace, cell), list(trace.encoding.real)
    if row is None or cell.index[-1][1] not in real:
        return say()
    return _tell_place(
        row[real],
        real.index(cell.index[-1][1]),
        "It is the best match of the {all}.",
        "{place} best match of {all}",
        "worst match of {all}",
    )


def _tell_place(row: np.ndarray, i: int, first: str, later: str, last: str) -> Said:
    """first: a sentence about the first of all; later, last: what stands behind "It is the" of another; of the last.

    Numbers that are equal, as all those of a head that is set to zero, share the first of their places.
    """
    parts = {"place": Part(int((row > row[i]).sum()) + 1, write_ordinal), "all": card.count(len(row))}
    alone = {"value": Part(float(row[i]), format_number), "all": parts["all"]}
    if parts["place"].value == 1:
        shared = Claim("none before it", " None of {all} is before it.", parts)
        return choose(Claim(f"first: {later}", f" {first}", alone, Relation.LARGEST, row, (i,)), shared)
    alike = int((row == row[i]).sum()) - 1
    if not alike:
        place = Claim(later, f" It is the {later}.", parts)
        return choose(Claim(last, f" It is the {last}.", alone, Relation.SMALLEST, row, (i,)), place)
    parts["alike"] = Part(alike, lambda count: write_count(count, "other"))
    return say(Claim(f"{later}, shared", f" It is the {later}, like {{alike}}.", parts))


def _read_row(trace: Trace, cell: Address) -> np.ndarray | None:
    """The numbers beside a cell; None where they are too few for a place to say anything."""
    if not cell.index:
        return None
    row = trace[cell.without(cell.index[-1][0])].astype(np.float64)
    return row if row.ndim == 1 and len(row) >= _COMPARED and np.isfinite(row).all() else None
