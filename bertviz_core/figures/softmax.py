"""How a word's probability comes about: the terms of its logit, all logits, the denominator, and all ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.figures.base import Chart, Spec, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number, format_percent

_DECADES = (1.0, 1e-2, 1e-4, 1e-6)  # ticks of probabilities
_POINTS = 240  # of a curve over all ranks
_NARROW = 0.055  # of a stack's width: what is narrower carries no words
_EDGE = 0.02  # of that width: what stands so near to an end has its words begin or end there
_SAID = 0.3  # of a chart's width at least, for what is said beside its bars
_HATCH = {"size": 5, "solidity": 0.3}


def draw_sorted_terms(terms: np.ndarray, names: Sequence[str], colors: Palette, color: str, height: int = 250) -> Chart:
    """The terms of a sum as bars, largest first. names: of the terms, in their order; height: in pixels."""
    order = np.argsort(-terms, kind="stable")
    up, down = int((terms > 0).sum()), int((terms < 0).sum())
    bars = {
        "type": "bar",
        "x": list(range(len(terms))),
        "y": pack(terms[order]),
        "customdata": [names[i] for i in order],
        "marker": {"color": colors.ink(terms[order], color), "line": {"width": 0}},
        "hovertemplate": Rich("%{customdata}<br><b>%{y:.4g}</b><extra></extra>"),
    }
    said, ends = set_font(colors.faint), up / (len(terms) or 1)
    texts = [  # each beside its bars, on the side of 0 where there are no others
        write_text(f"← {up:,} raise it", min(ends, 1 - _SAID), 0, said, xref="paper", xanchor="left", yanchor="bottom"),
        write_text(f"{down:,} lower it →", max(ends, _SAID), 0, said, xref="paper", xanchor="right", yanchor="top"),
    ]
    return make_chart(
        [bars],
        height,
        colors,
        bargap=0,
        annotations=texts,
        xaxis=set_axis(colors, showticklabels=False),
        yaxis=set_axis(colors, grid=True, nticks=4),
    )


def draw_all_scores(
    counts: np.ndarray, edges: np.ndarray, marks: Mapping[str, float], main: str, colors: Palette, color: str
) -> Chart:
    """How often each score occurs (bar,) between the edges (bar + 1,), and some entries' own scores as lines.

    marks: scores by word; main: the word whose line is long and named. Only the lines offer cells.
    """
    top = float(counts.max(initial=1))
    heights = {word: top * (0.8 if word == main else 0.25) for word in marks}
    named = write_text(
        f"{main} {format_number(marks[main])}",
        marks[main],
        0.82 * top,
        set_font(colors.text),
        xanchor="right",
        yanchor="bottom",
    )
    return make_chart(
        [_draw_counts(counts, edges, colors), _draw_scores(marks, heights, float(edges[-1] - edges[0]) / 400, color)],
        196,
        colors,
        right=16,
        bargap=0,
        barmode="overlay",
        annotations=[named],
        picked_from=1,
        xaxis=set_axis(colors, grid=True, zeroline=False),
        yaxis=set_axis(colors, showticklabels=False, range=[0, 1.02 * top]),
    )


def _draw_counts(counts: np.ndarray, edges: np.ndarray, colors: Palette) -> Spec:
    """A histogram of all entries, behind the lines of some."""
    return {
        "type": "bar",
        "x": pack((edges[:-1] + edges[1:]) / 2),
        "y": pack(counts),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": colors.line, "line": {"width": 0.5, "color": colors.surface}},
        "hovertemplate": Rich("%{x:.4g}<br><b>%{y:,.0f}</b> entries<extra></extra>"),
    }


def _draw_scores(scores: Mapping[str, float], heights: Mapping[str, float], width: float, color: str) -> Spec:
    """A line at the score of each word."""
    return {
        "type": "bar",
        "x": pack(np.array(list(scores.values()))),
        "width": width,
        "y": [heights[word] for word in scores],
        "customdata": list(scores),
        "marker": {"color": color},
        "hovertemplate": Rich("%{customdata}<br><b>%{x:.4g}</b><extra></extra>"),
    }


def draw_stack(shares: Mapping[str, float], main: str, groups: int, colors: Palette, color: str) -> Chart:
    """Shares of a whole laid end to end. main: the one in full colour; groups: how many of the last are of many."""
    names, parts = list(shares), np.array(list(shares.values()))
    first_group, starts = len(parts) - groups, np.cumsum(parts) - parts
    inks = [color if name == main else colors.line for name in names]
    named = [i for i, share in enumerate(parts) if share >= _NARROW]
    texts = [
        text
        for line, i in enumerate(named)
        for text in _name_part(names[i], float(parts[i]), float(starts[i]), line % 2, i >= first_group, colors)
    ]
    return make_chart(
        [_draw_shares(shares, starts, inks, first_group, colors)],
        194,
        colors,
        top=24,
        bottom=38,
        barmode="overlay",
        bargap=0,
        annotations=texts,
        xaxis=set_axis(colors, range=[0, 1], showticklabels=False),
        yaxis=set_axis(colors, showticklabels=False, range=[-0.5, 0.5]),
    )


def _draw_shares(
    shares: Mapping[str, float], starts: np.ndarray, inks: Sequence[str], first_group: int, colors: Palette
) -> Spec:
    """The parts of a stack, each from where the one before it ends; from the first group on they are hatched."""
    count = len(shares)
    return {
        "type": "bar",
        "x": pack(np.array(list(shares.values()))),
        "base": starts.tolist(),
        "y": [0] * count,
        "orientation": "h",
        "customdata": list(shares),
        "hovertemplate": Rich("%{customdata}<br><b>%{x:.4g}</b><extra></extra>"),
        "marker": {
            "color": list(inks),
            "line": {"color": colors.surface, "width": 1.5},
            "pattern": {
                **_HATCH,
                "shape": ["" if i < first_group else "/" for i in range(count)],
                "fgcolor": colors.faint,
            },
        },
    }


def _name_part(name: str, share: float, at: float, line: int, many: bool, colors: Palette) -> list[Spec]:
    """A part's share above it and its name below it, in one line or the next: on a phone neighbours' names are wider
    than their parts. many: it is of many entries. At the ends of the stack they end with it."""
    font = set_font(colors.faint if many else colors.text)
    x, anchor = at + share / 2, "center"
    if at < _EDGE:
        x, anchor = at, "left"
    elif at + share > 1 - _EDGE:
        x, anchor = at + share, "right"
    return [
        write_text(format_percent(share), x, 0.5, set_font(colors.text), xanchor=anchor, yanchor="bottom"),
        write_text(name, x, -0.5, font, xanchor=anchor, yanchor="top", yshift=-14 * line),
    ]


def draw_rank_curve(
    shares: np.ndarray, marks: Mapping[str, int], colors: Palette, color: str, before: np.ndarray | None = None
) -> Chart:
    """Probabilities (rank,), largest first, over their rank, both logarithmic. marks: ranks from 1 by word.

    before: the same of another pass, dashed. Only the marks offer cells.
    """
    ranks = np.unique(np.geomspace(1, len(shares), _POINTS).round().astype(int))
    lines = [_draw_ranks(shares, ranks, {"color": color, "width": 2})]
    if before is not None:
        lines.append(_draw_ranks(before, ranks, {"color": colors.faint, "width": 1.5, "dash": "dot"}))
    return make_chart(
        [*lines, _mark_ranks(marks, shares, colors, color)],
        190,
        colors,
        right=16,
        top=20,
        picked_from=len(lines),
        xaxis=set_axis(colors, "rank", grid=True, type="log", dtick=1, tickformat=",d", standoff=2),
        yaxis=set_axis(
            colors,
            grid=True,
            type="log",
            tickvals=list(_DECADES),
            ticktext=[f"{100 * share:g} %" for share in _DECADES],
            range=[-7.5, 0.2],
        ),
    )


def _mark_ranks(marks: Mapping[str, int], shares: np.ndarray, colors: Palette, color: str) -> Spec:
    """Words at their ranks on the curve."""
    at = list(marks.values())
    return {
        "type": "scatter",
        "x": at,
        "y": [float(shares[rank - 1]) for rank in at],
        "mode": "markers+text",
        "text": list(marks),
        "textposition": "top right",
        "textfont": set_font(colors.text),
        "cliponaxis": False,
        "marker": {"color": color, "size": 9},
        "hovertemplate": Rich("%{text}<br>rank %{x:,}<br><b>%{y:.4g}</b><extra></extra>"),
    }


def _draw_ranks(shares: np.ndarray, ranks: np.ndarray, line: Spec) -> Spec:
    return {
        "type": "scatter",
        "x": pack(ranks),
        "y": pack(shares[ranks - 1]),
        "mode": "lines",
        "line": line,
        "hovertemplate": Rich("rank %{x:,}<br><b>%{y:.4g}</b><extra></extra>"),
    }
