"""A token's neurons: where they stand on the activation's curve, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_chart, name_rows, pack, set_axis, set_font, write_text
from bertviz_core.figures.heatmap import KEY_HEIGHT, make_color_bar
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import FFN

_LARGEST = 24  # pixels across the largest circle
_RING = 11  # and a ring
_LEFT = 4.0  # pre-activations further below 0 than this are not drawn if they are few: there the curve is flat
_FEW = 0.15
_ROW, _NUMBERS = 22, 62  # pixels of a strip, and for the numbers at its right


def draw_neurons(
    curve: tuple[np.ndarray, np.ndarray],
    before: np.ndarray,
    after: np.ndarray,
    lengths: np.ndarray,
    named: Sequence[int],
    colors: Palette,
    function: str,
    ghosts: np.ndarray | None = None,
) -> Chart:
    """The activation function as a curve (x, y) with a token's neurons on it.

    before, after, lengths: (neuron,) pre-activation, activation, and the length of the vector that is written, which is
    the area of a circle; named: neurons to write beside their circles; function: the curve's name; ghosts: (2, named)
    where the named ones stood before a change, as rings. Only the circles offer cells.
    """
    rings = [] if ghosts is None else [_draw_rings(ghosts[0], ghosts[1], colors)]
    low, high = _find_ends(before if ghosts is None else np.append(before, ghosts[0]))
    cut = int((before < low).sum())
    sizes = _LARGEST * np.sqrt(lengths / (lengths.max(initial=0.0) or 1.0))
    top = max(float(after.max(initial=0.0)), 1.0, *(() if ghosts is None else ghosts[1].tolist())) * 1.12
    texts = _name_circles(before, after, _join_near(named, after, 0.06 * top), sizes, colors)
    if cut:
        texts.append(_tell_cut(cut, float(before.min()), low, colors))
    above = {"yref": "paper", "xanchor": "right", "yanchor": "bottom", "xshift": -4}
    return make_chart(
        [_draw_function(curve, function, colors), *rings, _draw_circles(before, after, sizes, colors)],
        286,
        colors,
        right=12,
        top=20,
        bottom=36,
        picked_from=1 + len(rings),
        annotations=[*texts, write_text("activation", 0, 1, {"size": 12, "color": colors.faint}, **above)],
        xaxis=set_axis(colors, "pre-activation", grid=True, range=[low, high]),
        yaxis=set_axis(colors, grid=True, range=[min(-0.35, 1.05 * float(after.min(initial=0.0))), top]),
    )


def _name_circles(
    before: np.ndarray, after: np.ndarray, groups: Iterable[Sequence[int]], sizes: np.ndarray, colors: Palette
) -> list[Spec]:
    """The numbers of neurons beside their circles, of those that lie close together in one text."""
    return [
        write_text(
            bold(", ".join(map(str, near))),
            float(before[near[0]]),
            float(after[near[0]]),
            set_font(colors.text),
            xanchor="right",
            xshift=-float(sizes[near[0]]) / 2 - 5,
        )
        for near in groups
    ]


def _tell_cut(count: int, least: float, edge: float, colors: Palette) -> Spec:
    """How many circles lie outside, and how far, at the edge behind which they do."""
    text = f"◂ {count:,} to {format_short(least)}"
    return write_text(text, edge, 0.0, set_font(colors.faint), xanchor="left", yanchor="bottom", yshift=8)


def _draw_function(curve: tuple[np.ndarray, np.ndarray], name: str, colors: Palette) -> Spec:
    return {
        "type": "scatter",
        "x": pack(curve[0]),
        "y": pack(curve[1]),
        "mode": "lines",
        "name": name,
        "line": {"color": colors.faint, "width": 1.5},
        "hoverinfo": "skip",
    }


def _draw_circles(before: np.ndarray, after: np.ndarray, sizes: np.ndarray, colors: Palette) -> Spec:
    said = Rich("neuron %{pointNumber}<br>%{x:.4g} becomes <b>%{y:.4g}</b><extra></extra>")
    return {
        "type": "scatter",
        "x": pack(before),
        "y": pack(after),
        "mode": "markers",
        "name": "this token",
        "marker": {
            "color": colors.cells[FFN],
            "size": pack(np.maximum(sizes, 2.5)),
            "opacity": 0.55,
            "line": {"color": colors.surface, "width": 0.5},
        },
        "hovertemplate": said,
    }


def _draw_rings(before: np.ndarray, after: np.ndarray, colors: Palette) -> Spec:
    return {
        "type": "scatter",
        "x": pack(before),
        "y": pack(after),
        "mode": "markers",
        "name": "before",
        "marker": {"symbol": "circle-open", "color": colors.cells[FFN], "size": _RING, "line": {"width": 1.5}},
        "hovertemplate": Rich("before: %{x:.4g} becomes <b>%{y:.4g}</b><extra></extra>"),
    }


def _join_near(named: Sequence[int], after: np.ndarray, apart: float) -> list[list[int]]:
    """Neurons whose names would run into each other share one text."""
    groups: list[list[int]] = []
    for i in named:
        near = next((group for group in groups if abs(after[group[0]] - after[i]) < apart), None)
        if near is None:
            groups.append([i])
        else:
            near.append(i)
    return groups


def _find_ends(before: np.ndarray) -> tuple[float, float]:
    """Of the scale of pre-activations."""
    low = min(float(before.min(initial=0.0)), -0.5)
    if float((before < -_LEFT).mean()) < _FEW:
        low = max(low, -_LEFT)
    high = max(float(before.max(initial=0.0)), 1.0)
    return low * 1.03, high + 0.06 * (high - low)


def draw_parts(parts: np.ndarray, names: Sequence[str], end: float, colors: Palette) -> Chart:
    """Parts of a sum (part, component) as strips on one scale, their lengths at the right; the last is the sum."""
    count = len(names)
    drawn = {
        "type": "heatmap",
        "z": pack(parts),
        "zmin": -end,
        "zmax": end,
        "colorscale": colors.shade(FFN),
        "ygap": 4,
        "colorbar": {**make_color_bar(parts, -end, end, colors), "x": 0.98},
        "name": "parts",
        "hovertemplate": Rich("%{y}<br>component %{x}<br><b>%{z:.4g}</b><extra></extra>"),
    }
    return make_chart(
        [drawn],
        count * _ROW + KEY_HEIGHT + 22,
        colors,
        right=_NUMBERS,
        top=KEY_HEIGHT,
        bottom=22,
        annotations=_write_lengths(parts, colors),
        yaxis={**name_rows(names, colors), "autorange": False, "range": [count - 0.5, -0.5]},
        xaxis=set_axis(colors, tickangle=0, nticks=5, automargin=False),
    )


def _write_lengths(parts: np.ndarray, colors: Palette) -> list[Spec]:
    """How long each part (part, component) is, at the right of its strip, under their name; that of the sum is bold."""
    texts = [format_short(x) for x in np.linalg.norm(parts.astype(np.float64), axis=1).tolist()]
    texts[-1] = bold(texts[-1])
    font, x = set_font(colors.text), {"xref": "paper", "xanchor": "right", "xshift": _NUMBERS - 4}
    return [
        *(write_text(text, 1, i, font, **x) for i, text in enumerate(texts)),
        write_text(
            "length",
            1,
            1,
            {"size": 12, "color": colors.faint},
            xref="paper",
            yref="paper",
            xanchor="right",
            yanchor="bottom",
            xshift=_NUMBERS - 4,
            yshift=2,
        ),
    ]
