"""The embeddings on screen: three vectors for one token and for all, and who is near in the vocabulary matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.add_norm import is_normal
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.ranking import center_range
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.figures.strips import Strip, draw_enlarged_strips
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.follow import follow
from bertviz_core.ui.frame.keys import COMPONENT, Key
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens, quote
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.charts import draw_strips, draw_tensor, find_robust_limit
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.embeddings_said import (
    NORM,
    PARTS,
    find_ringed,
    measure_length,
    read_component,
    tell_component,
    tell_deviation,
    tell_ringed,
)

_CELLS = 5_000
_ROWS = 24  # of the table of lengths
_WINDOW = 7  # components with their numbers
_TITLES = {
    "word": "All tokens: word embeddings", "position": "All tokens: position embeddings",
    "segment": "All tokens: segment embeddings", "sum": "All tokens: sum of the three embeddings",
    "normalized": "All tokens: normalized sum", "embedding": "All tokens: LayerNorm output",
}  # fmt: skip
_NEAREST = 10
_VECTORS = Key("vectors", "word")
_ENTRY = Key("entry", "")


@derived
def show_token(view: View, component: int, reason: str) -> Derived:
    """The chosen token's three rows, their sum, and what LayerNorm makes of it: component by component."""
    trace, token = view.trace, view.chosen.token
    total = trace[PARTS["sum"].fix(token=token)]
    parts = {**PARTS, "normalized": NORM.enter("normalized"), "embedding": NORM}
    cell = NORM.fix(token=token, hidden=component)
    values = np.stack([trace[part.fix(token=token)] for part in parts.values()])
    return Derived(
        "three-rows", f"{name_token(trace.tokens, token)}: three rows, added and normalized",
        draw_enlarged_strips(_make_strips(view, parts, values), center_range(component, _WINDOW, len(total)), component,
                             view.colors),
        Origin(", ".join(str(part.fix(token=token)) for part in (PARTS["sum"], NORM)), EMBEDDING,
               rf"\begin{{aligned}} & {view.typeset(trace.step(PARTS['sum']))} \\ & "
               rf"{view.typeset(trace.step(NORM))} \end{{aligned}}",
               tell_component(view).text,
               trace.explain(cell).latex),
        values=Values(values.T, [f"component {i}" for i in range(len(total))], list(parts)),
        note=f"{reason} {_write_scales(values)}", start=cell, beside=lambda: _show_beside(view, parts, component),
    )  # fmt: skip


def choose_component(view: View) -> tuple[int, str]:
    """The component that is ringed, and why it is this one: chosen, or where the sum is largest."""
    for part in (*PARTS.values(), NORM.enter("normalized"), NORM):
        follow(part.fix(token=view.chosen.token), "hidden", COMPONENT)
    remarks: list[str] = []
    asked = read_component(view, remarks)
    for remark in remarks:
        st.info(remark, icon=":material/info:")
    if asked is not None:
        return asked, f"Ringed: component {asked}."
    return find_ringed(view), tell_ringed(view).text


def _find_ends(values: np.ndarray) -> tuple[float, float]:
    """Where colours are full: of the three rows and their sum, and of what LayerNorm makes of it."""
    return find_robust_limit(values[:4]), find_robust_limit(values[4:])


def _write_scales(values: np.ndarray) -> str:
    rows, normed = map(format_number, _find_ends(values))
    return f"Full colour: ±{rows} for the three rows and their sum, ±{normed} for normalized and embedding."


def _make_strips(view: View, parts: Mapping[str, Address], values: np.ndarray) -> list[Strip]:
    """Two scales: of the rows and their sum, and of what LayerNorm makes of it."""
    rows, normed = _find_ends(values)
    ends = [rows] * 4 + [normed] * 2
    cells = picks.pick_vectors(view.trace, [part.fix(token=view.chosen.token) for part in parts.values()])
    signs = ("", "+ ", "+ ", "= ", "", "")
    return [Strip(f"{sign}{name}", row, end, cell, EMBEDDING)
            for sign, name, row, end, cell in zip(signs, parts, values, ends, cells, strict=True)]  # fmt: skip


def _show_beside(view: View, parts: Mapping[str, Address], component: int) -> None:
    """Every row's length and its number at the ringed component, γ and β there, and a field to ring another one."""
    cells = {name: part.fix(token=view.chosen.token, hidden=component) for name, part in parts.items()}
    last = cells.popitem()
    cells |= {"γ": NORM.enter("weight").fix(hidden=component), "β": NORM.enter("bias").fix(hidden=component)}
    cells |= [last]
    table, other = st.columns([3, 2], gap="small", vertical_alignment="bottom")
    with table:
        show_passes_html(view, [_render_beside(one, parts, cells, component) for one in view.passes])
    other.text_input("Ring another component", key=COMPONENT.name, placeholder="where the sum is largest")


def _render_beside(view: View, parts: Mapping[str, Address], cells: Mapping[str, Address], component: int) -> str:
    columns = [
        Column("length", [measure_length(view, parts[name]) if name in parts else None for name in cells]),
        Column(f"component {component}", [float(view.trace[cell]) for cell in cells.values()]),
    ]
    return render_table("row", list(cells), columns, opens=("cell", list(cells.values())))


