"""Lines: probabilities from stage to stage, and a sum that grows towards 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import (
    MONOSPACE,
    Chart,
    Spec,
    make_chart,
    name_ticks,
    pack,
    set_axis,
    set_font,
    set_legend,
    write_text,
)
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_percent

_DASHES, _MARKERS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
_DRAWN = 400


def draw_shares_by_stage(series: Mapping[str, np.ndarray], stages: Sequence[str], colors: Palette, color: str) -> Chart:
    """Probabilities at every stage, one line a name, told apart by dash and marker; the scale's end is printed."""
    end = min(1.0, 1.25 * max(float(values.max()) for values in series.values()))
    return make_chart(
        [
            {
                "type": "scatter",
                "x": list(range(len(stages))),
                "y": pack(values),
                "mode": "lines+markers",
                "name": name,
                "line": {"color": color, "width": 2, "dash": dash},
                "marker": {"symbol": marker, "size": 8},
                "customdata": list(stages),
                "hovertemplate": Rich(f"{escape(name)}, %{{customdata}}<br><b>%{{y:.4g}}</b><extra></extra>"),
            }
            for (name, values), dash, marker in zip(series.items(), _DASHES, _MARKERS, strict=False)
        ],
        320,
        colors,
        right=16,
        showlegend=True,
        legend=set_legend({"family": MONOSPACE, "size": 12}),
        xaxis=set_axis(colors, "after", grid=True, **name_ticks(stages)),
        yaxis=set_axis(colors, "probability", grid=True, range=[-0.02 * end, 1.02 * end], tickformat=".4~f"),
    )


def draw_growing_sum(shares: np.ndarray, marks: Mapping[float, int], colors: Palette, color: str) -> Chart:
    """A sum's share of its whole after each of its terms, largest first, over a logarithmic count of terms.

    marks: shares to point out, with the number of terms that reach them.
    """
    drawn = np.unique(np.geomspace(1, len(shares), _DRAWN).round().astype(int))
    counts = list(marks.values())
    return make_chart(
        [
            {
                "type": "scatter",
                "x": pack(drawn),
                "y": pack(shares[drawn - 1]),
                "mode": "lines",
                "line": {"color": color, "width": 2, "shape": "hv"},
                "hovertemplate": Rich("the top %{x:,}<br><b>%{y:.4g}</b><extra></extra>"),
            },
            {
                "type": "scatter",
                "x": counts,
                "y": [float(shares[count - 1]) for count in counts],
                "mode": "markers",
                "marker": {"color": color, "size": 9},
                "hoverinfo": "skip",
            },
        ],
        320,
        colors,
        right=24,
        top=24,
        annotations=[_write_mark(share, count, shares, colors) for share, count in marks.items()],
        xaxis=set_axis(colors, "entries by probability (logarithmic)", grid=True, type="log", dtick=1, tickformat=",d"),
        yaxis=set_axis(colors, "cumulative probability", grid=True, range=[0, 1.04]),
    )


def _write_mark(share: float, count: int, shares: np.ndarray, colors: Palette) -> Spec:
    """Above the line there is room for words to its left, below it to its right."""
    late = count > len(shares) ** 0.5
    return write_text(
        f"{format_percent(share)}: {count:,}",
        float(np.log10(count)),
        float(shares[count - 1]),
        set_font(colors.text),
        xanchor="right" if late else "left",
        xshift=-6 if late else 8,
        yshift=10 if late else -12,
    )
