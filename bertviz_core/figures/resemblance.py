"""How near one token's vector is to every other one's, from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from bertviz_core.figures.base import LETTER, Chart, Spec, make_chart, name_ticks, pack, set_axis, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold
from bertviz_core.formula.texts import shorten

_LONGEST = 12  # letters of the name at the end of its line


def draw_resemblance(
    cosines: np.ndarray, names: Sequence[str], stages: Sequence[str], nearest: int, at: int, colors: Palette, color: str
) -> Chart:
    """Cosines (token, stage) as thin lines, one a token, of which one stands out. at: a stage to mark."""
    low, high = min(0.0, float(cosines.min(initial=0.0))), float(cosines.max(initial=0.1))
    name = shorten(names[nearest], _LONGEST)
    end = {"xanchor": "left", "xshift": 8}
    named = write_text(bold(name), len(stages) - 1, float(cosines[nearest, -1]), {"size": 13, "color": color}, **end)
    return make_chart(
        [
            _draw_others(np.delete(cosines, nearest, axis=0), [*names[:nearest], *names[nearest + 1 :]], colors),
            {
                "type": "scatter",
                "x": list(range(len(stages))),
                "y": pack(cosines[nearest]),
                "mode": "lines+markers",
                "line": {"color": color, "width": 2.5},
                "marker": {"color": color, "size": 6},
                "name": names[nearest],
                "hovertemplate": Rich("%{y:.4g}<extra></extra>"),
            },
        ],
        268,
        colors,
        right=8 + ceil(LETTER * len(name)),
        shapes=[_mark_stage(at, colors)],
        annotations=[named],
        xaxis=set_axis(colors, **name_ticks(stages), range=[-0.3, len(stages) - 0.7]),
        yaxis=set_axis(colors, grid=True, nticks=5, range=[low - 0.05, high + 0.05]),
    )


def _draw_others(cosines: np.ndarray, names: Sequence[str], colors: Palette) -> Spec:
    """Lines (token, stage) that do not stand out, as a single one with gaps."""
    count, stages = cosines.shape
    joined = np.concatenate([cosines, np.full((count, 1), np.nan)], axis=1).ravel()
    return {
        "type": "scatter",
        "x": pack(np.tile(np.arange(stages + 1), count)),  # the last one is the gap
        "y": pack(joined),
        "mode": "lines",
        "opacity": 0.5,
        "line": {"color": colors.faint, "width": 1},
        "customdata": [name for name in names for _ in range(stages + 1)],
        "hovertemplate": Rich("%{customdata}<br><b>%{y:.4g}</b><extra></extra>"),
    }


def _mark_stage(at: int, colors: Palette) -> Spec:
    """A band behind all lines."""
    return {
        "type": "rect",
        "x0": at - 0.3,
        "x1": at + 0.3,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "fillcolor": colors.line,
        "opacity": 0.5,
        "line": {"width": 0},
        "layer": "below",
    }
