"""One head: its attention map, and beside the rows a line to the token that each looks at hardest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import Chart, Spec, pack, set_axis, set_font
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import bold
from bertviz_core.formula.steps import ATTENTION

LARGEST = 40  # tokens; with more of them the lines would be a thicket
_ROW, _FRAME, _LEAST = 19, 112, 150  # pixels of a row, of what is around them, of all at least
_MAP, _LINES = 0.68, (0.69, 1)  # parts of the width
_REACH = 2.3  # what the lines and the names have, where the lines have 1
_ALONG = np.linspace(0, 1, 17)
_EASE = 3 * _ALONG**2 - 2 * _ALONG**3


def draw_head(
    weights: np.ndarray, tokens: Sequence[str], chosen: int, colors: Palette, padding: Collection[int] = ()
) -> Chart:
    """(query, key) attention weights; a line from every query to the key with its largest weight.

    tokens: with their positions; chosen: the query whose row and line are marked; padding: the queries that have no
    line, as those have none whose weights are all 0. The marked line is as thick as its weight is large.
    """
    rows, columns = Side("query", tokens), Side("key", tokens, angle=-90, standoff=CLEAR)
    height = max(_LEAST, len(tokens) * _ROW + _FRAME)
    base = draw_heatmap(weights, rows, columns, colors, ATTENTION, share=True, end=1.0, selected=chosen, height=height)
    looked = weights.argmax(axis=1)
    lined = [i for i in range(len(tokens)) if i not in padding and weights[i].any()]
    others, own = [i for i in lined if i != chosen], [i for i in lined if i == chosen]
    traces = (
        _draw_lines(others, looked[others], colors.faint, 1, 0.5),
        _draw_lines(own, looked[own], colors.kinds["attention"], 2 + 5 * float(weights[chosen].max()), 1),
        _name_keys(tokens, int(looked[chosen]) if own else None, colors),
        *base.traces,
    )
    layout = {
        **base.layout,
        "xaxis": {**base.layout["xaxis"], "domain": [0, _MAP]},
        "xaxis2": set_axis(colors, domain=list(_LINES), range=[0, _REACH], showticklabels=False, anchor="y"),
        "yaxis": {**base.layout["yaxis"], "range": [len(tokens) - 0.5, -0.5]},
    }
    return replace(base, traces=traces, layout=layout, picked_from=3)


def _draw_lines(queries: Sequence[int], keys: np.ndarray, color: str, width: float, opacity: float) -> Spec:
    """A soft curve from each query's row to its key's, all in one trace."""
    y = [row for q, k in zip(queries, keys, strict=True) for row in (*(q + (k - q) * _EASE), np.nan)]
    x = [*_ALONG, np.nan] * len(queries)
    return {
        "type": "scatter",
        "x": pack(np.array(x)),
        "y": pack(np.array(y)),
        "xaxis": "x2",
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": color, "width": width},
        "opacity": opacity,
    }


def _name_keys(tokens: Sequence[str], looked: int | None, colors: Palette) -> Spec:
    """The keys once more, where the lines end; the one that the chosen query looks at, if any, in colour."""
    tints = [colors.kinds["attention"] if i == looked else colors.faint for i in range(len(tokens))]
    words = [bold(token) if i == looked else token for i, token in enumerate(tokens)]
    return {
        "type": "scatter",
        "x": [1.05] * len(tokens),
        "y": list(range(len(tokens))),
        "xaxis": "x2",
        "mode": "text",
        "text": words,
        "textposition": "middle right",
        "cliponaxis": False,
        "hoverinfo": "skip",
        "textfont": {**set_font(colors.text), "color": tints},
    }
