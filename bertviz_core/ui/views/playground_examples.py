"""The encoder article's other examples: positions of any size, scores that were not scaled."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention, playground, positions
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.documents.examples import WORDS
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap
from bertviz_core.figures.pairs import draw_pairs
from bertviz_core.formula.address import Address
from bertviz_core.formula.document_nodes import BASE
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import ATTENTION, EMBEDDING
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.playground import ARTICLE

_LONGEST, _DRAWN_ROWS, _DRAWN_COLUMNS = 1024, 64, 96
_LENGTH, _WIDTH = Key("length", 64), Key("width", 64)
_AT_POSITION, _AT_COMPONENT = Key("at_position", 5), Key("at_component", 2)
_DIVISORS = tuple(4**i for i in range(7))
_KEYS = 12  # shown at most of one query
_SINUSOIDAL = r"""p_{i,j} = \begin{cases} \sin\!\left(\frac{i}{10000^{j/d}}\right) & j \text{ even} \\[6pt]
\cos\!\left(\frac{i}{10000^{(j-1)/d}}\right) & j \text{ odd} \end{cases}"""


@derived
def show_sinusoidal(view: View) -> Derived:
    """Computed positions for any length and width, and one cell worked out."""
    with st.container(horizontal=True):
        length = _read_number("Length", _LENGTH, 1, _LONGEST)
        width = _read_number("Hidden size d", _WIDTH, 1, _LONGEST)
        i = min(_read_number("Position i", _AT_POSITION, 0, _LONGEST - 1), length - 1)
        j = min(_read_number("Component j", _AT_COMPONENT, 0, _LONGEST - 1), width - 1)
    matrix = positions.compute_sinusoids(length, width)
    rows, columns = -(-length // _DRAWN_ROWS), -(-width // _DRAWN_COLUMNS)
    columns += columns > 1 and columns % 2 == 0  # an even step would draw sines only
    figure = draw_heatmap(
        matrix[::rows, ::columns],
        Side("position", step=rows),
        Side("component", step=columns, standoff=CLEAR),
        view.colors,
        EMBEDDING,
        end=1.0,
        gaps=False,
        name_inside=True,
    )
    even, wave = j // 2 * 2, "cos" if j % 2 else "sin"
    angle = i / BASE ** (even / width)
    thinned = f" Shown: one position in {rows}, one component in {columns}." if rows * columns > 1 else ""
    return Derived(
        "playground-positions",
        f"Sinusoidal positions: {length} × {width} components",
        figure,
        Origin(
            "position and component alone",
            EMBEDDING,
            _SINUSOIDAL,
            f"Component {j} repeats every {positions.compute_wavelength(j, width):,.2f} positions. Nothing here is "
            "learned, so the formula works for any number of tokens.",
            rf"p_{{{i},{j}}} = \{wave}\!\left(\frac{{{i}}}{{10000^{{{even}/{width}}}}}\right) = "
            rf"\{wave}({format_latex(angle)}) = {format_latex(float(matrix[i, j]))}",
            f"{ARTICLE}, after Vaswani et al. 2017, sec. 3.5",
        ),
        values=Values(matrix, [f"position {k}" for k in range(length)], [f"component {k}" for k in range(width)]),
        note=f"Even components are sines, odd ones cosines; the wavelength grows to the right.{thinned}",
    )


def _tell_evenness(scores: np.ndarray) -> str:
    """What a divisor does to the weights: nothing where all scores are equal."""
    if np.ptp(scores):
        return "the larger the divisor, the more even its attention weights"
    return "all its scores are equal, so its attention weights are too, whatever the divisor"


def _read_number(label: str, key: Key[int], low: int, high: int) -> int:
    url.bind(key, range(low, high + 1))
    return int(st.number_input(label, low, high, key=key.name, width=140))


@derived
def show_divisors(view: View, scores: np.ndarray, row: int) -> Derived:
    """The edited row, divided by ever larger roots."""
    found = np.stack([playground.apply_softmax(scores[row] / np.sqrt(d)) for d in _DIVISORS], axis=1)
    best = int(scores[row].argmax())
    return Derived(
        "playground-divisors",
        f"“{WORDS[row]}”: {_tell_evenness(scores[row])}",
        draw_heatmap(
            found,
            Side("key", WORDS),
            Side("d_k (scores are divided by √d_k)", [f"{d:,}" for d in _DIVISORS]),
            view.colors,
            ATTENTION,
            share=True,
            end=1.0,
            selected=best,
        ),
        Origin(
            f"row {row} of the edited scores",
            ATTENTION,
            r"A_{i,j} = \frac{e^{S_{i,j} / \sqrt{d_k}}}{\sum_{v} e^{S_{i,v} / \sqrt{d_k}}}",
            f"Divided by √1 = 1, “{WORDS[best]}” gets {format_number(float(found[best, 0]))}; by √64 = 8, "
            f"{format_number(float(found[best, 3]))}; by √4096 = 64, {format_number(float(found[best, -1]))}. The "
            f"order "
            "of the attention weights never changes, only how far apart they are.",
            source=ARTICLE,
        ),
        values=Values(found, WORDS, [f"d_k {d}" for d in _DIVISORS]),
        note="Each column is one softmax and sums to 1.",
    )


@derived
def show_unscaled(view: View) -> Derived:
    """The chosen layer, head and token: real scores, with and without the division."""
    trace = view.trace
    rows = {name: trace[_locate(view, name)] for name in ("products", "scaled", "scores", "probs")}
    without = playground.leave_unscaled(rows["products"], rows["scaled"], rows["scores"])
    names, word = label_tokens(trace), name_token(trace.tokens, view.chosen.token)
    best = int(without.argmax())
    shown = attention.choose_shown(without + rows["probs"], _KEYS, (best,))
    series = {"without √d_k": without, "with √d_k": rows["probs"].astype(np.float64)}
    return Derived(
        "playground-unscaled",
        f"{word}, layer {view.chosen.layer}, head {view.chosen.head}: weights with and without the division by √d_k",
        draw_pairs(
            {name: values[shown] for name, values in series.items()},
            [names[k] for k in shown],
            view.colors,
            view.colors.kinds[ATTENTION],
        ),
        _write_division(view, without, rows["probs"]),
        values=Values(np.stack([without, series["with √d_k"]], axis=1), names, list(series)),
        note="Scores of this model on your sentence. Hollow: softmax of unscaled dot products. Filled: as BERT "
        f"computes it.{_note_shown(shown, trace.encoding.real)}",
        table=render_table(
            "key u",
            [names[k] for k in shown],
            _list_columns(view, rows["products"], series, shown),
            [shown.index(best)],
        ),
    )


def _list_columns(view: View, products: np.ndarray, series: Mapping[str, np.ndarray], shown: list[int]) -> list[Column]:
    return [
        Column("dot product R", _read_chosen(products, shown)),
        *(
            column
            for name, values in series.items()
            for column in (
                Column(f"weight {name}", _read_chosen(values, shown), view.colors.kinds[ATTENTION], 1.0),
                Column(f"slope {name}", _read_chosen(playground.compute_slopes(values), shown)),
            )
        ),
    ]


def _write_division(view: View, without: np.ndarray, probs: np.ndarray) -> Origin:
    width = view.trace.model.config.head_dim
    unscaled, scaled = (format_number(float(row.max())) for row in (without, probs))
    instead = f"instead of {scaled}" if unscaled != scaled else "as well"
    return Origin(
        f"{_locate(view, 'products')} and {_locate(view, 'scores')}",
        ATTENTION,
        r"\begin{aligned} &\mathrm{softmax}(R)_u \quad\text{and}\quad \mathrm{softmax}\!\left("
        r"\frac{R}{\sqrt{d_k}}\right)_u \\[6pt] "
        r"&\frac{\partial A_u}{\partial S_u} = A_u (1 - A_u) \end{aligned}",
        f"A dot product adds up d_k = {width} terms, so it grows with d_k. Unscaled, the largest weight here "
        f"is {unscaled} {instead}. Where a "
        "weight is near 0 or 1, its slope A(1 − A) is near 0, and training can hardly change it.",
        source=f"{ARTICLE}; Vaswani et al. 2017, sec. 3.2.1",
    )


def _locate(view: View, name: str) -> Address:
    where = SELF_ATTENTION.in_layer(view.chosen.layer).enter(name)
    return where.fix(head=view.chosen.head, query=view.chosen.token)


def _read_chosen(values: np.ndarray, shown: list[int]) -> list[float]:
    return [float(values[k]) for k in shown]


def _note_shown(shown: Collection[int], real: Collection[int]) -> str:
    count = len({*shown} & {*real})
    return f" Shown: {count} of {len(real)} keys, those with the largest weights." if count < len(real) else ""
