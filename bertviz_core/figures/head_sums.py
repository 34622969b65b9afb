"""What every head adds to a vector: the two that it is the product of, its share, and how long it is, row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import (
    LETTER,
    Cells,
    Chart,
    Spec,
    give_way,
    make_chart,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.margins import measure_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.taken import mark_rows, set_rows
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_short, write_column
from bertviz_core.formula.steps import ATTENTION, VALUE

_ROW, _HEAD = 16, 54  # pixels
# Of the width that numbers leave:
_RESULTS, _WEIGHTS, _PARTS, _SHARES = (0.0, 0.15), (0.2, 0.38), (0.43, 0.74), (0.78, 1.0)
_PARTS_ALONE, _SHARES_ALONE = (0.0, 0.6), (0.68, 1.0)  # where only these have room
_NAMES = 5  # of columns, which come first among the texts
_BEHIND, _APART = 4, 12  # pixels from bars to the numbers, and between two columns of these
_DRAWN = 4, 8  # of a head's rows of the matrix, and one in so many columns


@dataclass(frozen=True, eq=False)
class HeadSums:
    """What every head, and the bias, add to a vector; row by row: the heads, the bias, the sum.

    results: (head, head_dim) what every head gives; weights: (head, head_dim, hidden) its rows of the output matrix;
    parts: (row, hidden); shares: (row,) how much of the sum each makes up; ends: of the scales of results, weights and
    parts; cells: the addresses of the parts, one a row, with {x} for the component; offered: those of the shares,
    the heads' and the bias's.
    """

    results: np.ndarray
    weights: np.ndarray
    parts: np.ndarray
    shares: np.ndarray
    ends: tuple[float, float, float]
    cells: Cells
    offered: Sequence[str] = ()


def draw_head_sums(shown: HeadSums, rows: Sequence[str], marked: Sequence[int], colors: Palette) -> Chart:
    """What every head gives, times its own rows of the output matrix, is what it adds; the bias, and the sum.

    Lengths and shares have the pixels that they need, bars and strips share what is left; on a phone only what is added
    has strips. Of the weights a few rows and columns are drawn. rows: their names; marked: rows that are lit.
    """
    (heads, dim), (count, hidden) = shown.results.shape, shown.parts.shape
    lengths = write_column(np.linalg.norm(shown.parts.astype(np.float64), axis=1).tolist(), "short")
    shares = write_column(shown.shares.tolist(), "percent")
    first = _BEHIND + _measure("length", lengths)  # from the bars to where the lengths end
    second = first + _APART + _measure("share", shares)
    signs = _write_signs(heads, colors)
    texts = [
        _name_strips("z", f"{dim}", shown.ends[0], _RESULTS, colors.kinds[VALUE], colors),
        _name_strips("W", f"{dim}×{hidden}", shown.ends[1], _WEIGHTS, colors.text, colors),
        _name_strips("adds", f"{hidden}", shown.ends[2], _PARTS, colors.kinds[ATTENTION], colors),
        _name_numbers("length", first, colors),
        _name_numbers("share", second, colors),
        *signs,
        *_write_numbers(lengths, first, colors),
        *_write_numbers(shares, second, colors),
    ]
    return make_chart(
        [
            _draw_vectors("z", shown.results, shown.ends[0], VALUE, "x", colors),
            _draw_weights(shown.weights, shown.ends[1], colors),
            {**_draw_vectors("adds", shown.parts, shown.ends[2], ATTENTION, "x3", colors), "meta": list(shown.cells)},
            _draw_shares(shown, colors),
        ],
        count * _ROW + _HEAD + 4,
        colors,
        top=_HEAD,
        bottom=4,
        right=second + _BEHIND,
        bargap=0.5,
        annotations=texts,
        meta=give_way(_leave_out_factors(len(signs)), (0, 1)),
        shapes=[*mark_rows(count, marked, True, colors), *_draw_tracks(count - 1, colors)],
        yaxis=set_rows(rows, colors),
        **_set_axes(shown, colors),
    )


def _leave_out_factors(signs: int) -> Spec:
    """The layout of a narrow chart: what heads add and its shares, without what that is the product of."""
    names = {"annotations[0].visible": False, "annotations[1].visible": False, "annotations[2].x": _PARTS_ALONE[0]}
    unsigned = {f"annotations[{_NAMES + i}].visible": False for i in range(signs)}
    return {**names, **unsigned, "xaxis3.domain": list(_PARTS_ALONE), "xaxis4.domain": list(_SHARES_ALONE)}


def _measure(name: str, numbers: Sequence[str]) -> int:
    """Pixels that a column of numbers takes, with its name."""
    return math.ceil(max(measure_text(name, 12), LETTER * max(map(len, numbers))))


def _set_axes(shown: HeadSums, colors: Palette) -> Spec:
    """No ticks but those of the shares, which have 0 somewhere between: few, for which a phone has room."""
    plain = {"showticklabels": False, "anchor": "y"}
    low, high = (float(edge(shown.shares[:-1], initial=0.0)) for edge in (np.min, np.max))
    room = 0.04 * ((high - low) or 1.0)
    return {
        "xaxis": set_axis(colors, domain=list(_RESULTS), **plain),
        "xaxis2": set_axis(colors, domain=list(_WEIGHTS), **plain),
        "xaxis3": set_axis(colors, domain=list(_PARTS), **plain),
        "xaxis4": set_axis(
            colors,
            domain=list(_SHARES),
            anchor="y",
            side="top",
            tickangle=0,
            nticks=2,
            zeroline=True,
            zerolinecolor=colors.faint,
            tickformat=".0%",
            range=[low - room, high + room],
        ),
    }


def _draw_vectors(name: str, values: np.ndarray, end: float, kind: str, axis: str, colors: Palette) -> Spec:
    return {
        "type": "heatmap",
        "z": pack(values),
        "zmin": -end,
        "zmax": end,
        "colorscale": colors.shade(kind),
        "ygap": 4,
        "showscale": False,
        "xaxis": axis,
        "name": name,
        "hovertemplate": Rich(f"{escape(name)} of %{{y}}<br>component %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>"),
    }


def _draw_weights(weights: np.ndarray, end: float, colors: Palette) -> Spec:
    """A few of every head's rows, within the row of that head, with a gap to the next head's."""
    count, step = _DRAWN
    heads, dim, _ = weights.shape
    picked = weights[:, :: max(1, dim // count), ::step][:, :count]
    gap = np.full((heads, 1, picked.shape[2]), np.nan)
    height = 1 / (picked.shape[1] + 1)
    return {
        "type": "heatmap",
        "z": pack(np.concatenate([picked, gap], axis=1).reshape(-1, picked.shape[2])),
        "zmin": -end,
        "zmax": end,
        "colorscale": ((0.0, colors.negative), (0.5, colors.zero), (1.0, colors.text)),
        "x0": 0,
        "dx": step,
        "y0": height - 0.5,
        "dy": height,
        "showscale": False,
        "hoverinfo": "skip",
        "xaxis": "x2",
        "name": "W",
    }


def _draw_shares(shown: HeadSums, colors: Palette) -> Spec:
    shares = shown.shares[:-1]
    drawn = {
        "type": "bar",
        "x": pack(shares),
        "y": list(range(len(shares))),
        "orientation": "h",
        "xaxis": "x4",
        "marker": {"color": colors.ink(shares.tolist(), colors.cells[ATTENTION])},
        "name": "share",
        "hovertemplate": Rich("%{y}<br>share of the sum: <b>%{x:.4g}</b><extra></extra>"),
    }
    return {**drawn, "meta": list(shown.offered)} if shown.offered else drawn


def _draw_tracks(rows: int, colors: Palette) -> list[Spec]:
    track = {
        "type": "rect",
        "layer": "below",
        "xref": "x4 domain",
        "x0": 0,
        "x1": 1,
        "fillcolor": colors.zero,
        "line": {"width": 0},
    }
    return [{**track, "y0": row - 0.25, "y1": row + 0.25} for row in range(rows)]


def _name_strips(name: str, about: str, end: float, across: tuple[float, float], ink: str, colors: Palette) -> Spec:
    """What strips are, how many numbers each has, and from where to where their colours go."""
    more = f'<span style="color:{colors.faint}">{escape(about)}<br>±{format_short(end)}</span>'
    named = Rich(f"<b>{escape(name)}</b><br>{more}")
    above = {"yref": "paper", "yanchor": "bottom", "yshift": 2}
    return write_text(
        named, across[0], 1, {"size": 12, "color": ink}, xref="paper", xanchor="left", align="left", **above
    )


def _name_numbers(name: str, behind: int, colors: Palette) -> Spec:
    """behind: pixels from the bars to where they end."""
    font = {"size": 12, "color": colors.faint}
    above = {"yref": "paper", "yanchor": "bottom", "yshift": 2}
    return write_text(name, 1, 1, font, xref="paper", xanchor="right", xshift=behind, **above)


def _write_signs(heads: int, colors: Palette) -> list[Spec]:
    """z times W is what the head adds."""
    font = set_font(colors.faint)
    return [
        write_text(sign, x, row, font, xref="paper")
        for row in range(heads)
        for sign, x in (("·", (_RESULTS[1] + _WEIGHTS[0]) / 2), ("=", (_WEIGHTS[1] + _PARTS[0]) / 2))
    ]


def _write_numbers(texts: Sequence[str], behind: int, colors: Palette) -> list[Spec]:
    """Under each other, that of the sum bold. behind: pixels from the bars to where they end."""
    last = len(texts) - 1
    font, place = set_font(colors.text), {"xref": "paper", "xanchor": "right", "xshift": behind}
    return [write_text(bold(text) if row == last else text, 1, row, font, **place) for row, text in enumerate(texts)]
