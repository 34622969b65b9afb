"""A training as pictures: its loss step by step, what it did to each word, and the loss along a single weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_chart, pack, set_axis, set_font, set_legend, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, escape
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import shorten

HEIGHT = 222
_LEAST, _MORE, _MOST = 4.0, 1.5, 13.0  # pixels across a dot: of one hidden token, for each further one, of a large one
_FAR = 3.0  # times what nine of ten dots stay below: a dot beyond that is drawn at the edge
_LARGEST = 1e30  # that a scale reaches: beyond, single precision has no numbers
_RING = 8.0  # pixels across
MARKED = 30  # points of a line that are marked one by one
_DASHES = ("solid", "dash", "dot")
_BEYOND = 1.02  # of all steps: where the axis ends
_NAMED, _LETTERS = 92, 6  # pixels at the right for the names of words, and letters of each


def draw_losses(
    losses: np.ndarray,
    hidden: np.ndarray,
    lines: Mapping[str, np.ndarray],
    total: int,
    colors: Palette,
    height: int = HEIGHT,
    printed: np.ndarray | None = None,
    taken: int | None = None,
) -> Chart:
    """The loss of every step as a dot, larger where more tokens were hidden, over all steps that are to come.

    losses, hidden: one a step, the first is step 1; lines: by name, the loss per hidden token, one a step, each with a
    dash of its own, the first one solid; printed: another sum of each step, a ring, NaN where there is none; taken: how
    many steps are taken, where others are known beforehand: these are on grey ground. Only the dots offer cells.
    """
    rings = np.zeros(0) if printed is None else printed
    top = _find_top(losses, {**lines, "printed": rings})
    drawn = [
        _draw_line(name, np.minimum(values, 2 * top), dash, colors)
        for (name, values), dash in zip(lines.items(), _DASHES, strict=False)
    ]
    before = [*drawn, *([_draw_rings(rings, top, colors)] if len(rings) else [])]
    return make_chart(
        [*before, _draw_dots(losses, hidden, top, taken, colors)],
        height,
        colors,
        right=12,
        top=12,
        picked_from=len(before),
        showlegend=len(drawn) > 1,
        legend=set_legend({"size": 12, "color": colors.text}),
        shapes=_mark_ahead(len(losses) if taken is None else taken, total, colors),
        annotations=_name_far(losses, top, colors),
        xaxis=set_axis(colors, "step", range=[0.5 - 0.02 * total, total + 0.5 + 0.02 * total]),
        yaxis=set_axis(colors, "J", grid=True, range=[0, top]),
    )


def _draw_dots(losses: np.ndarray, hidden: np.ndarray, top: float, taken: int | None, colors: Palette) -> Spec:
    """A dot a step, the last one opaque, unless it is still to come; what lies beyond the scale stands at its edge."""
    last = 0 if taken == 0 else min(len(losses), 1)
    return {
        "type": "scatter",
        "x": pack(np.arange(1, len(losses) + 1)),
        "y": pack(np.minimum(losses, 0.97 * top)),
        "mode": "markers",
        "name": "J",
        "marker": {
            "size": pack(np.minimum(_LEAST + _MORE * (hidden - 1), _MOST)),
            "color": colors.kinds["query"],
            "line": {"width": 0},
            "opacity": [0.3] * (len(losses) - last) + [1.0] * last,
        },
        "customdata": [[format_number(float(loss)), int(count)] for loss, count in zip(losses, hidden, strict=True)],
        "hovertemplate": Rich("step %{x}<br>J = <b>%{customdata[0]}</b>, %{customdata[1]} hidden<extra></extra>"),
    }


def _draw_rings(values: np.ndarray, top: float, colors: Palette) -> Spec:
    steps = np.flatnonzero(np.isfinite(values))
    return {
        "type": "scatter",
        "x": pack(steps + 1),
        "y": pack(np.minimum(values[steps], 0.97 * top)),
        "mode": "markers",
        "name": "J as printed",
        "showlegend": False,
        "marker": {"size": _RING, "symbol": "circle-open", "color": colors.kinds["key"]},
        "customdata": [format_number(float(values[i])) for i in steps],
        "hovertemplate": Rich("step %{x}<br>J as printed = <b>%{customdata}</b><extra></extra>"),
    }


def _find_top(losses: np.ndarray, lines: Mapping[str, np.ndarray]) -> float:
    """The end of the scale: all dots fit, unless a few would flatten all others."""
    values = [losses, *lines.values()]
    known = np.concatenate([part[np.isfinite(part)] for part in map(np.asarray, values)] or [np.zeros(0)])
    if not known.size:
        return 1.0
    largest, usual = float(known.max()), float(np.quantile(known, 0.9))
    return min(1.12 * largest if largest <= _FAR * usual else _FAR * usual, _LARGEST) or 1.0


def _draw_line(name: str, values: np.ndarray, dash: str, colors: Palette) -> Spec:
    color = colors.kinds["query" if dash == _DASHES[0] else "key"]
    return {
        "type": "scatter",
        "x": pack(np.arange(1, len(values) + 1)),
        "y": pack(values),
        "mode": "lines",
        "name": name,
        "line": {"color": color, "width": 2, "dash": dash},
        "hovertemplate": Rich(f"step %{{x}}<br>{escape(name)}: <b>%{{y:.4g}}</b><extra></extra>"),
    }


def _mark_ahead(last: int, total: int, colors: Palette) -> list[Spec]:
    """What is still to come, grey, and where the training stands."""
    if last >= total:
        return []
    ahead = {
        "type": "rect",
        "layer": "below",
        "xref": "x",
        "yref": "y domain",
        "x0": last + 0.5,
        "x1": total + 0.5,
        "y0": 0,
        "y1": 1,
        "fillcolor": colors.zero,
        "line": {"width": 0},
    }
    here = {
        "type": "line",
        "xref": "x",
        "yref": "y domain",
        "x0": last + 0.5,
        "x1": last + 0.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": colors.faint, "width": 1},
    }
    return [ahead, here] if last else [ahead]


def _name_far(losses: np.ndarray, top: float, colors: Palette) -> list[Spec]:
    """The number of the largest dot, if it lies beyond the scale."""
    far = int(np.argmax(np.nan_to_num(losses, posinf=np.inf))) if len(losses) else -1
    if far < 0 or losses[far] <= top:
        return []
    side = {"xanchor": "left", "xshift": 12} if far < len(losses) / 2 else {"xanchor": "right", "xshift": -12}
    told = f"↑ {format_number(float(losses[far]))}"
    return [write_text(told, far + 1, 0.97 * top, set_font(colors.text), yanchor="middle", **side)]


def draw_word_rises(
    steps: np.ndarray, shares: np.ndarray, words: Sequence[str], bold: Sequence[int], total: int, colors: Palette,
    height: int = HEIGHT, taken: int | None = None, means: np.ndarray | None = None,
) -> Chart:  # fmt: skip
    """The probability of each word when it alone is hidden, over the steps; some bold and named at the right.

    steps: at which they were asked for, shape (asked,); shares: shape (asked, word), 0 to 1; taken: how many steps are
    taken, where others are known beforehand: these are on grey ground; means: over the last times that the words were
    asked for, of the shape of shares, where their own lines go up and down too often to be followed: these are drawn in
    their place, with a dot where a bold word's own ends.
    """
    drawn, ink = shares if means is None else means, colors.kinds["query"]
    order = [*(i for i in range(len(words)) if i not in bold), *bold]
    lines = [_draw_word(steps, drawn[:, i], words[i], i in bold, colors, mean=means is not None) for i in order]
    if means is not None and len(steps):
        lines.append(_draw_ends(int(steps[-1]), shares[-1, list(bold)], ink))
    top = min(1.02, 1.08 * float(shares.max(initial=0.05)))
    last = taken if taken is not None else int(steps[-1]) if len(steps) else 0
    ends = _place_names(shares, bold, top, height) if len(steps) else {}
    return make_chart(
        lines,
        height,
        colors,
        right=_NAMED if bold else 12,
        top=12,
        shapes=[
            *_mark_ahead(last, total, colors),
            *(_lead_to_name((float(steps[-1]), float(shares[-1, i])), ends[i], total, colors) for i in ends),
        ],
        annotations=[_name_word(words[i], float(shares[-1, i]), ends[i], colors) for i in ends],
        xaxis=set_axis(colors, "step", range=[-0.02 * total, total * _BEYOND], nticks=4, tickangle=0),
        yaxis=set_axis(colors, "P", grid=True, range=[0, top], tickformat=".0%"),
    )


def _draw_word(steps: np.ndarray, shares: np.ndarray, word: str, bold: bool, colors: Palette, *, mean: bool) -> Spec:
    """bold: whether the word stands out; mean: over the last times that it was asked for."""
    line = {"color": colors.kinds["query"], "width": 2.5} if bold else {"color": colors.faint, "width": 1}
    mode = "lines+markers" if bold and len(steps) <= MARKED else "lines"
    when = "mean up to" if mean else "after"
    return {
        "type": "scatter",
        "x": pack(steps),
        "y": pack(shares),
        "mode": mode,
        "line": line,
        "marker": {"size": 4},
        "opacity": 1.0 if bold else 0.35,
        "name": word,
        "hovertemplate": Rich(f"{escape(word)} {when} step %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }


def _draw_ends(step: int, shares: np.ndarray, ink: str) -> Spec:
    """A dot for each bold word where its own line ends, which is what its name tells; its mean ends elsewhere."""
    return {
        "type": "scatter",
        "x": [step] * len(shares),
        "y": pack(shares),
        "mode": "markers",
        "marker": {"size": 7, "color": ink},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _place_names(shares: np.ndarray, bold: Sequence[int], top: float, height: int) -> dict[int, float]:
    """How high the name of each bold word stands at the right: at its line's end, none over another."""
    gap, floor = 16 * top / (height - 70), 0.0
    places: dict[int, float] = {}
    for i in sorted(bold, key=lambda i: float(shares[-1, i])):
        places[i] = max(float(shares[-1, i]), floor)
        floor = places[i] + gap
    over = max(0.0, floor - gap - top)
    return {i: place - over for i, place in places.items()}


