"""Charts of a trace's tensors: which part is drawn, how it is labelled, on which scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.ranking import MASKED, choose_window
from bertviz_core.analysis.what_if import list_moved, subtract
from bertviz_core.figures.bars import BAR_HEIGHT, SHARES, draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import FRAME, MAX_HEIGHT, Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import cell_names
from bertviz_core.ui.frame.labels import label_tokens
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks

CELLS, MANY_CELLS = 6_000, 12_000  # sent at most per heat map, and where there is one (64 kB as float32 in base64)
_BARS = 12  # of a vector that moved


def draw_tensor(
    view: View,
    address: Address,
    *,
    share: bool = False,
    end: float | None = None,
    cells: int = CELLS,
    words: Sequence[str] | None = None,
    row: int | None = None,
) -> tuple[Chart, str]:
    """A matrix of the trace, tokens as rows, as a heat map that offers its cells; and a note where only a part fits.

    share, end: as in `draw_heatmap`; cells: drawn at most; words: what the columns are called, if not tokens; row:
    pixels of a row, if not as usual. Masked scores do not stretch the scale.
    """
    chart, note = _draw(view, address, view.trace[address], share, end, cells, words, row)
    return chart.offer(picks.pick_matrix(view.trace, address)), note


def draw_difference(view: View, before: Trace, after: Trace, address: Address) -> tuple[Chart, str]:
    """How far one trace's matrix lies above or below another's, cell by cell."""
    return _draw(view, address, subtract(before, after, address), False, None, CELLS)


def draw_moved_bars(view: View, before: Trace, after: Trace, address: Address, kind: str) -> Chart:
    """Where a vector moved most, as bars of after − before that offer those cells."""
    values = subtract(before, after, address)
    places = list_moved(before, after, address, _BARS)
    names = [cell_names.name_index(view.trace, view.trace.dims(address)[0], i) for i in places]
    chart = draw_bars(values[places], names, view.colors, view.colors.kinds[kind], name="after − before")
    return chart.offer(picks.pick_points(view.trace, address, places))


def _draw(
    view: View,
    address: Address,
    values: np.ndarray,
    share: bool,
    end: float | None,
    cells: int,
    words: Sequence[str] | None = None,
    row: int | None = None,
) -> tuple[Chart, str]:
    row_axis, column_axis = view.trace.dims(address)
    height, width = values.shape
    rows, columns = choose_window(height, width, view.chosen.token, cells)
    part = values[rows.start : rows.stop, columns.start : columns.stop]
    if end is None and not share:
        end = find_robust_limit(part)
    chart = draw_heatmap(
        part,
        _make_side(view.trace, row_axis, rows),
        _make_side(view.trace, column_axis, columns, words),
        view.colors,
        view.trace.step(address).kind,
        share=share,
        end=end,
        selected=view.chosen.token,
        height=row and min(MAX_HEIGHT, row * len(rows) + FRAME),
    )
    return chart, _note_window(values.shape, rows, columns, row_axis, column_axis)


def draw_strips(view: View, addresses: Sequence[Address], names: Sequence[str]) -> Chart:
    """The chosen token's vector at several addresses, one under the other, on one scale. names: of the strips, short
    ones, which leave more room on a phone."""
    token = view.chosen.token
    vectors = np.stack([view.trace[address.fix(token=token)] for address in addresses])
    return draw_heatmap(
        vectors,
        Side("", names),
        Side(view.trace.dims(addresses[0])[-1]),
        view.colors,
        view.trace.step(addresses[0]).kind,
        end=find_robust_limit(vectors),
    )


def draw_share_bars(
    view: View, values: np.ndarray, words: Sequence[str], kind: str, name: str, row: int = BAR_HEIGHT
) -> Chart:
    """Probabilities as bars from 0 to 1, in the colour of their kind. row: height of each in pixels."""
    return draw_bars(values, words, view.colors, view.colors.kinds[kind], name=name, ends=SHARES, row=row)


def find_limit(values: np.ndarray) -> float:
    """The largest absolute value that is not a masked score: the end of a signed scale."""
    return float(np.abs(values[values > MASKED]).max(initial=0.0))


def find_robust_limit(values: np.ndarray) -> float:
    """`find_limit`, unless a few outliers would bleach everything else: then the size that 99 % stay below."""
    largest = find_limit(values)
    usual = float(np.quantile(np.abs(values[values > MASKED]), 0.99)) if values.size else 0.0
    return usual if 0 < usual < largest / 2 else largest


def _make_side(trace: Trace, axis: str, shown: range, words: Sequence[str] | None = None) -> Side:
    if axis in TOKEN_AXES:
        return Side(axis, label_tokens(trace, shown), shown.start)
    return Side(axis, [words[i] for i in shown] if words else None, shown.start)


def _note_window(shape: tuple[int, ...], rows: range, columns: range, row_axis: str, column_axis: str) -> str:
    parts: list[str] = []
    for shown, size, axis in ((rows, shape[0], row_axis), (columns, shape[1], column_axis)):
        if len(shown) < size:
            parts.append(f"{axis} {shown.start}–{shown.stop - 1} of {size}")
    return f"Shown: {', '.join(parts)}. The download has all values." if parts else ""
