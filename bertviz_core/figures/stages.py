"""Numbers from stage to stage of the pass, one line a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import MONOSPACE, Chart, Spec, make_chart, name_ticks, pack, set_axis, set_legend
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape

_STYLES = (("solid", "circle"), ("dash", "square"), ("dot", "diamond"))


def draw_by_stage(
    series: Mapping[str, np.ndarray], stages: Sequence[str], colors: Palette, color: str, *, name: str,
    ends: tuple[float, float] | None = None, words: Sequence[str] | None = None,
    height: int = 320,
) -> Chart:  # fmt: skip
    """Up to three lines, told apart by dash and marker.

    name: of the numbers; ends: of their scale, which is logarithmic where none are given (numbers are positive then);
    words: what to write below the stages, if not their names.
    """
    return make_chart(
        [_draw_line(title, values, stages, color, i) for i, (title, values) in enumerate(series.items())],
        height, colors, right=16, showlegend=True, legend=set_legend({"size": 12}),
        xaxis=set_axis(colors, grid=True, **name_ticks(words or stages)), yaxis=_set_scale(name, ends, colors),
    )  # fmt: skip


def _set_scale(name: str, ends: tuple[float, float] | None, colors: Palette) -> Spec:
    if ends is None:
        title = f"{name}, logarithmic"
        return set_axis(colors, title, grid=True, type="log", dtick=1, exponentformat="power")
    room = 0.06 * (ends[1] - ends[0])
    return set_axis(colors, name, grid=True, range=[ends[0] - room, ends[1] + room])


def _draw_line(title: str, values: np.ndarray, stages: Sequence[str], color: str, place: int) -> Spec:
    dash, marker = _STYLES[place]
    return {
        "type": "scatter", "x": list(range(len(stages))), "y": pack(values), "mode": "lines+markers", "name": title,
        "line": {"color": color, "width": 2, "dash": dash}, "marker": {"symbol": marker, "size": 8},
        "customdata": list(stages), "hoverlabel": {"font": {"family": MONOSPACE}},
        "hovertemplate": Rich(f"{escape(title)}, %{{customdata}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }  # fmt: skip
