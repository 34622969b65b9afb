"""A token's neurons: where they stand on the activation's curve, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import FFN

_LARGEST, _BINS = 24, 30  # pixels across the largest circle; bars of the histogram
_LEFT = 3.0  # pre-activations further below 0 than this are not drawn if they are few: there the curve is flat
_FEW = 0.15
_ROW = 26  # pixels of a strip


def draw_neurons(
    curve: tuple[np.ndarray, np.ndarray],
    before: np.ndarray,
    after: np.ndarray,
    lengths: np.ndarray,
    named: Sequence[int],
    colors: Palette,
    color: str,
    function: str,
) -> Chart:
    """The activation function as a curve (x, y) with a token's neurons on it, and how many neurons stand where.

    before, after, lengths: (neuron,) pre-activation, activation, and the length of the vector that is written, which is
    the area of a circle; named: neurons to write beside their circles; function: the curve's name. Only the circles
    offer cells.
    """
    low, high = _find_ends(before)
    edges = _find_edges(low, high)
    cut = int((before < edges[0]).sum())
    sizes = _LARGEST * np.sqrt(lengths / (lengths.max(initial=0.0) or 1.0))
    top = max(float(after.max(initial=0.0)), 1.0) * 1.12
    texts = [
        write_text(bold(", ".join(map(str, near))), float(before[near[0]]), float(after[near[0]]),
                   set_font(colors.text), xanchor="right", xshift=-float(sizes[near[0]]) / 2 - 5)
        for near in _join_near(named, after, 0.06 * top)
    ]  # fmt: skip
    if cut:
        texts.append(write_text(f"◂ {cut:,} to {format_short(float(before.min()))}", low, 0.0,
                                set_font(colors.faint), xanchor="left", yanchor="bottom", yshift=8))  # fmt: skip
    return make_chart(
        [
            _draw_counts(before, edges, color, colors),
            {"type": "scatter", "x": pack(curve[0]), "y": pack(curve[1]), "mode": "lines", "name": function,
             "line": {"color": colors.text, "width": 1.5}, "hoverinfo": "skip"},
            _draw_circles(before, after, sizes, color, colors),
        ],
        400, colors, right=12, top=12, bottom=36, picked_from=2, annotations=texts, bargap=0,
        shapes=[{"type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": 0, "y0": 0, "y1": 1,
                 "fillcolor": colors.line, "opacity": 0.3, "line": {"width": 0}, "layer": "below"}],
        xaxis=set_axis(colors, "pre-activation", range=[low, high]),
        yaxis=set_axis(colors, "activation", grid=True, range=[min(-0.35, 1.05 * float(after.min(initial=0.0))), top],
                       domain=[0.4, 1]),
        yaxis2=set_axis(colors, "neurons", domain=[0, 0.27], nticks=3),
    )  # fmt: skip


def _draw_counts(before: np.ndarray, edges: np.ndarray, color: str, colors: Palette) -> Spec:
    """How many neurons stand between the edges, as bars."""
    counts, _ = np.histogram(before, edges)
    middles = (edges[:-1] + edges[1:]) / 2
    return {"type": "bar", "x": pack(middles), "y": pack(counts), "width": float(edges[1] - edges[0]), "yaxis": "y2",
            "marker": {"color": colors.ink(middles.tolist(), color), "opacity": 0.6},
            "hovertemplate": Rich("%{y:,.0f} neurons<extra></extra>")}  # fmt: skip


def _draw_circles(before: np.ndarray, after: np.ndarray, sizes: np.ndarray, color: str, colors: Palette) -> Spec:
    said = Rich("neuron %{pointNumber}<br>%{x:.4g} becomes <b>%{y:.4g}</b><extra></extra>")
    return {"type": "scatter", "x": pack(before), "y": pack(after), "mode": "markers", "name": "this token",
            "marker": {"color": color, "size": pack(np.maximum(sizes, 2.5)), "opacity": 0.55,
                       "line": {"color": colors.surface, "width": 0.5}}, "hovertemplate": said}  # fmt: skip


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


def _find_edges(low: float, high: float) -> np.ndarray:
    """The edges of the histogram's bars, one of them at 0."""
    width = (high - low) / _BINS
    return width * np.arange(int(np.ceil(low / width)), int(np.floor(high / width)) + 1)


def draw_parts(parts: np.ndarray, names: Sequence[str], shares: Sequence[str], end: float, colors: Palette) -> Chart:
    """Parts of a sum (part, component) as strips on one scale, their share of it at the right; the last is the sum."""
    chart = draw_heatmap(parts, Side("", names), Side("component"), colors, FFN, end=end, gaps=False,
                         height=len(names) * _ROW + 96)  # fmt: skip
    count = len(names)
    texts: list[Spec] = [
        write_text(share, 1, i, set_font(colors.text, 13), xref="paper", xanchor="left", xshift=8)
        for i, share in enumerate(shares)
    ]
    rules = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
         "line": {"color": colors.surface, "width": 4 if y < count - 1.5 else 8}}
        for y in np.arange(0.5, count - 1).tolist()
    ]  # fmt: skip
    layout = {**chart.layout, "annotations": texts, "shapes": rules,
              "margin": {**chart.layout["margin"], "r": 72, "t": 36}}  # fmt: skip
    return replace(chart, layout=layout)
