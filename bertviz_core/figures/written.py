"""Who wrote a number: every head's part as a map, the feed-forward blocks' beside it as bars of the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.figures.base import SANS, Chart, Spec, make_chart, name_rows, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import ATTENTION

_ROW, _TOP, _BOTTOM = 28, 26, 22
_HEADS, _SUMS, _BLOCKS = (0.0, 0.58), 0.7, (0.75, 1.0)  # of the width: the map, where its sums end, the bars
_SAID = 0.4  # of the largest head: whose number stands in its cell


def draw_written(heads: np.ndarray, blocks: np.ndarray, cells: Sequence[str], colors: Palette, color: str) -> Chart:
    """(layer, head) and (layer,) amounts on scales of their own. cells: the address of a head, with {x} and {y}, and
    that of a block, with {n}; color: of the blocks."""
    layers, count = heads.shape
    end = float(np.abs(heads).max(initial=0.0)) or 1.0
    texts = [format_short(float(x)) for x in blocks]
    return make_chart(
        [_draw_heads(heads, end, cells[0], colors), _draw_blocks(blocks, texts, cells[1], colors, color)],
        _ROW * layers + _TOP + _BOTTOM,
        colors,
        top=_TOP,
        bottom=_BOTTOM,
        right=58,
        bargap=0.4,
        annotations=[*_write_names(colors), *_write_numbers(heads, end, colors), *_write_sums(heads, texts, colors)],
        yaxis=name_rows([f"layer {i}" for i in range(layers)], colors),
        xaxis=set_axis(colors, domain=list(_HEADS), dtick=1 if count <= 16 else 4, range=[-0.5, count - 0.5]),
        xaxis2=set_axis(
            colors, domain=list(_BLOCKS), anchor="y", showticklabels=False, zeroline=True, zerolinecolor=colors.faint
        ),
    )


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
        "xaxis": "x2",
        "marker": {"color": colors.ink(blocks.tolist(), color)},
        "text": list(texts),
        "textposition": "none",
        "customdata": [f"layer {i}, feed-forward" for i in range(len(blocks))],
        "meta": cells,
        "hovertemplate": Rich("%{customdata}<br><b>%{text}</b><extra></extra>"),
    }


def _write_names(colors: Palette) -> list[Spec]:
    font = {"family": SANS, "size": 12, "color": colors.faint}
    place = {"xref": "paper", "yref": "paper", "yanchor": "bottom", "yshift": 2}
    return [
        write_text("heads", 0, 1, font, xanchor="left", **place),
        write_text("sum", _SUMS, 1, font, xanchor="right", **place),
        write_text("feed-forward", _BLOCKS[0], 1, font, xanchor="left", **place),
    ]


def _write_numbers(heads: np.ndarray, end: float, colors: Palette) -> list[Spec]:
    """The numbers of the largest heads, in their cells."""
    return [
        write_text(
            f"{x:.1f}".replace("-", "\N{MINUS SIGN}"), head, layer, set_font(tint_cell(x / end, ATTENTION, colors).ink)
        )
        for (layer, head), x in np.ndenumerate(heads)
        if abs(x) >= _SAID * end and heads.shape[1] <= 16
    ]


def _write_sums(heads: np.ndarray, texts: Sequence[str], colors: Palette) -> list[Spec]:
    place, font = {"xref": "paper", "xanchor": "right"}, set_font(colors.text)
    sums = [format_short(float(x)) for x in heads.sum(axis=1)]
    return [
        *(write_text(text, _SUMS, i, font, **place) for i, text in enumerate(sums)),
        *(write_text(text, 1, i, font, xshift=54, **place) for i, text in enumerate(texts)),
    ]
