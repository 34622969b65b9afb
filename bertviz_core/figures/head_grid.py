"""One number per head: layers are rows, heads are columns."""

from __future__ import annotations

import numpy as np

from bertviz_core.figures.base import Figure
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette


def draw_head_grid(values: np.ndarray, end: float, chosen: tuple[int, int], colors: Palette, *, signed: bool = False
              ) -> Figure:  # fmt: skip
    """(layer, head) numbers from 0, or from -end if signed, to `end`; the chosen layer and head are marked."""
    chart = draw_heatmap(values, Side("layer"), Side("head"), colors, share=not signed, end=end)
    layer, head = chosen
    chart.add_shape(
        type="rect", x0=head - 0.5, x1=head + 0.5, y0=layer - 0.5, y1=layer + 0.5,
        line={"color": colors.text, "width": 2},
    )  # fmt: skip
    return chart.update_xaxes(dtick=1, title_standoff=20).update_yaxes(dtick=1)
