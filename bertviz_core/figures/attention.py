"""Sums as they grow: a dot product term by term, and a softmax's denominator token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.figures.bars import BAR_HEIGHT
from bertviz_core.figures.base import (
    BAR_GAP,
    Chart,
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
    end, places = float(running[-1]), list(range(len(names)))  # by name, two of the same name would be one
    said = write_text(
        f"sum {format_number(end)}",
        len(names) - 1,
        end,
        set_font(colors.text),
        xanchor="right",
        yshift=14 if end >= 0 else -14,
        bgcolor=colors.surface,
        opacity=0.9,
    )
    if total is not None:  # above the chart: at the end of the line it would be taken for the sum
        text = f"{len(terms)} of {total[1]:,} terms: {format_number(end)}; all: {format_number(total[0])}"
        said = write_text(
            text, 0, 1, set_font(colors.text), xref="paper", yref="paper", xanchor="left", yanchor="bottom"
        )
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
            {
                "type": "scatter",
                "x": places,
                "y": pack(running),
                "mode": "lines+markers",
                "marker": {"size": 4},
                "line": {"color": colors.text, "width": 1.5, "shape": "hv"},
                "customdata": list(names),
                "hovertemplate": Rich("with %{customdata}<br>sum so far: <b>%{y:.4g}</b><extra></extra>"),
            },
        ],
        340,
        colors,
        right=16,
        top=24,
        bargap=0.2,
        xaxis=set_axis(colors, title, **name_ticks(names, _TICKS)),
        yaxis=set_axis(colors, grid=True),
        annotations=[said],
    )


def draw_denominator(powers: np.ndarray, running: np.ndarray, words: Sequence[str], colors: Palette) -> Chart:
    """Exponentials laid end to end, one row a token, and as a line the denominator as it grows."""
    rows, texts = list(range(len(powers))), [format_number(float(power)) for power in powers]
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
                "text": texts,
                "textposition": "outside",
                "cliponaxis": False,
                "textfont": set_font(colors.text),
                "hovertemplate": Rich("%{customdata}<br>e^(S − max): <b>%{text}</b><extra></extra>"),
            },
            {
                "type": "scatter",
                "x": pack(running),
                "y": rows,
                "mode": "lines+markers",
                "marker": {"size": 4},
                "line": {"color": colors.text, "width": 1, "shape": "vh"},
                "customdata": list(words),
                "hovertemplate": Rich("with %{customdata}<br>denominator so far: <b>%{x:.4g}</b><extra></extra>"),
            },
        ],
        len(rows) * BAR_HEIGHT + 70,
        colors,
        right=leave_room(texts),
        bargap=BAR_GAP,
        shapes=make_tracks(len(rows), colors),
        xaxis=set_axis(colors, "sum of the exponentials so far", grid=True, range=[0, 1.02 * float(running[-1])]),
        yaxis=name_rows(words, colors),
    )
