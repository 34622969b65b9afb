"""Vectors on their way through the layers: one path a token, in two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bertviz_core.figures.base import MONOSPACE, axis, figure
from bertviz_core.figures.palette import Palette

_HEIGHT = 520
_EYE = {"x": 1.6, "y": 1.6, "z": 1.2}  # far enough off for the axes' names to be seen


def paths(
    points: np.ndarray,
    tokens: Sequence[str],
    stages: Sequence[str],
    titles: Sequence[str],
    colors: Palette,
    color: str,
    *,
    chosen: int,
    at: int,
) -> go.Figure:
    """Points (stage, token, component) as one line a token; two components make a flat chart, three a solid one.

    titles: the axes' names; chosen: the token whose path stands out, with its stages named; at: the stage at which all
    tokens are named.
    """
    own = np.arange(len(tokens)) == chosen
    chart = figure(
        [
            _lines(points[:, ~own], [t for t, mine in zip(tokens, own, strict=True) if not mine], stages, colors.faint),
            _named(points[at, ~own], [t for t, mine in zip(tokens, own, strict=True) if not mine], stages[at], colors),
            _way(points[:, chosen], tokens[chosen], stages, at, color),
        ],
        _HEIGHT, colors, right=24, top=24,
    )  # fmt: skip
    if points.shape[-1] == 3:
        x, y, z = (_solid_axis(colors, title) for title in titles)
        chart.update_layout(scene={"xaxis": x, "yaxis": y, "zaxis": z, "aspectmode": "data", "dragmode": "orbit",
                                   "camera": {"eye": _EYE}})  # fmt: skip
    else:
        chart.update_xaxes(**axis(colors, titles[0], grid=True), constrain="domain")
        chart.update_yaxes(**axis(colors, titles[1], grid=True), scaleanchor="x")
    return chart


def _scatter(points: np.ndarray, **settings: object) -> go.Scatter | go.Scatter3d:
    """Points (point, component) as a flat or solid scatter."""
    places = dict(zip("xyz", points.astype(np.float32).T, strict=False))
    make = go.Scatter3d if len(places) == 3 else go.Scatter
    return make(**places, **settings, hovertemplate="%{customdata}<extra></extra>")


def _lines(points: np.ndarray, tokens: Sequence[str], stages: Sequence[str], color: str) -> go.Scatter | go.Scatter3d:
    """All paths as one drawing, with a gap after each."""
    gap = np.full((1, *points.shape[1:]), np.nan)
    joined = np.concatenate([points, gap]).transpose(1, 0, 2).reshape(-1, points.shape[-1])
    texts = [f"{token}, {stage}" for token in tokens for stage in (*stages, "")]
    return _scatter(joined, mode="lines+markers", customdata=texts, opacity=0.45,
                    line={"color": color, "width": 1}, marker={"color": color, "size": 3})  # fmt: skip


def _named(points: np.ndarray, tokens: Sequence[str], stage: str, colors: Palette) -> go.Scatter | go.Scatter3d:
    return _scatter(
        points, mode="markers+text", text=tokens, textposition="top center", marker={"color": colors.faint, "size": 6},
        textfont={"family": MONOSPACE, "size": 12, "color": colors.text}, customdata=[f"{t}, {stage}" for t in tokens],
    )  # fmt: skip


def _way(points: np.ndarray, token: str, stages: Sequence[str], at: int, color: str) -> go.Scatter | go.Scatter3d:
    """The chosen token's path, its stages named, the token itself at one of them."""
    texts = [f"<b>{token}, {stage}</b>" if i == at else stage for i, stage in enumerate(stages)]
    sizes = [10 if i == at else 5 for i in range(len(stages))]
    return _scatter(
        points, mode="lines+markers+text", text=texts, textposition="bottom center", line={"color": color, "width": 3},
        marker={"color": color, "size": sizes, "opacity": 1}, customdata=[f"{token}, {stage}" for stage in stages],
        textfont={"family": MONOSPACE, "size": 12, "color": color},
    )  # fmt: skip


def _solid_axis(colors: Palette, title: str) -> dict[str, object]:
    return {
        "title": {"text": title, "font": {"size": 12, "color": colors.faint}}, "gridcolor": colors.line,
        "zerolinecolor": colors.faint, "showbackground": False, "tickfont": {"family": MONOSPACE, "size": 11},
    }  # fmt: skip
