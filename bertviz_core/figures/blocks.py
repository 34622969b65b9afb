"""Queries, keys and values of all tokens side by side, and one of their numbers as the sum that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.base import (
    Chart,
    Spec,
    give_way,
    make_chart,
    make_outline,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.heatmap import make_color_bar, write_end
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_number

_ROWS = {16: 16, 24: 14, 10**6: 9}  # pixels of a row, up to that many rows
_NAMES = 24  # of rows, at most, that are printed
_GAP = 0.035  # between two blocks, of the width
_TOP, _BOTTOM = 26, 47
_FEW = 10  # components of a block that a phone has room for
_BAR, _BAR_ENDS = 23, 29  # pixels below the blocks: their colour bars, and the ends of these
_SIDES = (0.14, 0.66)  # of a sum's components: beyond these a line has room at one side, also on a phone
_STRIPS = {"yaxis": (0.0, 0.52), "yaxis2": (0.58, 0.76), "yaxis3": (0.82, 1.0)}  # the products, the weights, the input


@dataclass(frozen=True, eq=False)
class Block:
    """One of the maps that line up: its name, its colour's kind, (token, component) numbers, the cells it offers."""

    name: str
    kind: str
    values: np.ndarray
    cells: str


def draw_blocks(
    blocks: Sequence[Block],
    words: Sequence[str],
    start: int,
    colors: Palette,
    *,
    end: float,
    at: tuple[int, str, int],
) -> Chart:
    """Blocks of numbers from -end to end on the same rows, whose words stand once.

    words: of the tokens; start: the first one's position; at: the chosen token, framed in all blocks, and one number of
    it, by the block's kind and the component.
    """
    width = (1 - _GAP * (len(blocks) - 1)) / len(blocks)
    lefts = [i * (width + _GAP) for i in range(len(blocks))]
    height = len(words) * next(size for most, size in _ROWS.items() if len(words) <= most)
    axes: dict[str, Any] = {
        f"xaxis{i + 1 if i else ''}": set_axis(colors, domain=[left, left + width], anchor="y", showticklabels=False)
        for i, left in enumerate(lefts)
    }
    rows = set_axis(colors, autorange="reversed", **_name_rows(words, at[0] - start, start))
    return make_chart(
        [_make_block(block, i, start, (lefts[i], width), end, colors) for i, block in enumerate(blocks)],
        _TOP + height + _BOTTOM,
        colors,
        top=_TOP,
        bottom=_BOTTOM,
        right=20,
        **axes,
        yaxis=rows,
        meta=give_way(_show_few([block.kind for block in blocks], at, blocks[0].values.shape[1])),
        annotations=[
            text
            for left, block in zip(lefts, blocks, strict=True)
            for text in (_name_block(block, left, colors), *_name_ends(block, (left, width), end, colors))
        ],
        shapes=[shape for i, block in enumerate(blocks) for shape in _frame(block, i, at, colors)],
    )


