"""The embeddings on screen: three vectors for one token and for all, and who is near in the vocabulary matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.layers import norms
from bertviz_core.analysis.ranking import around
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import bars
from bertviz_core.figures.base import Figure
from bertviz_core.formula.numbers import latex_number, text_number
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.ui.frame.labels import labels, literal
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import robust_limit, strips, tensor_map
from bertviz_core.ui.panels.derived import Origin, Values, derived
from bertviz_core.ui.panels.panel import panel
from bertviz_core.ui.panels.tables import Column, table

_PARTS = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings",
          "sum": "sum"}  # fmt: skip
_CELLS = 5_000
_ROWS = 24  # of the table of lengths
_NEAREST = 10


def one_token(view: View) -> None:
    """The chosen token's three vectors and their sum on one scale; then the sum beside what LayerNorm makes of it."""
    token = view.chosen.token
    panel(
        view, f"embeddings.sum[token={token}]",
        f"Three vectors make one: “{view.trace.tokens[token]}” at position {token}",
        _named(strips(view, [f"embeddings.{part}" for part in _PARTS.values()]), _PARTS),
        note="One row a vector, one column a component, all on one scale. Columns can be followed by eye from row to "
             "row: the last row sums the three above it.",
        cells=picks.vectors(view.trace, [f"embeddings.{part}[token={token}]" for part in _PARTS.values()]),
    )  # fmt: skip
    leaves = ("sum", "LayerNorm.normalized", "LayerNorm")
    before, _, after = (view.trace[f"embeddings.{leaf}[token={token}]"].std() for leaf in leaves)
    panel(
        view, f"embeddings.LayerNorm[token={token}]", "LayerNorm brings the sum to a fixed size",
        _named(strips(view, [f"embeddings.{leaf}" for leaf in leaves]), ("sum", "normalized", "LayerNorm")),
        note=f"The same columns, again on one scale. The standard deviation of the components goes from "
             f"{text_number(float(before))} in the sum to 1; gamma and beta make it {text_number(float(after))}.",
        cells=picks.vectors(view.trace, [f"embeddings.{leaf}[token={token}]" for leaf in leaves]),
    )  # fmt: skip


def _named(figure: Figure, names: Iterable[str]) -> Figure:
    """Strips under shorter names, which leave more room on a phone."""
    return figure.update_yaxes(ticktext=list(names))


def all_tokens(view: View) -> None:
    """The same for every token: three look-ups and their sum on one scale, then LayerNorm."""
    parts = [view.trace[f"embeddings.{part}"] for part in _PARTS.values()]
    end = robust_limit(np.stack(parts))
    for part, see in (
        ("word_embeddings", "What each token is"),
        ("position_embeddings", "Where it stands"),
        ("token_type_embeddings", "Which sentence it belongs to"),
        ("sum", "All three added up"),
    ):
        figure, note = tensor_map(view, f"embeddings.{part}", end=end, cells=_CELLS)
        panel(view, f"embeddings.{part}", see, figure, note=f"{note} The same scale for all four maps.".strip(),
              table=_lengths(view, parts) if part == "sum" else "")  # fmt: skip
    for leaf, see in (
        ("LayerNorm.normalized", "The sum, with mean 0 and variance 1 in every row"),
        ("LayerNorm", "What the first layer reads"),
    ):
        figure, note = tensor_map(view, f"embeddings.{leaf}", cells=_CELLS)
        panel(view, f"embeddings.{leaf}", see, figure, note=note)


def _lengths(view: View, parts: list[np.ndarray]) -> str:
    """How long the three vectors and their sum are, token by token, around the chosen one."""
    shown = around(view.chosen.token, _ROWS, len(view.trace.tokens))
    lengths = {name: norms(part[shown.start : shown.stop]).tolist() for name, part in zip(_PARTS, parts, strict=True)}
    longest = max(map(max, lengths.values()))
    color = view.colors.kinds[EMBEDDING]
    columns = [Column(f"length of {name}", values, color, longest) for name, values in lengths.items()]
    return table("token", labels(view.trace, shown), columns, {view.chosen.token - shown.start})


def neighbours(view: View) -> None:
    """The entries whose vectors point most nearly the same way as the chosen token's, or as another entry's."""
    model = view.trace.model
    token_id = _asked(view)
    if token_id is None:
        return
    name, found = model.tokenizer.token(token_id), vocabulary.nearest(model, token_id, _NEAREST)
    if not found:
        st.info(f"The vector of “{literal(name)}” is all zeros, so it points nowhere and has no neighbours.")
        return
    cosines = np.array([entry.cosine for entry in found])
    size, words = model.config.vocab_size, [f"{entry.token}  {entry.id}" for entry in found]
    figure = bars(cosines, words, view.colors, view.colors.kinds[EMBEDDING], name="cosine", share=cosines.min() >= 0)
    derived(
        view, "neighbours", f"Nearest to “{name}” among {size:,} entries", figure,
        Origin(vocabulary.WORDS, EMBEDDING, _cosine(view),
               "Every entry of the vocabulary has one row. The cosine compares directions and leaves lengths aside: 1 "
               "is the same direction, 0 a right angle. These rows know no sentence: they are the same in every text.",
               _worked(vocabulary.length(model, token_id), found[0])),
        values=Values(np.array([[entry.id, entry.cosine, entry.product, entry.length] for entry in found]),
                      [entry.token for entry in found], ["id", "cosine", "product", "length"]),
        note=f"Entries with their ids, nearest first, without “{literal(name)}” itself (id {token_id})." +
             (" It stands for no word of its own; try a word." if name in model.tokenizer.special_tokens else ""),
    )  # fmt: skip


def _asked(view: View) -> int | None:
    """The entry whose neighbours are asked for: as typed, otherwise the chosen token."""
    name = st.text_input(
        "Another entry of the vocabulary (optional)", key="entry", bind="query-params", max_chars=100, width=340,
        placeholder=f"as chosen: {view.trace.tokens[view.chosen.token]}",
    ).strip()  # fmt: skip
    if not name:
        return view.trace.encoding.ids[view.chosen.token]
    tokenizer = view.trace.model.tokenizer
    try:
        pieces = tokenizer.pieces(name)
    except InputError as error:
        st.info(literal(str(error)))
        return None
    entry = tokenizer.id(name)
    if entry is None and len(pieces) == 1:
        entry = pieces[0]
    if entry is None:
        cut = f"the tokenizer cuts it into {', '.join(map(tokenizer.token, pieces))}" if pieces else "nothing is left"
        st.info(literal(f"“{name}” is no entry of the vocabulary: {cut}. Type one of its pieces, such as ##ing."))
    return entry


def _cosine(view: View) -> str:
    a, b = (rf"\textcolor{{{view.colors.kinds[EMBEDDING]}}}{{w_{{{letter}}}}}" for letter in "ab")
    return (
        rf"\begin{{aligned}} \cos({a}, {b}) &= \frac{{{a} \cdot {b}}}{{\lVert {a} \rVert\, \lVert {b} \rVert}} "
        rf"\\ {a} &= W_{{\mathrm{{word}}}}[a, :] \end{{aligned}}"
    )


def _worked(own_length: float, best: vocabulary.Neighbour) -> str:
    """The nearest neighbour's cosine with its numbers."""
    below = rf"{latex_number(own_length)} \cdot {latex_number(best.length)}"
    return (
        rf"\cos(w_a, w_{{{best.id}}}) = \frac{{{latex_number(best.product)}}}{{{below}}} = {latex_number(best.cosine)}"
    )
