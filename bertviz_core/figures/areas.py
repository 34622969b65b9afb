"""Areas: a whole divided into columns, and each column into tiles, every tile as large as its share of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from textwrap import wrap

from bertviz_core.figures.base import Chart, Spec, make_chart, set_axis, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_HEIGHT = 222
_WIDE = 0.06  # of a column whose name and tiles are written on it; that of others stands beside the chart
_LINE = 11  # letters of a line there, and in a column that is not broad
_BROAD = 0.4  # of a column whose tiles have room for both numbers
_TOP = 56  # pixels above the tiles, for the columns' names and shares in three lines
_HIGH = 0.05  # of a tile with a text on it
_FILL = "4D"  # how opaque a tile's colour is, so that the text on it can be read


def draw_areas(columns: Mapping[str, Mapping[str, int]], inks: Mapping[str, str], colors: Palette) -> Chart:
    """Counts by column and tile, at least one of them above 0; inks: a colour for every tile by its name.

    A column's width is its share of the whole, a tile's height its share of the column. Narrow columns, the last ones,
    are named at the right.
    """
    sums = {name: sum(tiles.values()) for name, tiles in columns.items()}
    whole = sum(sums.values())
    ends = list(accumulate(sums.values()))
    starts = [end - size for end, size in zip(ends, sums.values(), strict=True)]
    tiles = [
        tile
        for (column, parts), start in zip(columns.items(), starts, strict=True)
        for tile in _cut(column, parts, (start / whole, sums[column] / whole), whole, inks)
    ]
    narrow = {name: size / whole for name, size in sums.items() if size / whole < _WIDE}
    named = [
        (name, start, size) for (name, size), start in zip(sums.items(), starts, strict=True) if size / whole >= _WIDE
    ]
    axis = set_axis(
        colors,
        range=[0, 1],
        side="top",
        tickmode="array",
        tickangle=0,
        zeroline=False,
        tickvals=[(start + size / 2) / whole for _, start, size in named],
        ticktext=[_break(*wrap(name, _LINE), format_percent(size / whole)) for name, _, size in named],
    )
    return make_chart(
        [_draw_tiles(tiles, colors)],
        _HEIGHT,
        colors,
        right=84 if narrow else 8,
        bargap=0,
        xaxis=axis,
        top=_TOP,
        yaxis=set_axis(colors, range=[1, 0], visible=False, zeroline=False),
        annotations=_write_beside(narrow, colors),
    )


def _cut(
    column: str, parts: Mapping[str, int], across: tuple[float, float], whole: int, inks: Mapping[str, str]
) -> list[tuple]:
    """A column's tiles. across: where it begins, and how wide it is."""
    tiles = []
    start, share = across
    below, count_all = 0.0, max(sum(parts.values()), 1)
    for name, count in parts.items():
        height = count / count_all
        part = format_percent(count / whole)
        text = _break(name, f"{count:,} · {part}") if share >= _BROAD else _break(*wrap(name, _LINE), part)
        room = share >= _WIDE and height >= _HIGH
        said = Rich(f"{escape(column)}: {escape(name)}<br>{count:,} · {part}")
        tiles.append((start, share, below, height, text if room else "", said, inks[name]))
        below += height
    return tiles


def _break(*lines: str) -> Rich:
    return Rich("<br>".join(map(escape, lines)))


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


def _write_beside(narrow: Mapping[str, float], colors: Palette) -> list[Spec]:
    """What the columns are that are too narrow for a text, at the right of them; their shares by their names."""
    lines = [line for name, share in narrow.items() for line in (*wrap(name, _LINE), format_percent(share))]
    place = {"xref": "paper", "xanchor": "left", "xshift": 6, "yanchor": "top", "align": "left"}
    return [write_text(_break(*lines), 1, 0, {"size": 12, "color": colors.text}, **place)] if lines else []
