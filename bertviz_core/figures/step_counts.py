"""How many numbers each step of a pass gives: a bar for each stage, in the order of the pass, with a part a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from bertviz_core.figures.base import (
    Chart,
    leave_room,
    make_chart,
    make_tracks,
    name_rows,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_ROW, _BELOW = 21, 28  # pixels: of a stage, and of what stands below all


@dataclass(frozen=True)
class StageCounts:
    """The steps of a stage that follow each other: its title, and each step's name, count and colour."""

    title: str
    names: Sequence[str]
    counts: Sequence[int]
    inks: Sequence[str]


def draw_step_counts(stages: Sequence[StageCounts], colors: Palette) -> Chart:
    """The steps' counts end to end in a bar for each stage, in the order of the pass; beside it its share of all."""
    whole = sum(sum(stage.counts) for stage in stages)
    shares = [format_percent(sum(stage.counts) / whole) for stage in stages]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [row for row, stage in enumerate(stages) for _ in stage.counts],
        "x": [count for stage in stages for count in stage.counts],
        "base": [start for stage in stages for start in accumulate(stage.counts[:-1], initial=0)],
        "marker": {
            "color": [ink for stage in stages for ink in stage.inks],
            "line": {"color": colors.surface, "width": 1},
        },
        "customdata": [name for stage in stages for name in stage.names],
        "hovertemplate": Rich("%{customdata}<br><b>%{x:,}</b><extra></extra>"),
    }
    beside = {"xanchor": "left", "xshift": 6}
    return make_chart(
        [bars],
        _ROW * len(stages) + _BELOW,
        colors,
        bottom=_BELOW,
        right=leave_room(shares),
        bargap=0.3,
        barmode="overlay",
        shapes=make_tracks(len(stages), colors),
        annotations=[
            write_text(escape(share), sum(stage.counts), row, set_font(colors.text), **beside)
            for row, (share, stage) in enumerate(zip(shares, stages, strict=True))
        ],
        xaxis=set_axis(colors, rangemode="tozero", nticks=4, tickformat="~s", grid=True),
        yaxis=name_rows([stage.title for stage in stages], colors),
    )
