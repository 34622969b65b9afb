"""How near one token's vector is to every other one's, from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from bertviz_core.figures.base import LETTER, Chart, Spec, make_chart, name_ticks, pack, set_axis, write_text
from bertviz_core.figures.ends import LEAD, fit, lead
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold
from bertviz_core.formula.texts import shorten

_LONGEST = 12  # letters of the name at the end of its line
_NAMED, _APART = 3, 0.075  # lines with a name, those that end highest; names' least distance, in parts of the height


def draw_resemblance(
    cosines: np.ndarray, names: Sequence[str], stages: Sequence[str], nearest: int, at: int, colors: Palette, color: str
) -> Chart:
    """Cosines (token, stage) as thin lines, one a token, of which one stands out. at: a stage to mark.

    Named at their ends are that one and those that end highest: the nearest after the last stage.
    """
    known = cosines[~np.isnan(cosines)]
    low, high = float(known.min(initial=0.0)) - 0.05, float(known.max(initial=0.1)) + 0.05
    named = _choose_named(cosines[:, -1], nearest)
    ends = {str(i): float(cosines[i, -1]) for i in named}
    heights = fit(ends, (high - low) * _APART, high)
    texts = {i: shorten(names[i], _LONGEST) for i in named}
    inks = {i: color if i == nearest else colors.faint for i in named}
    last = len(stages) - 1
    written = [
        write_text(
            bold(text) if i == nearest else text,
            last + LEAD,
            heights[str(i)],
            {"size": 13, "color": inks[i]},
            xanchor="left",
            xshift=2,
        )
        for i, text in texts.items()
    ]
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
        right=8 + ceil(LETTER * max(map(len, texts.values()))),
        shapes=[_mark_stage(at, colors), *(lead(last, ends[str(i)], heights[str(i)], inks[i]) for i in named)],
        annotations=written,
        xaxis=set_axis(colors, **name_ticks(stages), range=[-0.3, last + LEAD]),
        yaxis=set_axis(colors, grid=True, nticks=5, range=[low, high]),
    )


def _choose_named(ends: np.ndarray, nearest: int) -> list[int]:
    """The line that stands out and those that end highest. ends: (token,) cosines."""
    highest = [int(i) for i in np.argsort(-ends, kind="stable") if not np.isnan(ends[i])][:_NAMED]
    return [*highest, *[nearest] * (nearest not in highest)]


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
