"""How many numbers each step of a pass gives: one bar a step, in the order of the pass, named by its stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.figures.base import Chart, make_chart, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_ROW, _NAME, _BELOW = 5, 16, 28  # pixels: of a bar, of a stage's name, and of what stands below all


@dataclass(frozen=True)
class StageCounts:
    """The steps of a stage that follow each other: its title, and each step's name, count and colour."""

    title: str
    names: Sequence[str]
    counts: Sequence[int]
    inks: Sequence[str]


def draw_step_counts(stages: Sequence[StageCounts], colors: Palette) -> Chart:
    """Bars as long as the counts, from 0, in the order of the pass; beside each stage its name and its share of all."""
    whole = sum(sum(stage.counts) for stage in stages)
    middles, start = [], 0
    for stage in stages:
        middles.append(start + (len(stage.counts) - 1) / 2)
        start += len(stage.counts)
    beside = [Rich(escape(f"{stage.title} {_share(stage, whole)}")) for stage in stages]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": list(range(start)),
        "x": [count for stage in stages for count in stage.counts],
        "marker": {"color": [ink for stage in stages for ink in stage.inks]},
        "customdata": [name for stage in stages for name in stage.names],
        "hovertemplate": Rich("%{customdata}<br><b>%{x:,}</b><extra></extra>"),
    }
    ticks = {"tickmode": "array", "tickvals": middles, "ticktext": beside, "ticklabelstandoff": 4}
    return make_chart(
        [bars],
        max(_ROW * start, _NAME * len(stages)) + _BELOW,
        colors,
        bottom=_BELOW,
        right=16,
        bargap=0.2,
        xaxis=set_axis(colors, rangemode="tozero", nticks=4, tickformat="~s", grid=True),
        yaxis=set_axis(colors, range=[start - 0.4, -0.6], zeroline=False, **ticks),
    )


def _share(stage: StageCounts, whole: int) -> str:
    return format_percent(sum(stage.counts) / whole)
