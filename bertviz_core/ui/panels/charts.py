"""Charts of a trace's tensors: which part is drawn, how it is labelled, on which scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.ranking import choose_window, find_robust_limit
from bertviz_core.analysis.what_if import list_moved, subtract
from bertviz_core.figures.bars import BAR_HEIGHT, SHARES, draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import FRAME, MAX_HEIGHT, Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.showing.tensors import Part, draw_matrix
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import cell_names
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
    rows, _ = choose_window(len(values), values.shape[1], view.chosen.token, cells)
    height = row and min(MAX_HEIGHT, row * len(rows) + FRAME)
    part = Part(cells, view.chosen.token, words, height)
    chart, missing = draw_matrix(view.trace, address, values, view.colors, part, share=share, end=end)
    return chart, f"Shown: {missing}. The download has all values." if missing else ""


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
