"""Charts of a trace's tensors: which part is drawn, how it is labelled, on which scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.ranking import MASKED, choose_window, rank_top
from bertviz_core.analysis.what_if import subtract
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Figure
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import cell_names
from bertviz_core.ui.frame.labels import label_tokens
from bertviz_core.ui.frame.view import View

CELLS = 12_000  # sent at most per heat map (64 kB as float32 in base64)
_BARS = 12  # of a vector that moved


def draw_tensor(view: View, address: str, *, share: bool = False, end: float | None = None, cells: int = CELLS
               ) -> tuple[Figure, str]:  # fmt: skip
    """A matrix of the trace, tokens as rows, as a heat map; and a note where only a part of it fits.

    share, end: as in `heatmap`. Masked scores do not stretch the scale.
    """
    return _draw(view, view.trace[address], view.trace.dims(address), share, end, cells)


def draw_difference(view: View, before: Trace, after: Trace, address: str, cells: int = 6_000) -> tuple[Figure, str]:
    """How far one trace's matrix lies above or below another's, cell by cell."""
    return _draw(view, subtract(before, after, address), view.trace.dims(address), False, None, cells)


def draw_moved_bars(view: View, before: Trace, after: Trace, address: str, kind: str) -> tuple[Figure, list[int]]:
    """Where a vector moved most, as bars of after − before; and which of its entries they are."""
    values = subtract(before, after, address)
    places = rank_top(np.abs(np.nan_to_num(values)), _BARS)
    names = [cell_names.name_index(view.trace, view.trace.dims(address)[0], i) for i in places]
    return draw_bars(values[places], names, view.colors, view.colors.kinds[kind], name="after − before"), places


def _draw(view: View, values: np.ndarray, dims: tuple[str, ...], share: bool, end: float | None, cells: int
         ) -> tuple[Figure, str]:  # fmt: skip
    row_axis, column_axis = dims
    height, width = values.shape
    rows, columns = choose_window(height, width, view.chosen.token, cells)
    part = values[rows.start : rows.stop, columns.start : columns.stop]
    if end is None and not share:
        end = find_robust_limit(part)
    figure = draw_heatmap(
        part, _make_side(view.trace, row_axis, rows), _make_side(view.trace, column_axis, columns), view.colors,
        share=share, end=end, selected=view.chosen.token,
    )  # fmt: skip
    return figure, _note_window(values.shape, rows, columns, row_axis, column_axis)


def draw_strips(view: View, addresses: Sequence[str]) -> Figure:
    """The chosen token's vector at several addresses, one under the other, on one scale."""
    token = view.chosen.token
    vectors = np.stack([view.trace[f"{address}[token={token}]"] for address in addresses])
    names = [address.removeprefix("embeddings.") for address in addresses]
    return draw_heatmap(
        vectors, Side("", names), Side(view.trace.dims(addresses[0])[-1]), view.colors, end=find_robust_limit(vectors)
    )


def draw_share_bars(view: View, values: np.ndarray, words: Sequence[str], kind: str, name: str) -> Figure:
    """Probabilities as bars from 0 to 1, in the colour of their kind."""
    return draw_bars(values, words, view.colors, view.colors.kinds[kind], name=name, share=True)


def find_limit(values: np.ndarray) -> float:
    """The largest absolute value that is not a masked score: the end of a signed scale."""
    return float(np.abs(values[values > MASKED]).max(initial=0.0))


def find_robust_limit(values: np.ndarray) -> float:
    """`limit`, unless a few outliers would bleach everything else: then the size that 99 % stay below."""
    largest = find_limit(values)
    usual = float(np.quantile(np.abs(values[values > MASKED]), 0.99)) if values.size else 0.0
    return usual if 0 < usual < largest / 2 else largest


def _make_side(trace: Trace, axis: str, shown: range) -> Side:
    return Side(axis, label_tokens(trace, shown) if axis in TOKEN_AXES else None, shown.start)


def _note_window(shape: tuple[int, ...], rows: range, columns: range, row_axis: str, column_axis: str) -> str:
    parts = []
    for shown, size, axis in ((rows, shape[0], row_axis), (columns, shape[1], column_axis)):
        if len(shown) < size:
            parts.append(f"{axis} {shown.start}–{shown.stop - 1} of {size}")
    return f"Drawn: {', '.join(parts)}. The download holds all." if parts else ""
