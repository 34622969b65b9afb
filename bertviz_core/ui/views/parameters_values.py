"""The values of one tensor on screen: a window of them, how often each size occurs, and the whole in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import parameters as analysis
from bertviz_core.analysis.parameters import Tensor
from bertviz_core.analysis.ranking import find_robust_limit
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.histogram import draw_histogram, name_intervals
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import MANY_CELLS
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived

KIND = "residual"  # parameters have no colour of their own; this is the grey one
_BINS = 80
_BLOCKS = (96, 128)  # rows and columns of the map of a tensor with more than MANY_CELLS numbers
_ROW, _FRAME = 15, 76  # pixels: of a row of numbers, and above and below all of them
_WINDOW = (16, 32)  # rows and columns of numbers drawn as they are
_FIELD = 108  # pixels: the width of a field for one of them
_STARTS = Key("row", 0), Key("column", 0)
_ENTRY = Key("entry-row", 0)  # the same of the vocabulary's entries: a window of theirs opens at a word of the sentence
Window = tuple[range, range]  # rows, columns


def choose_window(view: View, tensor: Tensor) -> Window:
    """Which rows and columns to draw, as two fields in the URL say."""
    shape, starts = _make_matrix(view, tensor).shape, []
    axes = ["", *_find_trace(view, tensor).dims(tensor.address)][-2:]
    for side, axis, size, most in zip(_STARTS, axes, shape, _WINDOW, strict=True):
        key = _ENTRY if axis == "vocab" else side
        url.bind(key, range(size), _find_entry(view) if key is _ENTRY else key.usual)
        with st.container(horizontal=True, width="content", vertical_alignment="center", wrap=False, gap="xsmall"):
            st.markdown(f":small[from {side.name}]", width="content")
            first = st.number_input(
                f"From {side.name}",
                0,
                size - 1,
                key=key.name,
                step=min(most, size),
                disabled=size <= most,
                width=_FIELD,
                label_visibility="collapsed",
            )
        starts.append(max(0, min(int(first), size - most)))
    row, column = starts
    return range(row, min(shape[0], row + _WINDOW[0])), range(column, min(shape[1], column + _WINDOW[1]))


def _find_entry(view: View) -> int:
    """The chosen token's id, or that of the first token that is not special where this one is: around special ones
    stand entries that no text has."""
    encoding, special = view.trace.encoding, view.trace.model.tokenizer.special_tokens
    words = [i for i, token in enumerate(encoding.tokens) if token not in special]
    at = view.chosen.token if view.chosen.token in words else next(iter(words), view.chosen.token)
    return int(encoding.ids[at])


@derived
def show_numbers(view: View, tensor: Tensor, window: Window, show_names: Callable[[], None]) -> Derived:
    """A window of the tensor's own numbers, to be moved over the whole, and beside it what it is called."""
    trace, matrix = _find_trace(view, tensor), _make_matrix(view, tensor)
    rows, columns = window
    part = matrix[rows.start : rows.stop, columns.start : columns.stop]
    axes = ["", *trace.dims(tensor.address)][-2:]
    sides = _make_side(view, axes[0], rows), _make_side(view, axes[1], columns)
    kind, high = _find_kind(trace, tensor), _FRAME + _ROW * len(part)
    figure = draw_heatmap(part, *sides, view.colors, kind, end=find_robust_limit(part), height=high)
    where = Address(tensor.address)
    at = {axis: i for axis, i in zip(axes, (rows.start, columns.start), strict=True) if axis}
    first, read = trace.explain(where.fix(**at)), tensor.address in view.trace
    drawn = [_write_span(*side) for side in zip(axes, (rows, columns), matrix.shape, strict=True) if side[0]]
    return Derived(
        tensor.address if axes[0] else f"numbers-{tensor.address}",
        "Values of the tensor",
        figure.offer(picks.pick_matrix(trace, where) or picks.pick_vectors(trace, [where])) if read else figure,
        Origin(
            tensor.address,
            KIND,
            first.latex,
            f"{', '.join(drawn)}, as learned; the download has no others",
        ),
        values=Values(part, [str(i) for i in rows], [str(i) for i in columns]),
        start=first.cell if read else None,
        beside=show_names,
    )


def _find_kind(trace: Trace, tensor: Tensor) -> str:
    """The kind of what is made with a tensor first, whose colour its numbers have."""
    return trace.program.readers[tensor.address][0].kind


def _find_trace(view: View, tensor: Tensor) -> Trace:
    """The pass that reads the tensor: the one before, where a change leaves out what does."""
    return view.trace if tensor.address in view.trace else view.outcome.before


def _make_matrix(view: View, tensor: Tensor) -> np.ndarray:
    """The tensor as a matrix: a vector is one row."""
    values = _find_trace(view, tensor)[tensor.address]
    return values if values.ndim > 1 else values[None]


def _make_side(view: View, axis: str, shown: range) -> Side:
    """The entries of the vocabulary by their words, everything else by its index."""
    name = view.trace.model.tokenizer.name
    words = [f"{i} {name(i)}" for i in shown] if axis == "vocab" else None
    return Side(axis, words, shown.start, labelled=len(shown) > 1)


