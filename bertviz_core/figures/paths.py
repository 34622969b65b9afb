"""Vectors on their way through the layers: one path a token, in two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.figures.base import MONOSPACE, Chart, Spec, make_chart, pack, set_axis, set_font
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape, escape_in_space

_HEIGHT = 520
_NARROW = np.array([190.0, 400.0])  # pixels that the points are spread over on a phone
_EDGE = 25  # and how far a text may stand out beyond the outermost point
_FONT = 12
_PLACES = ("top center", "bottom center", "middle right", "middle left")
_EYE = (1.6, 1.6, 1.2)  # x, y, z: far enough off for the axes' names to be seen


def draw_paths(
    points: np.ndarray,
    tokens: Sequence[str],
    stages: Sequence[str],
    titles: Sequence[str],
    colors: Palette,
    color: str,
    *,
    chosen: int,
    at: int,
) -> Chart:
    """Points (stage, token, component) as one line a token; two components make a flat chart, three a solid one.

    titles: the axes' names; chosen: the token whose path stands out, with its stages named; at: the stage at which all
    tokens are named.
    """
    others = [i for i in range(len(tokens)) if i != chosen]
    names = [tokens[i] for i in others]
    way = [f"{tokens[chosen]}, {stage}" if i == at else stage for i, stage in enumerate(stages)]
    places = _find_places(np.concatenate([points[:, chosen], points[at, others]]), [*way, *names], at)
    return make_chart(
        [
            _draw_lines(points[:, others], names, stages, colors.faint),
            _draw_names(points[at, others], names, places[len(way) :], stages[at], colors),
            _draw_way(points[:, chosen], tokens[chosen], way, places, stages, at, color),
        ],
        _HEIGHT,
        colors,
        right=24,
        top=24,
        **_set_axes(titles, points.shape[-1], colors),
    )


def _set_axes(titles: Sequence[str], components: int, colors: Palette) -> Spec:
    """Two axes of one scale, or the three of a solid scene."""
    if components == 3:
        x, y, z = (_set_solid_axis(colors, title) for title in titles)
        camera = {"eye": dict(zip("xyz", _EYE, strict=True))}
        return {
            "scene": {"xaxis": x, "yaxis": y, "zaxis": z, "aspectmode": "data", "dragmode": "orbit", "camera": camera}
        }
    return {
        "xaxis": set_axis(colors, titles[0], grid=True, constrain="domain"),
        "yaxis": set_axis(colors, titles[1], grid=True, scaleanchor="x"),
    }


def _make_scatter(points: np.ndarray, **settings: object) -> Spec:
    """Points (point, component) as a flat or solid scatter."""
    places = dict(zip("xyz", map(pack, points.T), strict=False))
    kind = "scatter3d" if len(places) == 3 else "scatter"
    return {"type": kind, **places, **settings, "hovertemplate": Rich("%{customdata}<extra></extra>")}


def _draw_lines(points: np.ndarray, tokens: Sequence[str], stages: Sequence[str], color: str) -> Spec:
    """All paths as one drawing, with a gap after each."""
    gap = np.full((1, *points.shape[1:]), np.nan)
    joined = np.concatenate([points, gap]).transpose(1, 0, 2).reshape(-1, points.shape[-1])
    texts = [f"{token}, {stage}" for token in tokens for stage in (*stages, "")]
    return _make_scatter(
        joined,
        mode="lines+markers",
        customdata=texts,
        opacity=0.45,
        line={"color": color, "width": 1},
        marker={"color": color, "size": 3},
    )


def _draw_names(points: np.ndarray, tokens: Sequence[str], places: Sequence[str], stage: str, colors: Palette) -> Spec:
    shown = [token if place else "" for token, place in zip(tokens, places, strict=True)]
    return _make_scatter(
        points,
        mode="markers+text",
        text=shown,
        textposition=[place or _PLACES[0] for place in places],
        textfont=set_font(colors.text, _FONT),
        marker={"color": colors.faint, "size": 6},
        customdata=[f"{token}, {stage}" for token in tokens],
    )


def _draw_way(
    points: np.ndarray,
    token: str,
    texts: Sequence[str],
    places: Sequence[str],
    stages: Sequence[str],
    at: int,
    color: str,
) -> Spec:
    """The chosen token's path, its stages named, the token itself at one of them."""
    sizes = [10 if i == at else 5 for i in range(len(stages))]
    named = zip(texts, places, strict=False)
    draw = escape_in_space if points.shape[1] == 3 else escape
    return _make_scatter(
        points,
        mode="lines+markers+text",
        text=[(bold(text, draw) if i == at else text) if place else "" for i, (text, place) in enumerate(named)],
        textposition=[place or _PLACES[0] for place in places[: len(texts)]],
        line={"color": color, "width": 3},
        marker={"color": color, "size": sizes, "opacity": 1},
        customdata=[f"{token}, {stage}" for stage in stages],
        textfont=set_font(color, _FONT),
    )


def _find_places(points: np.ndarray, texts: Sequence[str], first: int) -> list[str]:
    """Where beside its point each text can stand without running into another; "" where nowhere, not even elsewhere.

    Flat points (point, 2) are laid out for a narrow screen: on a wider one they only move apart. In space everything
    is named, since the view can be turned. first: the text that is placed before all others.
    """
    if points.shape[1] == 3:
        return [_PLACES[0]] * len(texts)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    pixels = (points - low) * (_NARROW / np.maximum(size, 1e-12)).min() * (1, -1)
    taken: list[tuple[float, float, float, float]] = []
    found = [""] * len(texts)
    for i in sorted(range(len(texts)), key=lambda i: i != first):
        for place in _PLACES:
            box = _measure_box(pixels[i], len(texts[i]), place)
            inside = box[0] > -_EDGE and box[2] < _NARROW[0] + _EDGE
            if inside and all(box[0] >= b[2] or b[0] >= box[2] or box[1] >= b[3] or b[1] >= box[3] for b in taken):
                taken.append(box)
                found[i] = place
                break
    return found


def _measure_box(point: np.ndarray, length: int, place: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text beside a point, in pixels."""
    vertical, horizontal = place.split()
    width, height = length * _FONT * 0.62 + 4, _FONT * 1.5
    across = {"left": -width / 2 - 6, "center": 0.0, "right": width / 2 + 6}[horizontal]
    down = {"top": -height / 2 - 4, "middle": 0.0, "bottom": height / 2 + 4}[vertical]
    x, y = point[0] + across, point[1] + down
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _set_solid_axis(colors: Palette, title: str) -> Spec:
    return {
        "title": {"text": title, "font": {"size": 12, "color": colors.faint}},
        "gridcolor": colors.line,
        "zerolinecolor": colors.faint,
        "showbackground": False,
        "tickfont": {"family": MONOSPACE, "size": 11},
    }
