"""Whose parts are in which token's vector: shares of their lengths, those of the biases in grey behind a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import Chart, Spec, pack, set_font
from bertviz_core.figures.heatmap import Side, draw_heatmap, has_room
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.tints import mix, tint_cell
from bertviz_core.formula.steps import NORM, RESIDUAL

_ROW, _AROUND, _BAR, _GAP = 14, 46, 20, 5  # pixels
_SQUARE = 300  # pixels of the chart of more tokens, whose cells are as wide as they are high
_QUIET = 0.5  # of the way to grey: what is of no token is not to be what one sees first
_LOW = 24  # rows at most that are as low as that


def draw_inside(shares: np.ndarray, rows: Sequence[str], columns: Sequence[str], row: int, colors: Palette) -> Chart:
    """(token, source) shares, those of the biases last. row: the one to mark, with its numbers where they have room."""
    (count, width), numbered, limit = shares.shape, has_room(shares.shape[1]), float(shares.max()) or 1.0
    few = count <= _LOW
    height = _ROW * count + _AROUND + (0 if numbered else _BAR) if few else _SQUARE
    chart = draw_heatmap(
        shares, Side("", rows), Side("", columns), colors, NORM,
        share=True, selected=row, numbers=numbered, height=height, square=not few,
    )  # fmt: skip
    (cells,) = chart.traces
    quiet = (0.0, colors.zero), (1.0, mix(colors.zero, colors.cells[RESIDUAL], _QUIET))
    biases: Spec = {**cells, "z": pack(shares[:, -1:]), "x0": width - 1, "colorscale": quiet, "showscale": False}
    gap = {"type": "line", "x0": width - 1.5, "x1": width - 1.5, "yref": "paper", "y0": 0, "y1": 1}
    shapes = [*chart.layout.get("shapes", ()), {**gap, "line": {"color": colors.surface, "width": _GAP}}]
    layout = {**chart.layout, "shapes": shapes}
    if numbered:
        *others, last = chart.layout["annotations"]
        ink = tint_cell(_QUIET * float(shares[row, -1]) / limit, RESIDUAL, colors).ink
        layout["annotations"] = [*others, {**last, "font": set_font(ink)}]
    return replace(chart, traces=({**cells, "z": pack(shares[:, :-1])}, biases), layout=layout)
