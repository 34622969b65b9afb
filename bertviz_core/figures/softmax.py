"""How a word's probability comes about: the terms of its logit, all logits, the denominator, and all ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.figures.base import SANS, Chart, Spec, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold
from bertviz_core.formula.numbers import format_number, format_percent, format_short

_DECADES = (1.0, 1e-2, 1e-4, 1e-6)  # ticks of probabilities
_POINTS = 240  # of a curve over all ranks
_NARROW = 0.055  # of a stack's width: what is narrower carries no words
_EDGE = 0.02  # of that width: what stands so near to an end has its words begin or end there
_BAND_GAP = 0.06  # between one sum's bars and the next one's, of what a sum has
_BEHIND = 0.45  # of a grey that stands behind what is compared, and is still to be seen: above 2 to 1
_HATCH = {"size": 5, "solidity": 0.3}


@dataclass(frozen=True, eq=False)
class SortedTerms:
    """The terms (term,) of a sum, to which a bias is added. name: what it is the sum of; cell: the address that a click
    explains, if any."""

    name: str
    values: np.ndarray
    bias: float
    cell: str = ""

    @property
    def told(self) -> str:
        """What raises the sum, what lowers it and the bias, as numbers that add up to it."""
        up, down = (float(self.values[part].sum()) for part in (self.values > 0, self.values <= 0))
        rest = (f"{'−' if value < 0 else '+'} {format_short(abs(value))}" for value in (down, self.bias))
        return f"{format_short(up)} {' '.join(rest)} = {format_short(up + down + self.bias)}"


def draw_sorted_terms(
    sums: Sequence[SortedTerms], names: Sequence[str], colors: Palette, color: str, height: int
) -> Chart:
    """The terms of sums as bars, largest first, one sum below the other on one scale.

    names: of the terms, in their order; height: in pixels.
    """
    low = min(float(each.values.min(initial=0)) for each in sums)
    high = max(float(each.values.max(initial=0)) for each in sums)
    part = 1 / len(sums)
    axes: Spec = {}
    for i in range(len(sums)):
        number, above = str(i + 1) if i else "", 1 - i * part
        domain = [above - part * (1 - _BAND_GAP), above]
        axes[f"yaxis{number}"] = set_axis(colors, grid=True, nticks=4, range=[1.05 * low, 1.05 * high], domain=domain)
    return make_chart(
        [_draw_terms(each, names, f"y{i + 1 if i else ''}", colors, color) for i, each in enumerate(sums)],
        height,
        colors,
        bargap=0,
        annotations=[text for i, each in enumerate(sums) for text in _tell_terms(each, 1 - i * part, colors)],
        xaxis=set_axis(colors, showticklabels=False),
        **axes,
    )


def _draw_terms(terms: SortedTerms, names: Sequence[str], axis: str, colors: Palette, color: str) -> Spec:
    order = np.argsort(-terms.values, kind="stable")
    drawn = terms.values[order]
    return {
        "type": "bar",
        "x": list(range(len(drawn))),
        "y": pack(drawn),
        "yaxis": axis,
        "customdata": [names[i] for i in order],
        "marker": {"color": colors.ink(drawn, color), "line": {"width": 0}},
        "hovertemplate": Rich("%{customdata}<br><b>%{y:.4g}</b><extra></extra>"),
        **({"meta": terms.cell} if terms.cell else {}),
    }


def _tell_terms(terms: SortedTerms, top: float, colors: Palette) -> list[Spec]:
    """At the right, above the bars: of what these are the terms, how many raise and lower it, and what it comes to."""
    up, down = int((terms.values > 0).sum()), int((terms.values < 0).sum())
    lines = (
        (bold(terms.name), {"color": colors.text, "family": SANS, "size": 13}),
        (terms.told, set_font(colors.text)),
        (f"{up:,} raise it, {down:,} lower it", {"color": colors.faint, "family": SANS, "size": 12}),
    )
    place = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "top", "bgcolor": colors.surface}
    return [write_text(text, 1, top, font, yshift=-16 * i, **place) for i, (text, font) in enumerate(lines)]


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
        168,
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
        "marker": {"color": colors.faint, "opacity": _BEHIND, "line": {"width": 0.5, "color": colors.surface}},
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
