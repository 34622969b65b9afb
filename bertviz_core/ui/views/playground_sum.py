"""The encoder article's weighted sums: its ids, vectors and weights, all to be edited, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention
from bertviz_core.documents import examples
from bertviz_core.documents.examples import WORDS
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.numbers import format_latex, format_number, format_short
from bertviz_core.formula.steps import ATTENTION, VALUE
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.packing import LONGEST
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.playground import ARTICLE
from bertviz_core.ui.views.playground_sheet import Sheet

_ONE_HOT, _MIXED, _OWN = "one-hot", "mixed", "your row"
_LITTLE = 1e-3  # of a weight, and of what it brings, that is not written
_EXAMPLES = (_ONE_HOT, _MIXED)
_NAMED = [f"token “{word}”" for word in WORDS]
_COMPONENTS = [f"component {name}" for name in examples.COMPONENTS]
_IDS = Sheet(
    Key("article_ids", "", LONGEST),
    Key("article-id", ""),
    "ids",
    np.array([examples.IDS], dtype=np.float64),
    ["Ids"],
    _NAMED,
    whole=True,
)
_ROWS = Sheet(
    Key("article_rows", "", LONGEST),
    Key("article-row", ""),
    "components",
    np.array(examples.EMBEDDINGS),
    [f"E[{i}]" for i in examples.IDS],
    _COMPONENTS,
)
_WEIGHTS = Sheet(
    Key("article_weights", "", LONGEST),
    Key("article-weight", ""),
    "weights",
    np.array([examples.ONE_HOT, examples.MIXED]),
    ["Example 1", "Example 2"],
    _NAMED,
)
_MIX = Key("mix", _ONE_HOT)
_ARTICLE_ROW = Key("article_row", str(examples.IDS[0]))


@dataclass(frozen=True, eq=False)
class Mix:
    """What is added up: (token,) ids and weights, (token, component) vectors; name: whose weights; edited: by hand."""

    name: str
    ids: tuple[int, ...]
    weights: np.ndarray
    vectors: np.ndarray
    edited: bool


def read_mix(shares: np.ndarray, row: int) -> Mix:
    """Every token's row of the table, as edited, and the weights that are chosen. shares: of the edited scores."""
    url.bind(_MIX, (*_EXAMPLES, _OWN))
    url.bind(_ARTICLE_ROW, tuple(map(str, examples.IDS)))
    ids = tuple(int(i) for i in _IDS.read().scores[0])
    rows, weights, name = _ROWS.read().scores, _WEIGHTS.read().scores, state.read(_MIX)
    chosen = shares[row] if name == _OWN else weights[_EXAMPLES.index(name)]
    own = name == _OWN or not np.array_equal(chosen, _WEIGHTS.original[_EXAMPLES.index(name)])
    return Mix(name, ids, chosen, rows[[examples.IDS.index(i) for i in ids]], own)


def edit_mix(mix: Mix) -> None:
    """The fields of the ids, of one row of the table, and of the weights of the chosen example."""
    with st.container(border=True, key="panel-edit-sum", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("Ids: which row of the table each token has", width="content")
            _IDS.show_status()
        _IDS.show_fields(0, WORDS)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("Row of the table", width="content")
            shown = st.radio(
                "Row to edit",
                list(map(str, examples.IDS)),
                key=_ARTICLE_ROW.name,
                horizontal=True,
                format_func=lambda i: f"E[{i}]",
                label_visibility="collapsed",
                on_change=url.note_choice,
            )
            _ROWS.show_status()
        _ROWS.show_fields(examples.IDS.index(int(shown)), _COMPONENTS)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("Weights", width="content")
            st.radio(
                "Weights",
                (*_EXAMPLES, _OWN),
                key=_MIX.name,
                horizontal=True,
                on_change=url.note_choice,
                label_visibility="collapsed",
            )
            _WEIGHTS.show_status()
        if mix.name in _EXAMPLES:
            _WEIGHTS.show_fields(_EXAMPLES.index(mix.name), WORDS)


@derived
def show_weighted(view: View, mix: Mix) -> Derived:
    """The six tokens' vectors, weighed by the chosen weights and added up."""
    parts = attention.weigh_values(mix.weights, mix.vectors)
    shown = np.vstack([parts, parts.sum(axis=0)])
    pairs = [(float(w), float(x[0])) for w, x in zip(mix.weights, mix.vectors, strict=True)]
    kept = [pair for pair in pairs if abs(pair[0]) >= _LITTLE or abs(pair[0] * pair[1]) >= _LITTLE]
    written = [rf"{format_latex(w)} \cdot {format_latex(x)}" for w, x in kept]
    terms = " + ".join([*written, *([r"\cdots"] if any(w * x for w, x in pairs if (w, x) not in kept) else [])])
    return Derived(
        "playground-weighted",
        "Weighted value of each token, and below their sum",
        draw_heatmap(
            shown,
            Side("from", [*WORDS, "sum"]),
            Side("component", examples.COMPONENTS),
            view.colors,
            VALUE,
            selected=len(WORDS),
        ),
        Origin(
            "the encoder article's examples",
            VALUE,
            r"\mathrm{head}_{i} = \sum_{j} A_{i,j}\, v_j",
            _write_meaning(mix, shown[-1]),
            rf"\mathrm{{head}}_{{0}} = {terms or 0} = {format_latex(float(shown[-1, 0]))}",
            ARTICLE,
        ),
        values=Values(shown, [*WORDS, "sum"], _COMPONENTS),
        note="The article leaves the values v as letters. Here v is the four components that it prints of each token's "
        "embedding, as if the value matrix were the identity.",
        table=render_table(
            "token",
            WORDS,
            [
                Column("id", list(mix.ids)),
                Column("attention weight", [float(w) for w in mix.weights], view.colors.kinds[ATTENTION], 1.0),
            ],
        ),
    )


def _write_meaning(mix: Mix, total: np.ndarray) -> str:
    if mix.name == _OWN:
        return f"The weights of the row edited above: the first component becomes {format_number(float(total[0]))}."
    if mix.edited:
        return (
            f"The weights as edited sum to {format_number(float(mix.weights.sum()))}; a softmax's always sum to "
            f"{format_number(1)}."
        )
    if mix.name == _ONE_HOT:
        place = examples.ONE_HOT.index(1.0) + 1
        return (
            f"All attention on one token: the sum is the vector of “{WORDS[place - 1]}”, number by number. The 1 "
            f"is at position {place}, counted from 1; the article's text calls “{examples.CALLED_WORD}” the "
            f"{examples.CALLED_PLACE}th token, which is an error."
        )
    return (
        f"The attention weights sum to {format_short(sum(examples.MIXED))}, so the result is a weighted average of the "
        "six vectors. The article's matrix for this example has five rows; six tokens need six."
    )
