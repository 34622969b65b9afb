"""The embeddings on screen: three vectors for one token and for all, and who is near in the vocabulary matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.add_norm import is_normal
from bertviz_core.analysis.labels import center_words, label_tokens, tell_tokens_apart
from bertviz_core.analysis.layers import compute_cosines, compute_norms
from bertviz_core.analysis.ranking import center_range, find_robust_limit
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.figures.heatmap import FRAME, Side, draw_heatmap
from bertviz_core.figures.strips import Strip, draw_enlarged_strips
from bertviz_core.figures.weights import NAMED
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.formula.steps import NORM as NORMALIZED
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.follow import follow
from bertviz_core.ui.frame.keys import COMPONENT, Key
from bertviz_core.ui.frame.labels import escape_markdown, quote
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import draw_strips, draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_shown
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.panels.worked import LENGTH
from bertviz_core.ui.views.embeddings_said import (
    NORM,
    PARTS,
    find_ringed,
    read_component,
    tell_component,
    tell_deviation,
    tell_ringed,
    tell_rows,
)
from bertviz_core.ui.walk.worked_out import pick_cosines

_CELLS = 9_000
_ROWS = 24  # of the table of lengths
_WINDOW = 5  # components with their numbers
ROWS = {**PARTS, "normalized": NORM.enter("normalized"), "embedding": NORM}
_ALIKE, _ROW = 100, 14  # tokens compared with each other, at most; pixels of one
_SQUARE = 270  # pixels: the side of a map of more tokens than can be named
_NEAREST = 10
_VECTORS = Key("vectors", "embedding")
_ENTRY = Key("entry", "", 100)


def show_token(view: View, component: int, reason: str) -> None:
    """The chosen token's three rows, their sum, and what LayerNorm makes of it: component by component."""
    token, cell = view.chosen.token, NORM.fix(token=view.chosen.token, hidden=component)
    steps = [view.trace.step(part) for part in (PARTS["sum"], NORM)]
    heading = Heading(
        f"{name_token(view.trace.tokens, token)}: three rows, added and normalized",
        reason,
        r" \quad ".join(map(view.typeset, steps)),
        steps[0].source,
        cell,
    )
    of = ", ".join(str(part.fix(token=token)) for part in (PARTS["sum"], NORM))
    with open_card(view, EMBEDDING, heading, of, name="three-rows") as tools:
        values = _read_rows(view)
        with tools:
            show_values("three-rows", Values(values.T, [f"component {i}" for i in range(values.shape[1])], list(ROWS)))
        shown = center_range(component, _WINDOW, values.shape[1])
        charts = [draw_enlarged_strips(_make_strips(one), shown, component, view.colors) for one in view.passes]
        show_passes_chart(view, charts, "three-rows", heading.see)
        st.caption(f"{tell_words(view)}{tell_rows(view)}{tell_component(view)}")


def _read_rows(view: View) -> np.ndarray:
    """The chosen token's vectors, (row of ROWS, hidden)."""
    return np.stack([view.trace[part.fix(token=view.chosen.token)] for part in ROWS.values()])


def choose_component(view: View) -> tuple[int, str]:
    """The component that is ringed, and why it is this one: chosen, or where the sum is largest."""
    for part in ROWS.values():
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


def _make_strips(view: View) -> list[Strip]:
    """Two scales: of the rows and their sum, and of what LayerNorm makes of it."""
    values = _read_rows(view)
    rows, normed = _find_ends(values)
    ends, kinds = [rows] * 4 + [normed] * 2, [EMBEDDING] * 4 + [NORMALIZED] * 2
    cells = picks.pick_vectors(view.trace, [part.fix(token=view.chosen.token) for part in ROWS.values()])
    signs = ("", "+ ", "+ ", "= ", "", "")
    named = [f"{sign}{name}" for sign, name in zip(signs, ROWS, strict=True)]
    return [Strip(*strip) for strip in zip(named, values, ends, cells, kinds, strict=True)]


def show_all_tokens(view: View, component: int) -> None:
    """All tokens as maps with a switch, and beside them which of them start alike. component: the ringed one."""
    every, alike = st.columns([7, 5], gap="small")
    with every:
        _show_map(view, component)
    with alike:
        _show_alike(view)


def _show_map(view: View, component: int) -> None:
    """One map of all tokens: the three look-ups and their sum on one scale, or LayerNorm."""
    url.bind(_VECTORS, ROWS)
    name = state.read(_VECTORS)
    end = find_robust_limit(np.stack([view.trace[part] for part in PARTS.values()])) if name in PARTS else None
    figure, note = draw_tensor(view, ROWS[name], end=end, cells=_CELLS, row=_ROW)
    show_panel(
        view,
        ROWS[name],
        "All tokens",
        figure,
        says=_write_finding(view, name),
        at={"hidden": component},
        note=note,
        switch=lambda: st.selectbox("Vectors", list(ROWS), key=_VECTORS.name, label_visibility="collapsed", width=130),
    )