def _write_span(axis: str, shown: range, size: int) -> str:
    return f"{axis} {shown.start}–{shown.stop - 1} of {size:,}"


@derived
def show_sizes(view: View, tensor: Tensor) -> Derived:
    """How often each size occurs in the tensor, with its mean, spread and extremes."""
    values = _find_trace(view, tensor)[tensor.address]
    found, symbol = analysis.summarize(values), tensor.symbol.tex
    counts, edges = analysis.count_sizes(values, _BINS)
    return Derived(
        f"sizes-{tensor.address}",
        "Distribution of its values",
        draw_histogram(counts, edges, view.colors, view.colors.kinds[KIND], "value"),
        Origin(
            tensor.address,
            KIND,
            _write_moments(symbol, tensor.size),
            "Each bar counts the values between two edges. μ is the mean of all values, σ their standard "
            "deviation, the typical distance from μ.",
            _write_worked_moments(symbol, tensor.size, found),
        ),
        values=Values(counts[:, None], name_intervals(edges), ["count"]),
        note=f"From {format_number(found.low)} to {format_number(found.high)}; {found.zeros:,} of {tensor.size:,} "
        f"{'is' if found.zeros == 1 else 'are'} 0. {_BINS} bars of equal width.",
    )


def _write_moments(symbol: str, size: int) -> str:
    return (
        rf"\begin{{aligned}} \mu &= \frac{{1}}{{{size}}} \sum_k w_k \\ \sigma &= \sqrt{{\frac{{1}}{{{size}}} "
        rf"\sum_k (w_k - \mu)^2}} \\ w_k &\text{{ in }} {symbol} \end{{aligned}}"
    )


def _write_worked_moments(symbol: str, size: int, found: analysis.Summary) -> str:
    mean, squares = format_latex(found.mean), format_latex(found.deviation**2 * size)
    return rf"\sigma({symbol}) = \sqrt{{{squares} / {size}}} = {format_latex(found.deviation)},\quad \mu = {mean}"


@derived
def show_blocks(view: View, tensor: Tensor) -> Derived:
    """The whole tensor at once; a large one in blocks, each as the root mean square of its numbers."""
    matrix = _make_matrix(view, tensor)
    few = (1, MANY_CELLS) if len(matrix) == 1 else _BLOCKS
    found = analysis.pool_blocks(matrix, *(matrix.shape if matrix.size <= MANY_CELLS else few))
    count = found.height * found.width
    whole = count == 1
    shown = matrix if whole else found.values
    axes = ["", *_find_trace(view, tensor).dims(tensor.address)][-2:]
    note = (
        "Every cell is one number."
        if whole
        else (
            f"Pooled: a cell is the root mean square of {found.height} × {found.width} numbers, fewer at the edges. "
            "The scale starts at 0. The axes count the tensor's rows and columns."
        )
    )
    return Derived(
        f"blocks-{tensor.address}",
        "The whole tensor" if whole else "The whole tensor, in blocks",
        _draw_map(view, _find_kind(_find_trace(view, tensor), tensor), shown, axes, found),
        Origin(
            tensor.address,
            KIND,
            _describe_pooling(tensor.symbol.tex, whole),
            "A row or column that stands out belongs to an input or output with larger or smaller weights.",
            "" if whole else _write_block(matrix, found),
        ),
        values=Values(
            shown,
            [str(i * found.height) for i in range(len(shown))],
            [str(i * found.width) for i in range(shown.shape[1])],
        ),
        note=note,
    )


def _draw_map(view: View, kind: str, shown: np.ndarray, axes: Sequence[str], found: analysis.Blocks) -> Chart:
    """Every block in the middle of the rows and columns that it stands for; a single row needs no numbers beside it."""
    rows = Side(axes[0], start=(found.height - 1) / 2, step=found.height, labelled=len(shown) > 1)
    columns = Side(axes[1], start=(found.width - 1) / 2, step=found.width)
    whole = found.height * found.width == 1
    return draw_heatmap(
        shown, rows, columns, view.colors, kind, share=not whole, end=find_robust_limit(shown), gaps=False
    )


def _describe_pooling(symbol: str, whole: bool) -> str:
    if whole:
        return symbol
    size, cells = r"\lvert I \rvert \lvert J \rvert", r"\sum_{i \in I} \sum_{j \in J}"
    return rf"B_{{IJ}} = \sqrt{{\frac{{1}}{{{size}}} {cells} \left({symbol}\right)_{{ij}}^2}}"


def _write_block(matrix: np.ndarray, found: analysis.Blocks) -> str:
    """The first block's root mean square."""
    block = matrix[: found.height, : found.width].astype(np.float64)
    return (
        rf"B_{{0,0}} = \sqrt{{{format_latex(float(np.square(block).sum()))} / {block.size}}} "
        rf"= {format_latex(float(found.values[0, 0]))}"
    )
