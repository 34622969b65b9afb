"""The embeddings on screen: three vectors for one token and for all, and who is near in the vocabulary matrix."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.ranking import center_range
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_strips, draw_tensor, find_robust_limit
from bertviz_core.ui.panels.derived import Origin, Values, show_derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.tables import Column, render_table

_PARTS = {"word": Address("embeddings.word_embeddings"), "position": Address("embeddings.position_embeddings"),
          "segment": Address("embeddings.token_type_embeddings"), "sum": Address("embeddings.sum")}  # fmt: skip
_NORM = Address("embeddings.LayerNorm")
_CELLS = 5_000
_ROWS = 24  # of the table of lengths
_NEAREST = 10


def show_token(view: View) -> None:
    """The chosen token's three vectors and their sum on one scale; then the sum beside what LayerNorm makes of it."""
    token = view.chosen.token
    show_panel(
        view, _PARTS["sum"].fix(token=token),
        f"Sum of three embeddings: “{view.trace.tokens[token]}” at position {token}",
        draw_strips(view, list(_PARTS.values()), list(_PARTS)).offer(
            picks.pick_vectors(view.trace, [part.fix(token=token) for part in _PARTS.values()])),
        note="One row per vector, one column per component, all on one scale. In every column the last "
             "row is the sum of the three above it.",
    )  # fmt: skip
    rows = [_PARTS["sum"], _NORM.enter("normalized"), _NORM]
    before, _, after = (view.trace[row.fix(token=token)].std() for row in rows)
    show_panel(
        view, _NORM.fix(token=token), "LayerNorm of the sum",
        draw_strips(view, rows, ("sum", "normalized", "LayerNorm")).offer(
            picks.pick_vectors(view.trace, [row.fix(token=token) for row in rows])),
        note=f"The same columns, on one scale. LayerNorm changes the standard deviation of the components from "
             f"{format_number(float(before))} in the sum to 1; γ and β change it to {format_number(float(after))}.",
    )  # fmt: skip
    show_moments(view, _NORM)


def show_all_tokens(view: View) -> None:
    """The same for every token: three look-ups and their sum on one scale, then LayerNorm."""
    parts = [view.trace[part] for part in _PARTS.values()]
    end = find_robust_limit(np.stack(parts))
    for part, see in (
        ("word", "Word embeddings"),
        ("position", "Position embeddings"),
        ("segment", "Segment embeddings"),
        ("sum", "Sum of the three embeddings"),
    ):
        figure, note = draw_tensor(view, _PARTS[part], end=end, cells=_CELLS)
        show_panel(view, _PARTS[part], see, figure, note=f"{note} The same scale for all four maps.".strip(),
                   table=_render_lengths(view, parts) if part == "sum" else "")  # fmt: skip
    for address, see in (
        (_NORM.enter("normalized"), "Normalized sum: mean 0 and variance 1 in every row"),
        (_NORM, "LayerNorm output: the input of layer 0"),
    ):
        figure, note = draw_tensor(view, address, cells=_CELLS)
        show_panel(view, address, see, figure, note=note)


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
        st.info(f"The embedding of “{escape_markdown(name)}” is all zeros: it has no direction and so no neighbours.")
        return
    cosines = np.array([entry.cosine for entry in found])
    size, words = model.config.vocab_size, [f"{entry.token}  {entry.id}" for entry in found]
    figure = draw_bars(cosines, words, view.colors, view.colors.kinds[EMBEDDING], name="cosine",
                       ends=SHARES if cosines.min() >= 0 else None)  # fmt: skip
    show_derived(
        view, "neighbours", f"Nearest to “{name}” among {size:,} word embeddings", figure,
        Origin(vocabulary.WORDS, EMBEDDING, _write_cosine(view),
               "Every vocabulary entry has one row. The cosine compares directions and ignores lengths: 1 "
               "is the same direction, 0 is orthogonal. A word embedding is the same in every sentence.",
               _write_worked(vocabulary.measure_length(model, token_id), found[0])),
        values=Values(np.array([[entry.id, entry.cosine, entry.product, entry.length] for entry in found]),
                      [entry.token for entry in found], ["id", "cosine", "product", "length"]),
        note=f"Entries with their ids, nearest first, without “{escape_markdown(name)}” itself (id {token_id})." +
             (" It is a special token; try a word." if name in model.tokenizer.special_tokens else ""),
    )  # fmt: skip


def _read_entry(view: View) -> int | None:
    """The entry whose neighbours are asked for: as typed, otherwise the chosen token."""
    state.bind("entry", "")
    name = st.text_input(
        "Another vocabulary entry (optional)", key="entry", max_chars=100, width=340,
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
        cut = f"the tokenizer splits it into {', '.join(map(tokenizer.token, pieces))}" if pieces else "nothing is left"
        st.info(
            escape_markdown(f"“{name}” is not a single vocabulary entry: {cut}. Type one of its pieces, such as ##ing.")
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
