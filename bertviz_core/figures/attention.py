"""Sums as they grow: a dot product term by term, and a softmax's denominator token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bertviz_core.figures.bars import BAR_HEIGHT
from bertviz_core.figures.base import (
    BAR_GAP,
    NUMBER_SHIFT,
    Chart,
    Spec,
    leave_room,
    make_chart,
    make_tracks,
    name_rows,
    name_ticks,
    pack,
    set_axis,
    set_font,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number

_TICKS = 32  # words below bars: more would run into each other


def draw_products(
    names: Sequence[str],
    terms: np.ndarray,
    running: np.ndarray,
    colors: Palette,
    *,
    color: str,
    title: str,
    total: tuple[float, int] | None = None,
) -> Chart:
    """The terms of a sum as bars in the given order, and the sum so far as a line. title: of the axis of names;
    total: the sum of all terms and how many they are, where only some are drawn."""
    places = list(range(len(names)))  # by name, two of the same name would be one
    line = {"color": colors.text, "width": 1.5, "shape": "hv"}
    hover = Rich("with %{customdata}<br>sum so far: <b>%{y:.4g}</b><extra></extra>")
    return make_chart(
        [
            {
                "type": "bar",
                "x": places,
                "y": pack(terms),
                "customdata": list(names),
                "marker": {"color": colors.ink(terms, color)},
                "hovertemplate": Rich("%{customdata}<br>term: <b>%{y:.4g}</b><extra></extra>"),
            },
            _draw_growth((places, pack(running)), names, line, hover),
        ],
        340,
        colors,
        right=16,
        top=24,
        bargap=0.2,
        xaxis=set_axis(colors, title, **name_ticks(names, _TICKS)),
        yaxis=set_axis(colors, grid=True),
        annotations=[_tell_sum(running, colors) if total is None else _tell_part(running, total, colors)],
    )


def _tell_sum(running: np.ndarray, colors: Palette) -> Spec:
    """The sum, at the end of its line."""
    end = float(running[-1])
    return write_text(
        f"sum {format_number(end)}",
        len(running) - 1,
        end,
        set_font(colors.text),
        xanchor="right",
        yshift=14 if end >= 0 else -14,
        bgcolor=colors.surface,
        opacity=0.9,
    )


def _tell_part(running: np.ndarray, total: tuple[float, int], colors: Palette) -> Spec:
    """What the drawn terms sum to, and all, above the chart: at the end of the line it would be taken for the sum."""
    whole, count = total
    text = f"{len(running)} of {count:,} terms: {format_number(float(running[-1]))}; all: {format_number(whole)}"
    above = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return write_text(text, 0, 1, set_font(colors.text), **above)


def _draw_growth(points: tuple[Any, Any], names: Sequence[str], line: Spec, hover: str) -> Spec:
    """A sum as it grows, a point a term. points: along the two axes; names: of the terms."""
    x, y = points
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "marker": {"size": 4},
        "line": line,
        "customdata": list(names),
        "hovertemplate": hover,
    }


def draw_denominator(powers: np.ndarray, running: np.ndarray, words: Sequence[str], colors: Palette) -> Chart:
    """Exponentials laid end to end, one row a token, and as a line the denominator as it grows."""
    rows, texts = list(range(len(powers))), [format_number(float(power)) for power in powers]
    line = {"color": colors.text, "width": 1, "shape": "vh"}
    hover = Rich("with %{customdata}<br>denominator so far: <b>%{x:.4g}</b><extra></extra>")
    return make_chart(
        [
            {
                "type": "bar",
                "x": pack(powers),
                "base": pack(running - powers).tolist(),
                "y": rows,
                "orientation": "h",
                "marker": {"color": colors.kinds["attention"]},
                "customdata": list(words),
                "hovertext": texts,
                "hovertemplate": Rich("%{customdata}<br>e^(S − max): <b>%{hovertext}</b><extra></extra>"),
            },
            _draw_growth((pack(running), rows), words, line, hover),
        ],
        len(rows) * BAR_HEIGHT + 70,
        colors,
        right=leave_room(texts),
        bargap=BAR_GAP,
        shapes=make_tracks(len(rows), colors),
        annotations=[
            write_text(text, end, row, set_font(colors.text), xanchor="left", xshift=NUMBER_SHIFT)
            for text, end, row in zip(texts, running.tolist(), rows, strict=True)
        ],
        xaxis=set_axis(colors, "sum of the exponentials so far", grid=True, range=[0, 1.02 * float(running[-1])]),
        yaxis=name_rows(words, colors),
    )
