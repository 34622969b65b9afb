"""Two passes side by side: angles by stage, answers to the left and right, heads by how far their maps differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from bertviz_core.figures.base import (
    BAR_GAP,
    LETTER,
    Cells,
    Chart,
    Spec,
    leave_room,
    make_chart,
    name_ticks,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.ends import LEAD, fit, lead
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.figures.tints import mix
from bertviz_core.formula.numbers import format_degrees, format_percent

_STEPS = (90, 45, 30, 15, 10, 5, 2, 1)  # degrees from one line of the grid to the next
_LINE = 16  # pixels from one name to the next
_AROUND = 50  # pixels above and below the lines
_MIDDLE = 0.34  # of the width, for the answers between the bars
_WHOLE = 1.001  # of the largest share: what reaches beyond the axis in single precision has no number beside it
_PALE = 0.4  # of the way to its colour, for a bar that is not dark


@dataclass(frozen=True, eq=False)
class Run:
    """One token's angles, degrees by stage. cells: the address of each."""

    name: str
    angles: np.ndarray
    cells: Sequence[str]


def draw_angles(
    runs: Sequence[Run], main: int, stages: Sequence[str], colors: Palette, color: str, height: int
) -> Chart:
    """Angles by stage, a line a token, named at its end. main: which stands out; stages: what they are called."""
    top = max((float(np.nanmax(run.angles, initial=0.0)) for run in runs), default=0.0) or 1.0
    last, end = len(stages) - 1, 1.08 * top
    order = sorted(range(len(runs)), key=lambda i: i == main)  # what stands out is drawn last
    ends = {str(i): float(run.angles[-1]) for i, run in enumerate(runs) if not np.isnan(run.angles[-1])}
    inks = [color if i == main else colors.faint for i in range(len(runs))]
    names = fit(ends, _LINE * end / max(1, height - _AROUND), end)
    return make_chart(
        [_draw_run(runs[i], stages, inks[i], i == main) for i in order],
        height,
        colors,
        right=12 + ceil(LETTER * max((len(run.name) for run in runs), default=0)),
        annotations=[
            write_text(
                bold(runs[int(i)].name) if int(i) == main else runs[int(i)].name,
                last + LEAD,
                y,
                {"size": 12, "color": inks[int(i)]},
                xanchor="left",
                xshift=2,
            )
            for i, y in names.items()
        ],
        shapes=[lead(last, ends[i], y, inks[int(i)]) for i, y in names.items()],
        xaxis=set_axis(colors, "layer", standoff=2, **name_ticks(stages), range=[-0.2, last + LEAD]),
        yaxis=set_axis(colors, grid=True, range=[-0.04 * end, end], dtick=_choose_step(top), ticksuffix="°"),
    )


def _choose_step(top: float) -> float:
    """Degrees between the lines of the grid: two to five of them."""
    return next((step for step in _STEPS if top >= 2 * step), top / 2)


def _draw_run(run: Run, stages: Sequence[str], color: str, stands_out: bool) -> Spec:
    return {
        "type": "scatter",
        "x": list(range(len(stages))),
        "y": pack(run.angles),
        "name": run.name,
        "mode": "lines+markers",
        "opacity": 1 if stands_out else 0.65,
        "line": {"color": color, "width": 2.75 if stands_out else 1.25},
        "marker": {"color": color, "size": 8 if stands_out else 5},
        "text": [format_degrees(float(angle)) for angle in run.angles],
        "customdata": list(stages),
        "hovertemplate": Rich(f"{escape(run.name)}, %{{customdata}}<br><b>%{{text}}</b><extra></extra>"),
        "meta": list(run.cells),
    }


@dataclass(frozen=True, eq=False)
class Side:
    """The probabilities of one pass, NaN where it cannot give the answer. cells: of the bars, if they are on screen."""

    name: str
    shares: np.ndarray
    cells: Cells = ""

    @property
    def told(self) -> list[str]:
        """The probabilities in words, as they stand beside their bars."""
        return ["none" if np.isnan(share) else format_percent(float(share)) for share in self.shares]


