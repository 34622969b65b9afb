"""Heat maps of tensors: rows are tokens in sentence order, signed data symmetric around 0, ends printed at the bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, make_figure, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_number

ROW_HEIGHT, MIN_HEIGHT, MAX_HEIGHT = 22, 150, 620
_GAPS = 64  # with more rows or columns than this, gaps between them would bleach the colours
_LABELLED_COLUMNS = 40  # with more columns than this, words would collide


@dataclass(frozen=True)
class Side:
    """One side of a heat map: the axis's name, and either words for its entries or the index of the first."""

    name: str
    words: Sequence[str] | None = None
    start: int = 0

    def ticks(self, size: int, thin: int = 1) -> dict[str, Any]:
        """Plotly's axis settings: every entry named, or plain indices where they have no names."""
        if self.words is None:
            return {}
        shown = list(range(0, size, thin))
        places = [self.start + i for i in shown]
        return {"tickmode": "array", "tickvals": places, "ticktext": [self.words[i] for i in shown], "tickangle": -45}


def draw_heatmap(
    values: np.ndarray,
    rows: Side,
    columns: Side,
    colors: Palette,
    *,
    share: bool = False,
    end: float | None = None,
    selected: int | None = None,
) -> go.Figure:
    """A matrix (row, column) as a heat map.

    share: values lie between 0 and 1 (attention, probabilities) and are drawn from 0 to `end`; otherwise they are
    signed and drawn from -end to end. end: the scale's end, by default the largest absolute value; what lies beyond it
    has the end's colour. selected: a row to mark.
    """
    limit = float(end if end is not None else np.abs(values).max(initial=0.0)) or 1.0
    low = 0.0 if share else -limit
    count, width = values.shape
    chart = make_figure(
        go.Heatmap(
            z=np.ascontiguousarray(values, dtype=np.float32), x0=columns.start, dx=1, y0=rows.start, dy=1,
            zmin=low, zmax=limit, colorscale=colors.share if share else colors.signed,
            colorbar=make_color_bar(values, low, limit, colors), xgap=1 if width <= _GAPS else 0,
            ygap=1 if count <= _GAPS else 0,
            hovertemplate=f"{rows.name} %{{y}}<br>{columns.name} %{{x}}<br><b>%{{z:.6f}}</b><extra></extra>",
        ),
        min(MAX_HEIGHT, max(MIN_HEIGHT, count * ROW_HEIGHT + 112)), colors, top=48, right=34,
    )  # fmt: skip
    _name_sides(chart, values.shape, rows, columns, colors)
    if selected is not None and rows.start <= selected < rows.start + count:
        chart.add_shape(
            type="rect", x0=columns.start - 0.5, x1=columns.start + width - 0.5, y0=selected - 0.5, y1=selected + 0.5,
            line={"color": colors.text, "width": 1.5},
        )  # fmt: skip
    return chart


def _name_sides(chart: go.Figure, shape: tuple[int, ...], rows: Side, columns: Side, colors: Palette) -> None:
    thin_rows = max(1, -(-shape[0] * 14 // MAX_HEIGHT))
    thin_columns = max(1, -(-shape[1] // _LABELLED_COLUMNS))
    chart.update_yaxes(**{**set_axis(colors), **rows.ticks(shape[0], thin_rows), "tickangle": 0}, autorange="reversed")
    chart.update_xaxes(**set_axis(colors, columns.name), **columns.ticks(shape[1], thin_columns))
    chart.add_annotation(  # an axis title beside the words would run into them
        text=rows.name, x=0, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom", xshift=-4, yshift=4,
        showarrow=False, font={"size": 12, "color": colors.faint},
    )  # fmt: skip


def make_color_bar(values: np.ndarray, low: float, high: float, colors: Palette) -> dict[str, Any]:
    """The colour bar, with its ends (and 0) printed; an end that values go beyond says so."""
    above, below = values.max(initial=0.0) > high, values.min(initial=0.0) < low
    texts = {high: f"{'≥ ' if above else ''}{format_number(high)}", 0.0: "0"}
    if low:
        texts[low] = f"{'≤ ' if below else ''}{format_number(low)}"
    return {
        "tickvals": list(texts), "ticktext": list(texts.values()), "ticklabeloverflow": "allow", "orientation": "h",
        "thickness": 8, "len": 0.6, "x": 1, "xanchor": "right", "xpad": 0, "y": 1, "yanchor": "bottom", "ypad": 6,
        "outlinewidth": 0, "tickfont": {"family": MONOSPACE, "size": 11, "color": colors.text},
    }  # fmt: skip
