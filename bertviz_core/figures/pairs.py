"""Two probabilities for each word, side by side: told apart by fill, not by colour alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import Chart, make_chart, name_rows, pack, set_axis, set_font, set_legend
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_number

_ROW_HEIGHT = 40


def draw_pairs(series: Mapping[str, np.ndarray], words: Sequence[str], colors: Palette, color: str) -> Chart:
    """Two bars a word from 0 to 1, the first series hollow, the second filled; words from top to bottom."""
    rows = list(range(len(words)))
    fills = ({"color": colors.surface, "line": {"color": color, "width": 1.5}}, {"color": color})
    return make_chart(
        [
            {
                "type": "bar",
                "x": pack(values),
                "y": rows,
                "orientation": "h",
                "name": name,
                "marker": fill,
                "text": [format_number(float(x)) for x in values],
                "textposition": "outside",
                "cliponaxis": False,
                "customdata": list(words),
                "textfont": set_font(colors.text, 11),
                "hovertemplate": Rich(f"{escape(name)}, %{{customdata}}<br><b>%{{text}}</b><extra></extra>"),
            }
            for (name, values), fill in zip(series.items(), fills, strict=True)
        ],
        len(rows) * _ROW_HEIGHT + 110,
        colors,
        right=52,
        bargap=0.25,
        barmode="group",
        showlegend=True,
        legend=set_legend(y=1.0),
        yaxis=name_rows(words, colors),
        xaxis=set_axis(colors, "attention weight", grid=True, range=[0, 1]),
    )
