"""A chart as a value; and what all share: no template (it weighs more than the data), the theme's colours, one font."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bertviz_core.figures.inked import ink_texts
from bertviz_core.figures.margins import settle
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.plotly_inside import Drawn, Figure, write_array
from bertviz_core.figures.texts import LONGEST, LONGEST_TICK, escape, escape_in_space

Spec = dict[str, Any]  # a part of what Plotly.js draws, in its own terms
Cells = Sequence[str] | str

NARROW = 480  # pixels: a chart below that is one on a phone
BAR_GAP = 0.25  # between horizontal bars, of what a row has
_CLEAR = "rgba(0,0,0,0)"
LETTER = 7.3  # pixels: the width of a letter of `set_font`
NUMBER_SHIFT, _SPARE = 8, 4  # pixels before and behind the number beside a bar
SANS = '"Source Sans", sans-serif'  # of words; numbers are monospace
MONOSPACE = '"Source Code Pro", ui-monospace, Menlo, Consolas, monospace'


@dataclass(frozen=True, eq=False)
class Chart:
    """What Plotly.js draws, and which recorded cells a click on it means.

    traces, layout: in Plotly's terms. cells: one address for all cells or points, or one a row or point, in which {x}
    and {y} stand for column and row, {n} for the number of the point; "" where a click means nothing. picked_from: the
    first trace that offers them; those before it offer none.
    """

    traces: tuple[Spec, ...]
    layout: Spec
    cells: Cells = ""
    picked_from: int = 0

    def offer(self, cells: Cells) -> Chart:
        """The same chart, offering these cells to a click."""
        return replace(self, cells=cells)

    @property
    def silent(self) -> Chart:
        """The same chart, offering no cells."""
        bare = tuple({key: part for key, part in trace.items() if key != "meta"} for trace in self.traces)
        return replace(self, traces=bare, cells="")

    @property
    def spec(self) -> Spec:
        """The whole as one dict that Plotly.js draws; a trace that can be picked from has its cells as `meta`."""
        if not self.cells:
            return {"data": list(self.traces), "layout": self.layout}
        meta = self.cells if isinstance(self.cells, str) else list(self.cells)
        rest, picked = self.traces[: self.picked_from], self.traces[self.picked_from :]
        return {"data": [*rest, *({**trace, "meta": meta} for trace in picked)], "layout": self.layout}


def _write_out(part: Any, longest: int = LONGEST) -> Any:
    """The same dicts and lists anew, of the same numbers; arrays in base64; every text as it is to be drawn.

    Here and nowhere else, as all charts pass here. longest: characters of a text.
    """
    if isinstance(part, str):
        return escape(part, longest)
    if isinstance(part, np.ndarray):
        return write_array(part)
    if isinstance(part, dict):
        sent = {
            key: _write_out(value, LONGEST_TICK if key == "ticktext" else longest)
            for key, value in part.items()
            if key != "meta"
        }
        if "meta" in part:
            sent["meta"] = part["meta"]  # addresses, which are not drawn
        if part.get("type") == "scatter3d" and "text" in part:
            sent["text"] = [escape_in_space(text) for text in part["text"]]
        return sent
    return [_write_out(value, longest) for value in part] if isinstance(part, list | tuple) else part


def to_plotly(chart: Chart) -> Figure:
    """The chart as Streamlit takes it."""
    return Drawn(partial(_write_once, chart))


def _write_once(chart: Chart) -> Spec:
    """The chart so that it is drawn once: Streamlit gives it to Plotly again, which then compares it with what it drew.

    Arrays are the same ones while `datarevision` is, and an empty template is not the same as what became of it.
    """
    spec = write_spec(chart)
    layout = {key: part for key, part in spec["layout"].items() if key != "template"}
    return {**spec, "layout": {**layout, "datarevision": 0}}


def write_spec(chart: Chart) -> Spec:
    """The chart as Plotly.js takes it."""
    spec = _write_out(ink_texts(chart.spec))
    return {**spec, "layout": settle(spec["layout"])}


def make_chart(
    traces: Sequence[Spec],
    height: int,
    colors: Palette,
    *,
    right: int = 8,
    top: int = 8,
    bottom: int = 8,
    left: int = 8,
    picked_from: int = 0,
    **layout: Any,
) -> Chart:
    """A chart of these traces, transparent, without zoom or legend. layout: what it has besides, axes above all."""
    usual = {
        "template": {},
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "dragmode": False,
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"color": colors.text, "family": SANS, "size": 12},
        "showlegend": False,
        "hoverlabel": {
            "bgcolor": colors.surface,
            "bordercolor": colors.faint,
            "font": {"family": MONOSPACE, "color": colors.text},
        },
    }
    given = {key: part for key, part in layout.items() if part != []}  # no shapes, no texts
    return Chart(tuple(traces), {**usual, **given}, picked_from=picked_from)


def give_way(layout: Mapping[str, Any], hidden: Sequence[int] = ()) -> Spec:
    """A layout's `meta`, by which the browser draws a chart on a phone otherwise (plotly_inside.js): with these parts
    of the layout, by their paths, and without the traces that are hidden."""
    return {"narrow": {"below": NARROW, "hidden": list(hidden), "layout": dict(layout)}}


def make_tracks(rows: int, colors: Palette) -> list[Spec]:
    """What lies behind horizontal bars, one a row: as long as the scale, as high as a bar."""
    track = {
        "type": "rect",
        "layer": "below",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "fillcolor": colors.zero,
        "line": {"width": 0},
    }
    half = (1 - BAR_GAP) / 2
    return [{**track, "y0": i - half, "y1": i + half} for i in range(rows)]


def pack(values: np.ndarray) -> np.ndarray:
    """Numbers as they are sent to the browser: in single precision, and the chart's own."""
    return np.array(values, dtype=np.float32, order="C")


