"""One number per head: layers are rows, heads are columns."""

from __future__ import annotations

import numpy as np

from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.steps import ATTENTION


def draw_head_grid(
    values: np.ndarray, end: float, chosen: tuple[int, int], colors: Palette, *, signed: bool = False
) -> Chart:
    """(layer, head) numbers from 0, or from -end if signed, to `end`; the chosen layer and head are marked."""
    layers, heads = Side("layer", dtick=1), Side("head", dtick=1, standoff=CLEAR)
    return draw_heatmap(values, layers, heads, colors, ATTENTION, share=not signed, end=end, cell=chosen)