def _lead_to_name(end: tuple[float, float], name: float, total: int, colors: Palette) -> Spec:
    """Dots from a line's end to its name. end: the step and the probability there; name: how high it stands."""
    line = {"color": colors.faint, "width": 1, "dash": _DASHES[2]}
    return {"type": "line", "x0": end[0], "y0": end[1], "x1": total * _BEYOND, "y1": name, "line": line}


def _name_word(word: str, share: float, place: float, colors: Palette) -> Spec:
    told = f"{shorten(word, _LETTERS)} {format_percent(share)}"
    look = {"xref": "paper", "xanchor": "left", "yanchor": "middle", "xshift": 4}
    return write_text(told, 1.0, place, set_font(colors.text), **look)


def draw_loss_along(
    weights: np.ndarray, losses: np.ndarray, old: tuple[float, float], new: tuple[float, float], slope: float,
    colors: Palette, height: int = 184,
) -> Chart:  # fmt: skip
    """The loss where a single weight is moved, all others left: before the update and after it.

    old, new: the weight, and the loss along this line there; slope: the gradient, drawn as the line that touches.
    """
    weights, losses = _bound(weights), _bound(losses)
    old, new = ((float(_bound(weight)), float(_bound(loss))) for weight, loss in (old, new))
    return make_chart(
        [
            _draw_tangent(np.array([weights.min(), weights.max()]), old, slope, colors),
            {
                "type": "scatter",
                "x": pack(weights),
                "y": pack(losses),
                "mode": "lines",
                "name": "J",
                "line": {"color": colors.kinds["query"], "width": 2},
                "hovertemplate": Rich("weight %{x:.4g}<br>J = <b>%{y:.4g}</b><extra></extra>"),
            },
            _mark_loss("old", old, colors.surface, colors),
            _mark_loss("new", new, colors.text, colors),
        ],
        height,
        colors,
        right=12,
        annotations=[
            _name("slope = gradient", (0, 0), colors.kinds["key"], colors, xref="paper", yref="paper", xshift=52),
            *(_name(name, place, colors.text, colors) for name, place in (("old", old), ("new", new))),
        ],
        xaxis=set_axis(colors, "this weight", grid=True),
        yaxis=set_axis(colors, "J", grid=True),
    )