def _name_rows(words: Sequence[str], chosen: int, start: int) -> Spec:
    """Every row's word, or every second one's and so on where rows are many, the chosen one's among them."""
    every = -(-len(words) // _NAMES) or 1
    shown = range(chosen % every, len(words), every)
    return {"tickmode": "array", "tickvals": [start + i for i in shown], "ticktext": [words[i] for i in shown]}


def _show_few(kinds: Sequence[str], at: tuple[int, str, int], width: int) -> Spec:
    """On a phone: of each block the components around one, wide enough to be touched. Each has five texts: its name,
    which gives way to the formulas above, both ends of what is drawn, and those of the colour bar; and a frame around a
    row, in one block followed by a ring. at: as in `draw_blocks`."""
    shown = center_range(at[2], _FEW, width)
    first, last = shown[0], shown[-1]
    layout: Spec = {}
    for i in range(len(kinds)):
        layout[f"xaxis{i + 1 if i else ''}.range"] = [first - 0.5, last + 0.5]
        frame = i + (at[1] in kinds[:i])
        layout |= {f"shapes[{frame}].x0": first - 0.5, f"shapes[{frame}].x1": last + 0.5}
        layout[f"annotations[{5 * i}].yshift"] = 0
        if len(shown) == width:
            continue
        layout[f"annotations[{5 * i + 1}].text"] = f"{first}–{last} of {width}"
        layout[f"annotations[{5 * i + 2}].text"] = ""
    return layout


def _make_block(block: Block, i: int, start: int, across: tuple[float, float], end: float, colors: Palette) -> Spec:
    return {
        "type": "heatmap",
        "z": pack(block.values),
        "x0": 0,
        "dx": 1,
        "y0": start,
        "dy": 1,
        "zmin": -end,
        "zmax": end,
        "colorscale": colors.shade(block.kind),
        "colorbar": _make_scale(block, across, end, colors),
        "xgap": 1,
        "ygap": 1,
        "name": block.name,
        "xaxis": f"x{i + 1 if i else ''}",
        "meta": block.cells,
        "hovertemplate": Rich(
            f"{escape(block.name)}, token %{{y}}<br>component %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"
        ),
    }


def _make_scale(block: Block, across: tuple[float, float], end: float, colors: Palette) -> Spec:
    """The colour bar below its block and as wide; `_name_ends` names its ends."""
    left, width = across
    return make_color_bar(block.values, -end, end, colors) | {
        "x": left + width / 2,
        "xanchor": "center",
        "lenmode": "fraction",
        "len": width,
        "yref": "paper",
        "y": 0,
        "ypad": _BAR,
        "showticklabels": False,
    }


def _name_ends(block: Block, across: tuple[float, float], end: float, colors: Palette) -> list[Spec]:
    """The first and the last component, and the ends of the colour bar, within the block: beside it is the next one's.

    An end that numbers go beyond says so.
    """
    (left, width), last = across, block.values.shape[1] - 1
    low = f"{'≤' * bool(block.values.min(initial=0) < -end)}{write_end(-end)}"
    high = f"{'≥' * bool(block.values.max(initial=0) > end)}{write_end(end)}"
    font, below = set_font(colors.text), {"xref": "paper", "yref": "paper", "yanchor": "top"}
    return [
        write_text(text, left + part * width, 0, font, **below, xanchor=side, yshift=y)
        for y, texts in ((0, ("0", str(last))), (-_BAR_ENDS, (low, high)))
        for text, part, side in zip(texts, (0, 1), ("left", "right"), strict=True)
    ]


def _name_block(block: Block, left: float, colors: Palette) -> Spec:
    font = {"size": 14, "color": colors.kinds[block.kind]}
    return write_text(
        bold(block.name), left, 1, font, xref="paper", yref="paper", xanchor="left", yanchor="bottom", yshift=4
    )


def _frame(block: Block, i: int, at: tuple[int, str, int], colors: Palette) -> list[Spec]:
    """The chosen token's row, and in one block its ringed number."""
    token, kind, component = at
    axis = f"x{i + 1 if i else ''}"
    row = (token - 0.5, token + 0.5)
    shapes = [make_outline((-0.5, block.values.shape[1] - 0.5), row, colors, xref=axis)]
    shapes[0]["line"]["color"] = colors.kinds[block.kind]
    if kind == block.kind:
        shapes.append(make_outline((component - 0.5, component + 0.5), row, colors, 2.5, xref=axis))
    return shapes


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum of products: (component,) what comes in, the weights, and the cells of both; start: the first index.

    ends: of the scales of the two.
    """

    x: np.ndarray
    weights: np.ndarray
    cells: tuple[str, str]
    ends: tuple[float, float]
    start: int

    @property
    def products(self) -> np.ndarray:
        """(component,) in double precision."""
        return self.x.astype(np.float64) * self.weights.astype(np.float64)


def draw_terms(shown: Terms, names: tuple[str, str, str], colors: Palette, kind: str) -> Chart:
    """What comes in above the weights that it is multiplied with, and the products below, component by component.

    names: of the three rows. The largest product is marked, with its number.
    """
    products = shown.products
    best = int(np.abs(products).argmax())
    place = shown.start + best
    return make_chart(
        [*_draw_factors(shown, names, colors, kind), _draw_products(shown, names[2], colors, kind)],
        170,
        colors,
        bottom=30,
        right=12,
        left=44,
        bargap=0,
        **_set_strips(products, colors),
        xaxis=set_axis(colors, range=[shown.start - 1, shown.start + len(products)]),
        shapes=[make_outline((place - 0.5, place + 0.5), (0, 1), colors, yref="paper")],
        annotations=[_tell_product(shown, best, colors), *_name_strips(names, colors)],
    )


def _set_strips(products: np.ndarray, colors: Palette) -> dict[str, Any]:
    """The three rows' axes, of which that of the products is as long to both sides of 0."""
    limit = 1.15 * float(np.abs(products).max(initial=0.0)) or 1.0
    axes = {name: set_axis(colors, domain=list(part), showticklabels=False) for name, part in _STRIPS.items()}
    axes["yaxis"] |= {"range": [-limit, limit], "zeroline": True}
    return axes


def _name_strips(names: tuple[str, str, str], colors: Palette) -> list[Spec]:
    """The rows' names at their left, from top to bottom."""
    font, place = {"size": 12, "color": colors.text}, {"xanchor": "right", "yanchor": "middle", "xshift": -6}
    return [
        write_text(name, 0, sum(_STRIPS[axis]) / 2, font, xref="paper", yref="paper", **place)
        for name, axis in zip(names, ("yaxis3", "yaxis2", "yaxis"), strict=True)
    ]


def _tell_product(shown: Terms, i: int, colors: Palette) -> Spec:
    """One product as it is worked out, at the side of its bar where there is room for it, else on both."""
    numbers = (float(shown.x[i]), float(shown.weights[i]), float(shown.products[i]))
    place, part = shown.start + i, i / len(shown.x)
    side = "left" if part < _SIDES[0] else "right" if part > _SIDES[1] else "center"
    return write_text(
        Rich("{}: {} · {} = <b>{}</b>".format(place, *map(format_number, numbers))),
        place,
        0.0,
        set_font(colors.text),
        yref="paper",
        yanchor="bottom",
        xanchor=side,
        xshift={"left": 3, "center": round(40 - 100 * part), "right": -3}[side],
        bgcolor=colors.surface,
    )


def _draw_products(shown: Terms, name: str, colors: Palette, kind: str) -> Spec:
    products = shown.products
    return {
        "type": "bar",
        "x": list(range(shown.start, shown.start + len(products))),
        "y": pack(products),
        "marker": {"color": colors.ink(products, colors.cells[kind])},
        "hovertemplate": Rich(f"{escape(name)} %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }


def _draw_factors(shown: Terms, names: Sequence[str], colors: Palette, kind: str) -> list[Spec]:
    """What comes in, and the weights below it."""
    rows = zip((shown.x, shown.weights), shown.ends, ("y3", "y2"), shown.cells, names, strict=False)
    return [
        {
            "type": "heatmap",
            "z": pack(values[None]),
            "x0": shown.start,
            "dx": 1,
            "zmin": -end,
            "zmax": end,
            "colorscale": colors.shade(kind),
            "showscale": False,
            "yaxis": axis,
            "meta": cell,
            "hovertemplate": Rich(f"{escape(name)} %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"),
        }
        for values, end, axis, cell, name in rows
    ]