@derived
def _show_alike(view: View) -> Derived:
    """The cosine of every two tokens' vectors, as layer 0 receives them."""
    kept = sorted({*view.trace.encoding.real, view.chosen.token})
    around = center_range(kept.index(view.chosen.token), _ALIKE, len(kept))
    shown, names = kept[around.start : around.stop], label_tokens(view.trace)
    words = tell_tokens_apart(view.trace, shown)
    matrix = compute_cosines(view.trace[NORM][shown])
    whole = shown == list(range(shown[0], shown[-1] + 1))  # no token between them is left out
    first = shown[0] if whole else 0
    sides, many = (Side("token", words, first), Side("", words, first, labelled=False)), len(words) > NAMED
    symbol = view.typeset(view.trace.step(NORM)).partition(" = ")[0]
    pair = (rf"{{{symbol}}}_{{{name}}}" for name in "st")
    return Derived(
        "alike",
        "Who starts alike",
        draw_heatmap(
            matrix,
            *sides,
            view.colors,
            NORMALIZED,
            end=1.0,
            selected=first + shown.index(view.chosen.token),
            height=FRAME + (_SQUARE if many else _ROW * len(words)),
            square=many,
        ).offer(pick_cosines(NORM) if whole else ""),
        Origin(NORM, NORMALIZED, rf"\cos({', '.join(pair)})", "cosine; 1: the same direction"),
        values=Values(matrix, *[[names[i] for i in shown]] * 2),
        note=tell_shown(shown, len(kept)),
    )


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
    repeated = [
        token for token in dict.fromkeys([encoding.tokens[view.chosen.token], *tokens]) if tokens.count(token) > 1
    ]
    if not repeated:
        return ""
    token = repeated[0]
    count, row = tokens.count(token), encoding.ids[encoding.tokens.index(token)]
    others = f" It is one of {len(repeated)} tokens that repeat." if len(repeated) > 1 else ""
    return f"{quote(token)} stands at {count} positions: the same row, {row}.{others}"


def show_lengths(view: View, component: int) -> None:
    """How long the vectors are, token by token; and LayerNorm's part of it. component: the ringed one."""
    heading = Heading("How long the three rows and their sum are", "", LENGTH)
    with open_card(view, EMBEDDING, heading, ", ".join(map(str, PARTS.values()))):
        show_passes_html(view, [_render_lengths(one) for one in view.passes])
        if part := tell_listed(view):
            st.caption(part)
    token = view.chosen.token
    rows = [PARTS["sum"], NORM.enter("normalized"), NORM]
    show_panel(
        view,
        NORM.fix(token=token),
        "LayerNorm of the sum",
        draw_strips(view, rows, ("sum", "normalized", "LayerNorm")).offer(
            picks.pick_vectors(view.trace, [row.fix(token=token) for row in rows])
        ),
        at={"hidden": component},
        note=f"The same columns, on one scale. {tell_deviation(view)}",
    )
    show_moments(view, NORM)


def tell_listed(view: View) -> str:
    """Which tokens have a row in the table of lengths; nothing where all have."""
    shown, count = _choose_rows(view), len(view.trace.tokens)
    return f"Shown: tokens {shown.start}–{shown.stop - 1} of {count}." if len(shown) < count else ""


def _choose_rows(view: View) -> range:
    return center_words(view.trace, view.chosen.token, _ROWS)


def _render_lengths(view: View) -> str:
    """How long the three vectors and their sum are, token by token, around the chosen one."""
    shown = _choose_rows(view)
    lengths = {name: compute_norms(view.trace[part][shown.start : shown.stop]).tolist() for name, part in PARTS.items()}
    longest = max(map(max, lengths.values()))
    color = view.colors.kinds[EMBEDDING]
    columns = [Column(f"length of {name}", values, color, longest) for name, values in lengths.items()]
    return render_table("token", tell_tokens_apart(view.trace, shown), columns, {view.chosen.token - shown.start})


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
    figure = draw_bars(
        cosines,
        words,
        view.colors,
        view.colors.kinds[EMBEDDING],
        name="cosine",
        ends=SHARES if cosines.min() >= 0 else None,
    )
    return Derived(
        "neighbours",
        f"Nearest to “{name}” among {size:,} word embeddings",
        figure,
        Origin(
            vocabulary.WORDS,
            EMBEDDING,
            _write_cosine(view),
            "Every vocabulary entry has one row. The cosine compares directions and ignores lengths: 1 "
            "is the same direction, 0 is orthogonal. A word embedding is the same in every sentence.",
            _write_worked(vocabulary.measure_length(model, token_id), found[0]),
        ),
        values=Values(
            np.array([[entry.id, entry.cosine, entry.product, entry.length] for entry in found]),
            [entry.token for entry in found],
            ["id", "cosine", "product", "length"],
        ),
        note=f"Entries with their ids, nearest first, without “{escape_markdown(name)}” itself (id {token_id})."
        + (" It is a special token; try a word." if name in model.tokenizer.special_tokens else ""),
    )


def _read_entry(view: View) -> int | None:
    """The entry whose neighbours are asked for: as typed, otherwise the chosen token."""
    url.bind(_ENTRY)
    name = st.text_input(
        "Another vocabulary entry (optional)",
        key=_ENTRY.name,
        max_chars=_ENTRY.longest,
        width=340,
        placeholder=f"as chosen: {view.trace.tokens[view.chosen.token]}",
    ).strip()
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
