"""How many numbers each step of a pass gives: one column a step, in the order of the pass, named by its stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from bertviz_core.figures.base import Chart, make_chart, set_axis
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_HEIGHT, _BELOW = 150, 52  # pixels: of all, and of three lines below the columns
_LINE = 11  # letters of one of these lines


@dataclass(frozen=True)
class StageCounts:
    """The steps of a stage that follow each other: its title, and each step's name, count and colour."""

    title: str
    names: Sequence[str]
    counts: Sequence[int]
    inks: Sequence[str]


def draw_step_counts(stages: Sequence[StageCounts], colors: Palette) -> Chart:
    """Columns as high as the counts, from 0; below each stage its name and its share of all."""
    whole = sum(sum(stage.counts) for stage in stages)
    middles, start = [], 0
    for stage in stages:
        middles.append(start + (len(stage.counts) - 1) / 2)
        start += len(stage.counts)
    below = [Rich("<br>".join(map(escape, (*_break(stage.title), _share(stage, whole))))) for stage in stages]
    columns = {
        "type": "bar",
        "x": list(range(start)),
        "y": [count for stage in stages for count in stage.counts],
        "marker": {"color": [ink for stage in stages for ink in stage.inks]},
        "customdata": [name for stage in stages for name in stage.names],
        "hovertemplate": Rich("%{customdata}<br><b>%{y:,}</b><extra></extra>"),
    }
    ticks = {"tickmode": "array", "tickvals": middles, "ticktext": below, "tickangle": 0}
    return make_chart(
        [columns],
        _HEIGHT,
        colors,
        bottom=_BELOW,
        bargap=0.2,
        xaxis=set_axis(colors, range=[-0.6, start - 0.4], zeroline=False, automargin=False, **ticks),
        yaxis=set_axis(colors, rangemode="tozero", nticks=4, tickformat=",d", grid=True),
    )


def _break(title: str) -> list[str]:
    """A title in lines that end between words."""
    return wrap(title, _LINE, break_long_words=False)


def _share(stage: StageCounts, whole: int) -> str:
    return format_percent(sum(stage.counts) / whole)
