"""Who wrote a number: every head's part as a map with the sums of its rows, the feed-forward blocks' as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bertviz_core.figures.base import (
    SANS,
    Chart,
    Spec,
    leave_room,
    make_chart,
    name_rows,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import ATTENTION

_ROW, _TOP, _BOTTOM = 24, 24, 22  # pixels; below, the heads' numbers have room
_SAID = 0.4  # of the largest head: whose number stands in its cell
_FONT = {"family": SANS}  # three letters of it have room in a cell of a phone
_WRITTEN, _TICKED = (
    12,
    32,
)  # heads at most whose cells have room for numbers, also on a phone, and for half of the ticks


def draw_written(heads: np.ndarray, cells: str, colors: Palette) -> Chart:
    """(layer, head) amounts, and the sum of each layer's. cells: the address of a head, with {x} and {y}."""
    layers, count = heads.shape
    end = float(np.abs(heads).max(initial=0.0)) or 1.0
    sums = [format_short(float(x)) for x in heads.sum(axis=1)]
    every = 1 if count <= _WRITTEN else 2 if count <= _TICKED else 4
    return make_chart(
        [_draw_heads(heads, end, cells, colors)],
        _measure_height(layers),
        colors,
        top=_TOP,
        bottom=_BOTTOM,
        right=leave_room(sums),
        annotations=[
            _write_name("heads", colors),
            *_write_numbers(heads, end, colors),
            *_write_beside(sums, "sum", colors),
        ],
        yaxis=_name_layers(layers, colors),
        xaxis=set_axis(colors, dtick=every, tickangle=0, range=[-0.5, count - 0.5], automargin=False),
    )


def draw_written_blocks(blocks: np.ndarray, cells: str, colors: Palette, color: str) -> Chart:
    """(layer,) amounts as bars, one below the other as the rows of `draw_written`. cells: the address of a block, with
    {n}; color: of the bars."""
    texts = [format_short(float(x)) for x in blocks]
    return make_chart(
        [_draw_blocks(blocks, texts, cells, colors, color)],
        _measure_height(len(blocks)),
        colors,
        top=_TOP,
        bottom=_BOTTOM,
        right=leave_room(texts),
        bargap=0.4,
        annotations=[_write_name("feed-forward", colors), *_write_beside(texts, "", colors)],
        yaxis=_name_layers(len(blocks), colors),
        xaxis=set_axis(colors, showticklabels=False, zeroline=True, zerolinecolor=colors.faint, automargin=False),
    )


def _measure_height(layers: int) -> int:
    return _ROW * layers + _TOP + _BOTTOM


def _name_layers(layers: int, colors: Palette) -> Spec:
    named = name_rows([f"layer {i}" for i in range(layers)], colors)
    return {**named, "ticklabelstandoff": 8, "autorange": False, "range": [layers - 0.5, -0.5]}  # of both charts alike


def _draw_heads(heads: np.ndarray, end: float, cells: str, colors: Palette) -> Spec:
    return {
        "type": "heatmap",
        "z": pack(heads),
        "zmin": -end,
        "zmax": end,
        "colorscale": colors.shade(ATTENTION),
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "meta": cells,
        "hovertemplate": Rich("%{y}, head %{x}<br><b>%{z:.4g}</b><extra></extra>"),
    }


def _draw_blocks(blocks: np.ndarray, texts: Sequence[str], cells: str, colors: Palette, color: str) -> Spec:
    return {
        "type": "bar",
        "x": pack(blocks),
        "y": list(range(len(blocks))),
        "orientation": "h",
        "marker": {"color": colors.ink(blocks.tolist(), color)},
        "text": list(texts),
        "textposition": "none",
        "customdata": [f"layer {i}, feed-forward" for i in range(len(blocks))],
        "meta": cells,
        "hovertemplate": Rich("%{customdata}<br><b>%{text}</b><extra></extra>"),
    }


def _write_name(name: str, colors: Palette, x: float = 0, **place: Any) -> Spec:
    """Above the rows, by default at the left."""
    font = {"family": SANS, "size": 12, "color": colors.faint}
    where = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 2, **place}
    return write_text(name, x, 1, font, **where)


def _write_numbers(heads: np.ndarray, end: float, colors: Palette) -> list[Spec]:
    """The numbers of the largest heads, in their cells."""
    return [
        write_text(_write_narrow(x), head, layer, {**set_font(tint_cell(x / end, ATTENTION, colors).ink), **_FONT})
        for (layer, head), x in np.ndenumerate(heads)
        if abs(x) >= _SAID * end and heads.shape[1] <= _WRITTEN
    ]


def _write_narrow(x: float) -> str:
    """A number that has room in a cell of a phone: `.3`, `−.3`, `1.2`."""
    whole, tenths = f"{abs(x):.1f}".split(".")
    if whole == tenths == "0":
        return "0"
    return f"{'−' if x < 0 else ''}{whole.removeprefix('0')}.{tenths}"


def _write_beside(texts: Sequence[str], name: str, colors: Palette) -> list[Spec]:
    """Numbers in a column of their own right of the rows, and what they are called."""
    place = {"xref": "paper", "xanchor": "right", "xshift": leave_room(texts) - 4}
    rows = [write_text(text, 1, i, set_font(colors.text), **place) for i, text in enumerate(texts)]
    return [*([_write_name(name, colors, 1, **place)] if name else []), *rows]