def draw_mirrored(words: Sequence[str], left: Side, right: Side, colors: Palette, color: str, row: int = 19) -> Chart:
    """Probabilities of the same answers, one pass leftwards, the other rightwards, on one scale."""
    end = float(np.nanmax([left.shares, right.shares], initial=0.0)) or 1.0
    half = (1 - _MIDDLE) / 2
    above = {"xref": "paper", "yref": "paper", "yanchor": "bottom", "yshift": 4}
    return make_chart(
        [_draw_side(left, words, "x", colors, color), _draw_side(right, words, "x2", colors, color)],
        len(words) * row + 30,
        colors,
        top=26,
        bottom=4,
        left=leave_room(left.told),
        right=leave_room(right.told),
        bargap=BAR_GAP,
        annotations=[
            *(write_text(word, 0.5, i, {"size": 12.5}, xref="paper") for i, word in enumerate(words)),
            *(
                write_text(bold(name), at, 1, {"size": 12}, xanchor=side, **above)
                for name, at, side in ((left.name, half, "right"), (right.name, 1 - half, "left"))
            ),
        ],
        xaxis=set_axis(colors, domain=[0, half], range=[_WHOLE * end, 0], showticklabels=False),
        xaxis2=set_axis(colors, domain=[1 - half, 1], range=[0, _WHOLE * end], anchor="y", showticklabels=False),
        yaxis=set_axis(colors, range=[len(words) - 0.5, -0.5], showticklabels=False),
    )


def _draw_side(side: Side, words: Sequence[str], axis: str, colors: Palette, color: str) -> Spec:
    drawn: Spec = {
        "type": "bar",
        "orientation": "h",
        "x": pack(np.nan_to_num(side.shares)),
        "y": list(range(len(words))),
        "xaxis": axis,
        "marker": {"color": color},
        "text": side.told,
        "textposition": "outside",
        "textangle": 0,
        "constraintext": "none",
        "textfont": set_font(colors.text),
        "cliponaxis": False,
        "customdata": list(words),
        "hovertemplate": Rich(f"{escape(side.name)}, %{{customdata}}<br><b>%{{text}}</b><extra></extra>"),
    }
    return {**drawn, "meta": side.cells} if side.cells else drawn


def draw_sorted(values: np.ndarray, names: Sequence[str], dark: int, colors: Palette, color: str, height: int) -> Chart:
    """Shares as thin bars, the largest first, of which the first few are dark. NaN is not drawn."""
    pale = mix(colors.zero, color, _PALE)
    inks = [color if i < dark else pale for i in range(len(values))]
    end = float(np.nanmax(values, initial=0.0)) or 1.0
    bars: Spec = {
        "type": "bar",
        "x": list(range(len(values))),
        "y": pack(values),
        "marker": {"color": inks, "line": {"width": 0}},
        "customdata": list(names),
        "text": [format_percent(float(value)) for value in values],
        "textposition": "none",
        "hovertemplate": Rich("%{customdata}<br><b>%{text}</b><extra></extra>"),
    }
    ends = [0, len(values) - 1] if len(values) > 1 else [0]
    return make_chart(
        [bars],
        height,
        colors,
        top=20,
        bargap=BAR_GAP,
        annotations=[
            write_text(format_percent(float(values[0])), 0, 1, set_font(colors.text), xref="paper", yref="paper",
                       xanchor="left", yanchor="bottom", yshift=1),
            *(
                write_text(names[i], side, 0, {"size": 12, "color": colors.faint}, xref="paper", yref="paper",
                           xanchor=anchor, yanchor="top", yshift=-2)
                for i, side, anchor in zip(ends, (0, 1), ("left", "right"), strict=False)
            ),
        ],
        bottom=24,
        xaxis=set_axis(colors, showticklabels=False, range=[-0.5, len(values) - 0.5]),
        yaxis=set_axis(colors, showticklabels=False, range=[0, _WHOLE * end]),
    )  # fmt: skip
