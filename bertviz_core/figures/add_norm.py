"""A LayerNorm as strips that line up component by component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.base import Chart, Spec, give_way, make_chart, pack, set_axis, set_font, write_text
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.texts import Rich, bold, escape
from bertviz_core.formula.numbers import format_short

_GAP = 0.025  # the part of the chart between two strips
_HEIGHTS = 48, 33  # pixels of a strip with numbers of the pass, and of one with learned ones
_READ = "component; band: mean ± σ; longer bars cut"
_FEW = 64  # components that a phone has room for
_PALE = 0.5  # of learned numbers: a factor's bars, all from 0 up, would be a block in full colour
_VEIL = "C0"  # of the ground behind a number that lies on bars: how opaque
_SIDE_ROOM, _END_ROOM = 104, 44  # pixels for the strips' names, and for the ends of their scales


@dataclass(frozen=True, eq=False)
class Strip:
    """One vector among several that line up. sign: what becomes of the strip above it; cell: the address of its
    components, {n} for which; color: of its bars; band: mean and standard deviation of its numbers, if they are to be
    seen, as those of the pass are and those that were learned are not."""

    name: str
    values: np.ndarray
    cell: str
    color: str
    sign: str = ""
    band: tuple[float, float] | None = None
    learned: bool = False


def draw_aligned(strips: Sequence[Strip], chosen: int, colors: Palette) -> Chart:
    """Vectors under each other as bars, one column a component, each on its own scale with its end at the right.

    chosen: a component that is framed through all strips, with its numbers; each vector's largest number is written
    too; a bar beyond a scale's end is cut there.
    """
    heights = [_HEIGHTS[strip.learned] for strip in strips]
    unit = (1 - _GAP * (len(strips) - 1)) / sum(heights)
    traces, texts, shapes, axes = [], [], [], {}
    top = 1.0
    for i, (strip, height) in enumerate(zip(strips, heights, strict=True)):
        axis, below = f"y{i + 1 if i else ''}", max(0.0, top - unit * height)
        limit = _find_limit(strip.values)
        low = -limit if strip.values.min(initial=0.0) < 0 else 0.0
        axes[f"yaxis{i + 1 if i else ''}"] = _set_strip_axis(strip, (low, limit), (below, top), colors)
        traces.append(_draw_strip(strip, axis, colors))
        texts += [*_write_numbers(strip, chosen, axis, (low, limit), colors), _write_end(axis, (low, limit), colors)]
        shapes += [_draw_ground(below, top, colors), *_draw_band(strip, axis)]
        top = below - _GAP
    width = len(strips[0].values)
    across = {"range": [-1.5, width + 0.5], "anchor": "free", "position": 0, "tickvals": [0, chosen, width - 1]}
    return make_chart(
        traces,
        sum(heights) + 42,
        colors,
        left=_SIDE_ROOM,
        right=_END_ROOM,
        top=4,
        bottom=34,
        bargap=0,
        hovermode="x",
        annotations=texts,
        shapes=[*shapes, _frame(chosen, colors)],
        meta=_show_few(chosen, width),
        xaxis=set_axis(colors, _READ, standoff=2, **across, automargin=False),
        **axes,
    )


def _show_few(chosen: int, width: int) -> Spec:
    """On a phone: the components around the chosen one, each wide enough to be seen."""
    shown = center_range(chosen, _FEW, width)
    first, last = shown[0], shown[-1]
    return give_way(
        {
            "xaxis.range": [first - 1, last + 1],
            "xaxis.tickvals": [first, chosen, last],
            "xaxis.title.text": f"components {first} to {last} of {width}; band: mean ± σ",
        }
    )


def _frame(chosen: int, colors: Palette) -> Spec:
    """A frame around one component, through all strips."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": chosen - 1.5,
        "x1": chosen + 1.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": colors.text, "width": 1.5},
    }


def _find_limit(values: np.ndarray) -> float:
    """The end of a strip's scale. Few outliers would flatten all others: then they are cut off."""
    sizes = np.abs(values)
    largest, usual = float(sizes.max(initial=0.0)), float(np.quantile(sizes, 0.98))
    return 1.08 * (1.3 * usual if 0 < 1.3 * usual < largest else largest) or 1.0


def _draw_strip(strip: Strip, axis: str, colors: Palette) -> Spec:
    return {
        "type": "bar",
        "x0": 0,
        "dx": 1,
        "y": pack(strip.values),
        "yaxis": axis,
        "name": strip.name,
        "meta": strip.cell,
        "marker": {"color": colors.ink(strip.values.tolist(), strip.color), "line": {"width": 0}},
        "opacity": _PALE if strip.learned else 1,
        "hovertemplate": Rich(f"{escape(strip.name)}, component %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>"),
    }


def _set_strip_axis(strip: Strip, ends: tuple[float, float], domain: tuple[float, float], colors: Palette) -> Spec:
    """From the strip's largest size below 0 to the same above, where anything lies below; its name at the left."""
    return set_axis(
        colors,
        domain=list(domain),
        range=list(ends),
        zeroline=True,
        zerolinecolor=colors.line,
        automargin=False,
        tickmode="array",
        tickvals=[sum(ends) / 2],
        ticktext=[f"{strip.sign} {strip.name}".strip()],
        tickfont={"size": 13},
        ticklabelstandoff=6,
    )


def _write_end(axis: str, ends: tuple[float, float], colors: Palette) -> Spec:
    """The ends of a strip's scale, at its right: ± where it has two sides, the upper one where it begins at 0."""
    low, high = ends
    where = {"y": 0, "yanchor": "middle"} if low else {"y": high, "yanchor": "top"}
    text = f"{'±' if low else ''}{format_short(high)}"
    return write_text(text, 1, font=set_font(colors.faint), xref="paper", yref=axis, xanchor="left", xshift=4, **where)


def _write_numbers(strip: Strip, chosen: int, axis: str, ends: tuple[float, float], colors: Palette) -> list[Spec]:
    """The chosen component's number, and the largest one where it is far enough from that."""
    width, largest = len(strip.values), int(np.abs(strip.values).argmax())
    apart = abs(largest - chosen) > 0.12 * width
    return [_write_beside(strip, i, axis, ends, colors) for i in ([chosen, largest] if apart else [chosen])]


def _write_beside(strip: Strip, i: int, axis: str, ends: tuple[float, float], colors: Palette) -> Spec:
    """A component's number beside its bar's end, at the edge where that is cut."""
    left, value = i < 0.85 * len(strip.values), float(strip.values[i])
    return write_text(
        bold(format_short(value)),
        i,
        ends[value >= 0],
        set_font(colors.text),
        yref=axis,
        xanchor="left" if left else "right",
        xshift=6 if left else -6,
        yanchor="top" if value >= 0 else "bottom",
        bgcolor=f"{colors.paper}{_VEIL}",
        borderpad=0,
    )


def _draw_ground(below: float, top: float, colors: Palette) -> Spec:
    """What lies behind a strip, as high as its scale."""
    return {
        "type": "rect",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "yref": "paper",
        "y0": below,
        "y1": top,
        "fillcolor": colors.paper,
        "line": {"width": 0},
        "layer": "below",
    }


def _draw_band(strip: Strip, axis: str) -> list[Spec]:
    if strip.band is None:
        return []
    mean, deviation = strip.band
    return [
        {
            "type": "rect",
            "xref": "x domain",
            "x0": 0,
            "x1": 1,
            "yref": axis,
            "y0": mean - deviation,
            "y1": mean + deviation,
            "fillcolor": strip.color,
            "opacity": 0.14,
            "line": {"width": 0},
            "layer": "below",
        }
    ]
