"""The embeddings on screen: three vectors for one token and for all, and who is near in the vocabulary matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.ranking import center_range
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Figure
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_strips, draw_tensor, find_robust_limit
from bertviz_core.ui.panels.derived import Origin, Values, show_derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.tables import Column, render_table

_PARTS = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings",
          "sum": "sum"}  # fmt: skip
_CELLS = 5_000
_ROWS = 24  # of the table of lengths
_NEAREST = 10


def show_token(view: View) -> None:
    """The chosen token's three vectors and their sum on one scale; then the sum beside what LayerNorm makes of it."""
    token = view.chosen.token
    show_panel(
        view, f"embeddings.sum[token={token}]",
        f"Three vectors make one: “{view.trace.tokens[token]}” at position {token}",
        _draw_strips(draw_strips(view, [f"embeddings.{part}" for part in _PARTS.values()]), _PARTS),
        note="One row a vector, one column a component, all on one scale. Columns can be followed by eye from row to "
             "row: the last row sums the three above it.",
        cells=picks.pick_vectors(view.trace, [f"embeddings.{part}[token={token}]" for part in _PARTS.values()]),
    )  # fmt: skip
    leaves = ("sum", "LayerNorm.normalized", "LayerNorm")
    before, _, after = (view.trace[f"embeddings.{leaf}[token={token}]"].std() for leaf in leaves)
    show_panel(
        view, f"embeddings.LayerNorm[token={token}]", "LayerNorm brings the sum to a fixed size",
        _draw_strips(draw_strips(view, [f"embeddings.{leaf}" for leaf in leaves]), ("sum", "normalized", "LayerNorm")),
        note=f"The same columns, again on one scale. The standard deviation of the components goes from "
             f"{format_number(float(before))} in the sum to 1; gamma and beta make it {format_number(float(after))}.",
        cells=picks.pick_vectors(view.trace, [f"embeddings.{leaf}[token={token}]" for leaf in leaves]),
    )  # fmt: skip
    show_moments(view, Address("embeddings.LayerNorm"))


def _draw_strips(figure: Figure, names: Iterable[str]) -> Figure:
    """Strips under shorter names, which leave more room on a phone."""
    return figure.update_yaxes(ticktext=list(names))


def show_all_tokens(view: View) -> None:
    """The same for every token: three look-ups and their sum on one scale, then LayerNorm."""
    parts = [view.trace[f"embeddings.{part}"] for part in _PARTS.values()]
    end = find_robust_limit(np.stack(parts))
    for part, see in (
        ("word_embeddings", "What each token is"),
        ("position_embeddings", "Where it stands"),
        ("token_type_embeddings", "Which sentence it belongs to"),
        ("sum", "All three added up"),
    ):
        figure, note = draw_tensor(view, f"embeddings.{part}", end=end, cells=_CELLS)
        show_panel(view, f"embeddings.{part}", see, figure, note=f"{note} The same scale for all four maps.".strip(),
                   table=_render_lengths(view, parts) if part == "sum" else "")  # fmt: skip
    for leaf, see in (
        ("LayerNorm.normalized", "The sum, with mean 0 and variance 1 in every row"),
        ("LayerNorm", "What the first layer reads"),
    ):
        figure, note = draw_tensor(view, f"embeddings.{leaf}", cells=_CELLS)
        show_panel(view, f"embeddings.{leaf}", see, figure, note=note)


def _render_lengths(view: View, parts: list[np.ndarray]) -> str:
    """How long the three vectors and their sum are, token by token, around the chosen one."""
    shown = center_range(view.chosen.token, _ROWS, len(view.trace.tokens))
    lengths = {
        name: compute_norms(part[shown.start : shown.stop]).tolist() for name, part in zip(_PARTS, parts, strict=True)
    }
    longest = max(map(max, lengths.values()))
    color = view.colors.kinds[EMBEDDING]
    columns = [Column(f"length of {name}", values, color, longest) for name, values in lengths.items()]
    return render_table("token", label_tokens(view.trace, shown), columns, {view.chosen.token - shown.start})


def show_neighbours(view: View) -> None:
    """The entries whose vectors point most nearly the same way as the chosen token's, or as another entry's."""
    model = view.trace.model
    token_id = _read_entry(view)
    if token_id is None:
        return
    name, found = model.tokenizer.token(token_id), vocabulary.find_nearest(model, token_id, _NEAREST)
    if not found:
        st.info(f"The vector of “{escape_markdown(name)}” is all zeros, so it points nowhere and has no neighbours.")
        return
    cosines = np.array([entry.cosine for entry in found])
    size, words = model.config.vocab_size, [f"{entry.token}  {entry.id}" for entry in found]
    figure = draw_bars(
        cosines, words, view.colors, view.colors.kinds[EMBEDDING], name="cosine", share=cosines.min() >= 0
    )
    show_derived(
        view, "neighbours", f"Nearest to “{name}” among {size:,} entries", figure,
        Origin(vocabulary.WORDS, EMBEDDING, _write_cosine(view),
               "Every entry of the vocabulary has one row. The cosine compares directions and leaves lengths aside: 1 "
               "is the same direction, 0 a right angle. These rows know no sentence: they are the same in every text.",
               _write_worked(vocabulary.measure_length(model, token_id), found[0])),
        values=Values(np.array([[entry.id, entry.cosine, entry.product, entry.length] for entry in found]),
                      [entry.token for entry in found], ["id", "cosine", "product", "length"]),
        note=f"Entries with their ids, nearest first, without “{escape_markdown(name)}” itself (id {token_id})." +
             (" It stands for no word of its own; try a word." if name in model.tokenizer.special_tokens else ""),
    )  # fmt: skip


def _read_entry(view: View) -> int | None:
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
        st.info(escape_markdown(str(error)))
        return None
    entry = tokenizer.id(name)
    if entry is None and len(pieces) == 1:
        entry = pieces[0]
    if entry is None:
        cut = f"the tokenizer cuts it into {', '.join(map(tokenizer.token, pieces))}" if pieces else "nothing is left"
        st.info(
            escape_markdown(f"“{name}” is no entry of the vocabulary: {cut}. Type one of its pieces, such as ##ing.")
        )
    return entry


def _write_cosine(view: View) -> str:
    a, b = (rf"\textcolor{{{view.colors.kinds[EMBEDDING]}}}{{w_{{{letter}}}}}" for letter in "ab")
    return (
        rf"\begin{{aligned}} \cos({a}, {b}) &= \frac{{{a} \cdot {b}}}{{\lVert {a} \rVert\, \lVert {b} \rVert}} "
        rf"\\ {a} &= W_{{\mathrm{{word}}}}[a, :] \end{{aligned}}"
    )


def _write_worked(own_length: float, best: vocabulary.Neighbour) -> str:
    """The nearest neighbour's cosine with its numbers."""
    below = rf"{format_latex(own_length)} \cdot {format_latex(best.length)}"
    return (
        rf"\cos(w_a, w_{{{best.id}}}) = \frac{{{format_latex(best.product)}}}{{{below}}} = {format_latex(best.cosine)}"
    )
