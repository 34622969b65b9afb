"""The app's chart of one tensor as a figure that shows and saves itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.made_from import find_doing
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.figures.base import Chart, write_spec
from bertviz_core.figures.palette import DARK, LIGHT, PALETTES, Palette
from bertviz_core.figures.pdf import write_pdf
from bertviz_core.figures.plotly_inside import Picture
from bertviz_core.figures.printed import FONT, ONE_COLUMN, Print, lay_out
from bertviz_core.figures.sheet import write_svg
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.markup import write_html
from bertviz_core.showing.answers import Answer, ShownAnswer, read_answer
from bertviz_core.showing.cards import typeset, write_card, write_formula
from bertviz_core.showing.provenance import list_caption, tell_model
from bertviz_core.showing.tensors import Part, draw_matrix
from bertviz_core.tracing.meanings import tell_meaning
from bertviz_core.tracing.trace import Trace

_BARS = 24  # of a vector: those that are largest in size, where there are more
_CELLS = 400_000  # of a matrix
_WIDE, _FONT = 160.0, 8.5  # millimetres of a picture in a notebook, and points of its letters
_TAGS = re.compile(r"</?(?!(?:i|sub|sup)>)\w[^>]*>")  # that Plotly knows not, or draws otherwise
_TITLE = 34  # pixels above a figure of Plotly's for its formula


@dataclass(frozen=True)
class _Shown:
    """What is drawn. note: what of it is not there."""

    trace: Trace
    address: Address

    @property
    def meaning(self) -> str:
        return tell_meaning(self.trace, self.trace.step(self.address), find_doing(self.trace, self.address))

    @property
    def latex(self) -> str:
        return self.trace.step(self.address).latex

    def draw(self, colors: Palette) -> tuple[Chart, str]:
        """The chart, and what of the tensor it leaves out."""
        dims = self.trace.dims(self.address)
        values = self.trace[self.address]
        share = self.address.name == "probs"
        if len(dims) == 2:
            end = 1.0 if share and float(values.max()) > 0.5 else None
            return draw_matrix(self.trace, self.address, values, colors, Part(_CELLS), share=share, end=end)
        kept = list(range(len(values))) if len(values) <= _BARS else rank_top(np.abs(values), _BARS)
        note = f"the {_BARS} largest in size of {len(values):,}" if len(values) > _BARS else ""
        names = self._name(dims[0], kept)
        color, ends = colors.kinds[self.trace.step(self.address).kind], SHARES if share else None
        return draw_bars(values[kept], names, colors, color, name=dims[0], ends=ends), note

    def _name(self, axis: str, indices: list[int]) -> list[str]:
        """What the entries of an axis are called."""
        if axis in TOKEN_AXES:
            labels = tell_tokens_apart(self.trace)
            return [labels[i] for i in indices]
        return [self.trace.model.tokenizer.name(i) if axis == "vocab" else str(i) for i in indices]


def show_figure(trace: Trace, what: Where | Answer, *, theme: str = LIGHT) -> Picture:
    """The figure of a vector or a matrix, or of what was worked out of the trace."""
    shown = read_answer(trace, what) if isinstance(what, Answer) else _find_tensor(trace, what)
    if theme not in PALETTES:
        raise InputError(f'There is no theme {theme!r}. Choose "{LIGHT}" or "{DARK}".')
    colors = PALETTES[theme]
    chart, note = shown.draw(colors)
    return Picture(_write_figure(shown, chart, colors), partial(_write_card, shown, note), partial(_save, shown))


def _find_tensor(trace: Trace, where: Where) -> _Shown:
    """A vector or a matrix. Raises InputError for anything else."""
    address = trace.layout.locate(where)
    dims = trace.dims(address)
    if len(dims) not in (1, 2):
        fixed = f", as in {address.fix(**{dims[0]: 0})}" if dims else f": trace.explain({str(address)!r}) works it out"
        raise InputError(
            f"A vector or a matrix can be drawn; {address} has the axes ({', '.join(dims)}). "
            + (f"Fix all but two{fixed}." if dims else f"It is one number{fixed}.")
        )
    return _Shown(trace, address)


def _write_figure(shown: _Shown | ShownAnswer, chart: Chart, colors: Palette) -> dict[str, Any]:
    """For Plotly.js: on the theme's own ground, under its formula."""
    spec = write_spec(chart)
    layout = spec["layout"]
    for written, trace in zip(spec["data"], chart.traces, strict=True):  # arrays, for who takes the numbers from it
        written |= {key: part for key, part in trace.items() if isinstance(part, np.ndarray)}
    code = shown.trace.step(shown.address).code
    margin = {**layout["margin"], "t": layout["margin"]["t"] + _TITLE}
    title = {"text": f"{_write_title(shown.latex) or escape(code)}<br><sub>{shown.address}</sub>", "x": 0.01}
    ground = {"paper_bgcolor": colors.surface, "plot_bgcolor": colors.surface}
    place = {"xanchor": "left", "yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 8}, "font": {"size": 15}}
    height = layout["height"] + _TITLE
    return {**spec, "layout": {**layout, **ground, "margin": margin, "height": height, "title": {**title, **place}}}


def _write_title(tex: str) -> str:
    """A formula with the few tags that Plotly knows; empty where HTML lacks a sign."""
    try:
        written = write_html(tex)
    except ValueError:
        return ""
    return _TAGS.sub("", written)


def _lay_out(
    shown: _Shown | ShownAnswer, width_mm: float, font_pt: float, caption: bool, head: tuple[str, ...] = ()
) -> Any:
    chart, note = shown.draw(PALETTES[LIGHT])
    left_out = [f"Shown: {note}"] if note else []
    lines = [*left_out, *list_caption(shown.trace, shown.address)] if caption else []
    return lay_out(chart, PALETTES[LIGHT], Print(width_mm, font_pt, lines, head))


def _write_card(shown: _Shown | ShownAnswer, note: str) -> str:
    """In a notebook: name, formula, the chart as SVG, and which weights made it."""
    formula = typeset(shown.latex) if isinstance(shown, ShownAnswer) else write_formula(shown.trace.step(shown.address))
    head = f"<div><b>{escape(shown.meaning)}</b></div><div><code>{escape(str(shown.address))}</code></div>"
    about = " · ".join(filter(None, [note and f"Shown: {note}", tell_model(shown.trace)]))
    picture = write_svg(_lay_out(shown, _WIDE, _FONT, caption=False))
    return write_card(head, formula, picture, f'<div class="bv-faint">{escape(about)}</div>')


def _save(
    shown: _Shown | ShownAnswer,
    path: Path,
    width_mm: float = ONE_COLUMN,
    font_pt: float = FONT,
    caption: bool = True,
) -> None:
    """Write the picture for a paper. Raises InputError for another kind of file, and where it cannot be written."""
    sheet = _lay_out(shown, width_mm, font_pt, caption, (shown.meaning,) if caption else ())
    kinds = {
        ".svg": lambda: write_svg(sheet, PALETTES[LIGHT]).encode(),
        ".pdf": lambda: write_pdf(sheet, PALETTES[LIGHT], str(shown.address)),
    }
    if path.suffix.lower() not in kinds:
        raise InputError(f"A picture is saved as .svg or .pdf, not as {path.name!r}. Choose one of the two.")
    written = kinds[path.suffix.lower()]()
    try:
        path.write_bytes(written)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another place.") from None