def show_all_tokens(view: View, component: int) -> None:
    """One map of all tokens with a switch: the three look-ups and their sum on one scale, then LayerNorm.

    component: the ringed one, which is worked out.
    """
    maps = {**PARTS, "normalized": NORM.enter("normalized"), "embedding": NORM}
    url.bind(_VECTORS, maps)
    name = state.read(_VECTORS)
    end = find_robust_limit(np.stack([view.trace[part] for part in PARTS.values()])) if name in PARTS else None
    figure, note = draw_tensor(view, maps[name], end=end, cells=_CELLS)
    scale = "The same scale for word, position, segment and sum." if name in PARTS else ""
    told = f"{_write_finding(view, name)} {note} {scale}".strip()
    show_panel(view, maps[name], _TITLES[name], figure, at={"hidden": component}, note=told,
               switch=lambda: st.segmented_control("Vectors", list(maps), key=_VECTORS.name, required=True,
                                                   label_visibility="collapsed"))  # fmt: skip


def _write_finding(view: View, name: str) -> str:
    """What one map shows of this sentence."""
    encoding = view.trace.encoding
    tokens = [encoding.tokens[i] for i in encoding.real]
    put = tell_put(view, PARTS[name]) if name in PARTS else ""
    if name == "word" and (told := _tell_repeated(view, tokens)):
        return f"{told}{put}"
    if name == "position" and np.array_equal(view.trace["position_ids"], np.arange(len(encoding))):
        return f"Row 0 to row {len(encoding) - 1} of the table, whatever the tokens are.{put}"
    if name == "segment":
        rows = len({encoding.segments[i] for i in encoding.real})
        return f"{rows} different {'rows' if rows > 1 else 'row'} for {len(tokens)} tokens.{put}"
    if name == "normalized" and is_normal(view.trace[NORM.enter(name)][list(encoding.real)]):
        return "Mean 0 and variance 1 in every row."
    return "The input of layer 0." if name == "embedding" else ""


def _tell_repeated(view: View, tokens: Sequence[str]) -> str:
    """A token that stands more than once, the chosen one before others, and its one row; nothing without."""
    encoding = view.trace.encoding
    repeated = [token for token in dict.fromkeys([encoding.tokens[view.chosen.token], *tokens])
                if tokens.count(token) > 1]  # fmt: skip
    if not repeated:
        return ""
    token = repeated[0]
    count, row = tokens.count(token), encoding.ids[encoding.tokens.index(token)]
    others = f" It is one of {len(repeated)} tokens that repeat." if len(repeated) > 1 else ""
    return f"{quote(token)} stands at {count} positions: the same row, {row}.{others}"


def show_lengths(view: View, component: int) -> None:
    """How long the vectors are, token by token; and LayerNorm's part of it. component: the ringed one."""
    with open_card(view, EMBEDDING, "How long the three rows and their sum are", ", ".join(map(str, PARTS.values()))):
        show_passes_html(view, [_render_lengths(one) for one in view.passes])
    token = view.chosen.token
    rows = [PARTS["sum"], NORM.enter("normalized"), NORM]
    show_panel(
        view, NORM.fix(token=token), "LayerNorm of the sum",
        draw_strips(view, rows, ("sum", "normalized", "LayerNorm")).offer(
            picks.pick_vectors(view.trace, [row.fix(token=token) for row in rows])),
        at={"hidden": component},
        note=f"The same columns, on one scale. {tell_deviation(view)}",
    )  # fmt: skip
    show_moments(view, NORM)


def _render_lengths(view: View) -> str:
    """How long the three vectors and their sum are, token by token, around the chosen one."""
    shown = center_range(view.chosen.token, _ROWS, len(view.trace.tokens))
    lengths = {name: compute_norms(view.trace[part][shown.start : shown.stop]).tolist() for name, part in PARTS.items()}
    longest = max(map(max, lengths.values()))
    color = view.colors.kinds[EMBEDDING]
    columns = [Column(f"length of {name}", values, color, longest) for name, values in lengths.items()]
    return render_table("token", label_tokens(view.trace, shown), columns, {view.chosen.token - shown.start})


def show_neighbours(view: View) -> None:
    """The entries whose vectors point most nearly the same way as the chosen token's, or as another entry's."""
    token_id = _read_entry(view)
    if token_id is None:
        return
    if vocabulary.find_nearest(view.trace.model, token_id, _NEAREST):
        _show_nearest(view, token_id)
        return
    name = escape_markdown(view.trace.model.tokenizer.name(token_id))
    st.info(f"The embedding of “{name}” is all zeros: it has no direction and so no neighbours.")


@derived
def _show_nearest(view: View, token_id: int) -> Derived:
    model = view.trace.model
    name, found = model.tokenizer.name(token_id), vocabulary.find_nearest(model, token_id, _NEAREST)
    cosines = np.array([entry.cosine for entry in found])
    size, words = model.config.vocab_size, [f"{entry.token}  {entry.id}" for entry in found]
    figure = draw_bars(cosines, words, view.colors, view.colors.kinds[EMBEDDING], name="cosine",
                       ends=SHARES if cosines.min() >= 0 else None)  # fmt: skip
    return Derived(
        "neighbours", f"Nearest to “{name}” among {size:,} word embeddings", figure,
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
    url.bind(_ENTRY)
    name = st.text_input(
        "Another vocabulary entry (optional)", key=_ENTRY.name, max_chars=100, width=340,
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