def _name(name: str, place: tuple[float, float], ink: str, colors: Palette, **settings: Any) -> Spec:
    """A name above a place, and above the chart's lines."""
    look = {"bgcolor": colors.surface, "borderpad": 1, "yanchor": "bottom", "yshift": 7}
    return write_text(name, *place, {"size": 12, "color": ink}, **look, **settings)


def _bound(values: np.ndarray | float) -> np.ndarray:
    """Numbers no farther from 0 than single precision can draw."""
    return np.clip(values, -_LARGEST, _LARGEST)


def _draw_tangent(reach: np.ndarray, at: tuple[float, float], slope: float, colors: Palette) -> Spec:
    """The line that touches the loss at a weight. reach: (2,) the weights from which to which it is drawn."""
    return {
        "type": "scatter",
        "x": pack(reach),
        "y": pack(_bound(at[1] + slope * (reach - at[0]))),
        "mode": "lines",
        "name": "slope = gradient",
        "line": {"color": colors.kinds["key"], "width": 1.5, "dash": "dot"},
        "hoverinfo": "name",
    }


def _mark_loss(name: str, place: tuple[float, float], fill: str, colors: Palette) -> Spec:
    """A circle on the curve. place: the weight, and the loss there."""
    return {
        "type": "scatter",
        "x": [place[0]],
        "y": [place[1]],
        "mode": "markers",
        "name": name,
        "marker": {"size": 10, "color": fill, "line": {"color": colors.text, "width": 2}},
        "hovertemplate": Rich(f"{escape(name)}: %{{x:.4g}}<br>J = <b>%{{y:.4g}}</b><extra></extra>"),
    }
