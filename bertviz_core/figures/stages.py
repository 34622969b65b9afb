"""Numbers from stage to stage of the pass, one line a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from bertviz_core.figures.base import (
    LETTER,
    MONOSPACE,
    Chart,
    Spec,
    make_chart,
    name_ticks,
    pack,
    set_axis,
    set_legend,
    write_text,
)
from bertviz_core.figures.ends import spread
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape

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
        height,
        colors,
        right=16,
        showlegend=True,
        legend=set_legend({"size": 12}),
        xaxis=set_axis(colors, grid=True, **name_ticks(words or stages)),
        yaxis=_set_scale(name, ends, colors),
    )


def draw_runs(
    lines: Mapping[str, np.ndarray], stages: Sequence[str], main: str, colors: Palette, color: str, height: int = 190
) -> Chart:
    """Cosines by stage as thin lines, each named at its end, of which one stands out. main: its name."""
    low = min(0.0, *(float(np.nanmin(line, initial=0.0)) for line in lines.values())) if lines else 0.0
    order = sorted(lines, key=lambda name: name == main)  # the one that stands out is drawn last
    last = len(stages) - 1
    room = (height - 34) / (1.1 - low + 0.05)  # pixels of a cosine of 1
    ends = spread({name: float(line[-1]) for name, line in lines.items() if not np.isnan(line[-1])}, 15 / room)
    return make_chart(
        [_draw_run(name, lines[name], stages, color if name == main else colors.faint, name == main) for name in order],
        height,
        colors,
        right=8 + ceil(LETTER * max(map(len, lines), default=0)),
        annotations=[
            write_text(
                bold(name) if name == main else name,
                last,
                y,
                {"size": 12, "color": color if name == main else colors.faint},
                xanchor="left",
                xshift=8,
            )
            for name, y in ends.items()
        ],
        xaxis=set_axis(colors, **name_ticks(stages), range=[-0.2, last + 0.1]),
        yaxis=set_axis(colors, grid=True, tickvals=[0, 0.5, 1], range=[low - 0.05, 1.1]),
    )


def _draw_run(title: str, values: np.ndarray, stages: Sequence[str], color: str, stands_out: bool) -> Spec:
    return {
        "type": "scatter",
        "x": list(range(len(stages))),
        "y": pack(values),
        "name": title,
        "mode": "lines+markers" if stands_out else "lines",
        "opacity": 1 if stands_out else 0.6,
        "line": {"color": color, "width": 2.75 if stands_out else 1.25},
        "marker": {"color": color, "size": 7},
        "hovertemplate": Rich(f"{escape(title)}, layer %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }


def _set_scale(name: str, ends: tuple[float, float] | None, colors: Palette) -> Spec:
    if ends is None:
        title = f"{name}, logarithmic"
        return set_axis(colors, title, grid=True, type="log", dtick=1, exponentformat="power")
    room = 0.06 * (ends[1] - ends[0])
    return set_axis(colors, name, grid=True, range=[ends[0] - room, ends[1] + room])


def _draw_line(title: str, values: np.ndarray, stages: Sequence[str], color: str, place: int) -> Spec:
    dash, marker = _STYLES[place]
    return {
        "type": "scatter",
        "x": list(range(len(stages))),
        "y": pack(values),
        "mode": "lines+markers",
        "name": title,
        "line": {"color": color, "width": 2, "dash": dash},
        "marker": {"symbol": marker, "size": 8},
        "customdata": list(stages),
        "hoverlabel": {"font": {"family": MONOSPACE}},
        "hovertemplate": Rich(f"{escape(title)}, %{{customdata}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }
