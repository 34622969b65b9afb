"""The chart of a trace's tensor: which part is drawn, how it is labelled, on which scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.ranking import choose_window, find_robust_limit
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class Part:
    """What of a matrix is drawn.

    cells: at most about so many; token: a row that is among them, and marked, None for none; words: what the columns
    are called, if not tokens; height: of the chart in pixels, if not as usual.
    """

    cells: int
    token: int | None = None
    words: Sequence[str] | None = None
    height: int | None = None


def draw_matrix(
    trace: Trace,
    address: Address,
    values: np.ndarray,
    colors: Palette,
    part: Part,
    *,
    share: bool = False,
    end: float | None = None,
) -> tuple[Chart, str]:
    """Numbers at a matrix's address, tokens as rows, as a heat map; and which rows and columns, where not all fit.

    share, end: as in `draw_heatmap`; by default a few outliers do not stretch the scale, nor do masked scores.
    """
    row_axis, column_axis = trace.dims(address)
    height, width = values.shape
    rows, columns = choose_window(height, width, part.token or 0, part.cells)
    drawn = values[rows.start : rows.stop, columns.start : columns.stop]
    chart = draw_heatmap(
        drawn,
        _make_side(trace, row_axis, rows),
        _make_side(trace, column_axis, columns, part.words),
        colors,
        trace.step(address).kind,
        share=share,
        end=find_robust_limit(drawn) if end is None and not share else end,
        selected=part.token,
        height=part.height,
    )
    return chart, _tell_missing(values.shape, rows, columns, row_axis, column_axis)


def _make_side(trace: Trace, axis: str, shown: range, words: Sequence[str] | None = None) -> Side:
    if axis in TOKEN_AXES:
        return Side(axis, tell_tokens_apart(trace, shown), shown.start)
    return Side(axis, [words[i] for i in shown] if words else None, shown.start)


def _tell_missing(shape: tuple[int, ...], rows: range, columns: range, row_axis: str, column_axis: str) -> str:
    sides = ((rows, shape[0], row_axis), (columns, shape[1], column_axis))
    return ", ".join(
        f"{axis} {shown.start}–{shown.stop - 1} of {size}" for shown, size, axis in sides if len(shown) < size
    )