def set_font(color: str, size: int = 12) -> Spec:
    """A font for numbers and tokens."""
    return {"family": MONOSPACE, "size": size, "color": color}


def set_axis(colors: Palette, title: str = "", grid: bool = False, *, standoff: int = 6, **settings: Any) -> Spec:
    """Settings of one axis: fixed, numbers in monospace, words not. standoff: pixels from ticks' texts to the title."""
    family = SANS if "ticktext" in settings else MONOSPACE
    return {
        "showgrid": grid,
        "gridcolor": colors.line,
        "zeroline": grid,
        "zerolinecolor": colors.faint,
        "fixedrange": True,
        "automargin": True,
        "ticks": "",
        "tickfont": {**set_font(colors.text), "family": family},
        "title": {"text": title, "font": {"size": 12, "color": colors.faint}, "standoff": standoff},
        **settings,
    }


def name_ticks(words: Sequence[str], most: int | None = None) -> Spec:
    """Words at 0, 1, 2 and so on of an axis. most: that are printed, evenly spaced; all, if it is not given."""
    shown = range(0, len(words), -(-len(words) // most) if most and words else 1)
    return {"tickmode": "array", "tickvals": list(shown), "ticktext": [words[i] for i in shown]}


def name_rows(words: Sequence[str], colors: Palette) -> Spec:
    """The axis of rows that are called by words, from top to bottom."""
    return set_axis(colors, autorange="reversed", ticklabelstandoff=4, **name_ticks(words))


def leave_room(texts: Sequence[str]) -> int:
    """The margin in pixels at the right of bars, so that none of the texts beside them is cut."""
    return math.ceil(NUMBER_SHIFT + _SPARE + LETTER * max(map(len, texts), default=0))


def set_legend(font: Mapping[str, Any] | None = None, y: float = 1.02) -> Spec:
    """A legend in one line above the chart."""
    return {"orientation": "h", "y": y, "yanchor": "bottom", "x": 0, **({"font": dict(font)} if font else {})}


def write_text(text: str, x: float, y: float, font: Spec, **settings: Any) -> Spec:
    """A text at a place of the chart, without an arrow."""
    return {"text": text, "x": x, "y": y, "font": font, "showarrow": False, **settings}


def make_outline(
    columns: tuple[float, float], rows: tuple[float, float], colors: Palette, width: float = 1.5, **refs: Any
) -> Spec:
    """A frame around a part of a map, between two places of each axis. refs: which axes, if not the first ones."""
    return {
        "type": "rect",
        "x0": columns[0],
        "x1": columns[1],
        "y0": rows[0],
        "y1": rows[1],
        "line": {"color": colors.text, "width": width},
        **refs,
    }
