"""Several methods' amounts for the tokens of one sentence as strips, each on a scale of its own, with one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import SANS, Chart, Spec, set_font, write_text
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import shorten

_ROW, _AROUND, _RIGHT = 20, 66, 50  # pixels
_LETTERS = 12  # of a token below its column: more would leave the rows no room
_NAMED, _GAPS = 14, 24  # tokens at most that are all named in a narrow card; that have gaps between their cells


def draw_methods(
    amounts: np.ndarray, names: Sequence[str], tokens: Sequence[str], orders: Sequence[str], colors: Palette
) -> Chart:
    """(method, token) amounts, NaN where there are none, which pointing tells; orders: how near each method's order is
    to the first one's."""
    ends = np.nanmax(np.abs(np.nan_to_num(amounts)), axis=1, keepdims=True)
    below = Side("", [shorten(token, _LETTERS) for token in tokens], angle=-90)
    chart = draw_heatmap(
        amounts / np.where(ends == 0, 1, ends),
        Side("", names),
        below,
        colors,
        PREDICTION,
        end=1.0,
        height=_ROW * len(names) + _AROUND,
    )
    (cells,) = chart.traces
    place = {"xref": "paper", "xanchor": "right", "xshift": _RIGHT - 6}
    quiet = {"family": SANS, "size": 12, "color": colors.faint}
    texts: list[Spec] = [write_text("order", 1, 1, quiet, yref="paper", yanchor="bottom", yshift=2, **place)]
    texts += [write_text(text, 1, i, set_font(colors.text), **place) for i, text in enumerate(orders) if text]
    layout = {
        **chart.layout,
        "annotations": texts,
        "margin": {**chart.layout["margin"], "r": _RIGHT},
        "xaxis": {**chart.layout["xaxis"], **below.ticks(len(tokens), -(-len(tokens) // _NAMED))},
    }
    told = {
        "text": [[format_number(float(x)) if np.isfinite(x) else "" for x in row] for row in amounts],
        "hovertemplate": Rich("%{y}, %{x}: <b>%{text}</b><extra></extra>"),
        "hoverongaps": False,
    }
    gaps = {"xgap": 2 if len(tokens) <= _GAPS else 0, "ygap": 2}
    return replace(chart, traces=({**cells, "showscale": False, **gaps, **told},), layout=layout)
