"""Areas: a whole divided into columns, and each column into tiles, every tile as large as its share of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from bertviz_core.figures.base import Chart, Spec, make_chart, set_axis, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_HEIGHT = 270
_WIDE = 0.06  # of a column whose name and tiles are written on it; others beside the chart
_BROAD = 0.2  # of a column whose tiles have room for both numbers in one line
_HIGH = 0.05  # of a tile with a text on it
_FILL = "4D"  # how opaque a tile's colour is, so that the text on it can be read


def draw_areas(columns: Mapping[str, Mapping[str, int]], inks: Mapping[str, str], colors: Palette) -> Chart:
    """Counts by column and tile, at least one of them above 0; inks: a colour for every tile by its name.

    A column's width is its share of the whole, a tile's height its share of the column. A narrow last column has its
    tiles' names at its right.
    """
    sums = {name: sum(tiles.values()) for name, tiles in columns.items()}
    whole = sum(sums.values())
    ends = list(accumulate(sums.values()))
    starts = [end - size for end, size in zip(ends, sums.values(), strict=True)]
    tiles, beside = [], []
    for (column, parts), start in zip(columns.items(), starts, strict=True):
        cut, texts = _cut(column, parts, (start / whole, sums[column] / whole), whole, inks)
        tiles += cut
        beside += texts
    named = [
        (name, start, size) for (name, size), start in zip(sums.items(), starts, strict=True) if size / whole >= _WIDE
    ]
    axis = set_axis(
        colors,
        range=[0, 1],
        side="top",
        tickmode="array",
        zeroline=False,
        tickvals=[(start + size / 2) / whole for _, start, size in named],
        ticktext=[f"{name} {format_percent(size / whole)}" for name, _, size in named],
    )
    return make_chart(
        [_draw_tiles(tiles, colors)],
        _HEIGHT,
        colors,
        right=172 if beside else 8,
        bargap=0,
        xaxis=axis,
        top=28,
        yaxis=set_axis(colors, range=[1, 0], visible=False, zeroline=False),
        annotations=_write_beside(beside, colors),
    )


def _cut(
    column: str, parts: Mapping[str, int], across: tuple[float, float], whole: int, inks: Mapping[str, str]
) -> tuple[list[tuple], list[tuple[float, str]]]:
    """A column's tiles, and the texts beside it, if it is narrow. across: where it begins, and how wide it is."""
    tiles, beside = [], []
    start, share = across
    below, count_all = 0.0, max(sum(parts.values()), 1)
    for name, count in parts.items():
        height = count / count_all
        between = " · " if share >= _BROAD else "<br>"
        text = Rich(f"{escape(name)}<br>{count:,}{between}{format_percent(count / whole)}")
        room = share >= _WIDE and height >= _HIGH
        said = Rich(f"{escape(column)}: {text}")
        tiles.append((start, share, below, height, text if room else "", said, inks[name]))
        if share < _WIDE:
            beside.append((below + height / 2, f"{name} {format_percent(count / whole)}"))
        below += height
    return tiles, beside


def _draw_tiles(tiles: Sequence[tuple], colors: Palette) -> Spec:
    starts, widths, below, heights, texts, hovers, inks = (list(side) for side in zip(*tiles, strict=True))
    return {
        "type": "bar",
        "x": starts,
        "width": widths,
        "base": below,
        "y": heights,
        "offset": 0,
        "text": texts,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        "textfont": {"size": 12, "color": colors.text},
        "customdata": hovers,
        "marker": {"color": [f"{ink}{_FILL}" for ink in inks], "line": {"color": colors.surface, "width": 2}},
        "hovertemplate": Rich("%{customdata}<extra></extra>"),
    }


def _write_beside(beside: Sequence[tuple[float, str]], colors: Palette) -> list[Spec]:
    """Texts beside the last column, each at its tile's height as far as the others leave room."""
    least = 18 / (_HEIGHT - 36)
    places = [y for y, _ in beside]
    for i in range(len(places)):
        places[i] = max(places[i], places[i - 1] + least if i else least / 2)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], places[i + 1] - least if i + 1 < len(places) else 1 - least / 2)
    return [
        write_text(text, 1, y, {"size": 12, "color": colors.text}, xref="paper", xanchor="left", xshift=6)
        for y, (_, text) in zip(places, beside, strict=True)
    ]
