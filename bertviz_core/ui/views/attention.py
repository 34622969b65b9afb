"""Attention weights: one head's matrix and lines, one row from dot products to weights, the maps of all tokens."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.attention import find_block_maxima, list_counted, locate_block_maxima
from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.analysis.heads import are_shares, measure_entropy
from bertviz_core.analysis.labels import center_words, label_tokens, name_masked, tell_tokens_apart
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.openings import find_other_words, open_key
from bertviz_core.analysis.ranking import MASKED, rank_top
from bertviz_core.analysis.token_lines import Links, choose_strongest
from bertviz_core.figures.base import Chart
from bertviz_core.figures.weights import (
    draw_overview,
    draw_square,
    draw_weights,
    has_room,
    measure_row,
    measure_top,
    write_shares,
)
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_short, write_column
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import KEY_TOKEN
from bertviz_core.ui.frame.labels import escape_markdown, read_escaped
from bertviz_core.ui.frame.lesson import is_covered
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import render_text
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.aligned import Numbers, show_rows
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.looks import tell_hardest
from bertviz_core.ui.panels.moved import draw_difference_chart, show_moved
from bertviz_core.ui.panels.panel import open_step_card, show_panel
from bertviz_core.ui.panels.passes import (
    read_ghost,
    show_passes,
    show_passes_chart,
    tell_ghosts,
    tell_pass,
    tell_words,
)
from bertviz_core.ui.panels.put import tell_way
from bertviz_core.ui.panels.said import tell_percent, tell_token
from bertviz_core.ui.panels.token_lines import show_lines, tell_no_lines
from bertviz_core.ui.views.attention_row import WHOLE, WINDOW, is_square
from bertviz_core.ui.views.attention_said import is_usual, name_key, tell_rows, tell_undivided
from bertviz_core.ui.views.attention_worked import (
    choose_shown,
    locate,
    note_shown,
    read_ghosts,
    read_row,
    read_word,
    tell_replaced,
)
from bertviz_core.ui.walk.worked_out import find_entropy

BLOCKS = 64  # on each side of the overview of a long input
STRONGEST = 5  # keys of each query that has lines, where not all tokens are drawn
_SQUARE = 360  # pixels: the side of a map of many tokens
_LOW_ROWS = 6  # keys whose rows a low window shows
_LINES_PAD = 3  # pixels around the lines and their captions
_SEE = {
    "products": "Dot products of every query and every key",
    "scaled": "Scaled scores: the dot products divided by √{width}",
    "scores": "Masked scores: {masked}",
}


def write_headline(view: View) -> Said:
    """Which key the chosen token looks at most; and which one is worked out, where that is another."""
    row, chosen, tokens = read_row(view, "probs"), view.chosen, view.trace.tokens
    counted = list_counted(view.trace)
    said = say("Who looks at whom? ", tell_hardest(row, chosen.token, tokens, counted))
    key, rule = choose_key(view)
    if key == counted[int(row[counted].argmax())] or not row.any():
        return said
    parts = {"weight": tell_percent(row[key]), "key": tell_token(tokens, key)}
    worked = Claim("worked key", "; worked out is **{key}: {weight}**", parts)
    if not rule:
        return say(said, worked)
    words = find_other_words(view.trace, chosen.token)
    among = Relation.LARGEST, row[words], tuple(np.flatnonzero(words == key).tolist())
    form = "; of the other words hardest at **{key}: {weight}**, which is worked out"
    return say(said, choose(Claim("hardest of the other words", form, parts, *among), worked))


def choose_key(view: View) -> tuple[int, str]:
    """The key token that is worked out, and that it is this one, where a rule chose it."""
    named = read_index(KEY_TOKEN, len(view.trace.tokens), "input", [])
    if named is not None:
        return named, ""
    opened = open_key(view.trace, view.chosen.layer, view.chosen.head, view.chosen.token)
    return opened.key, f"Key {opened.shown}"


def show_weights(view: View, key: int) -> None:
    """The chosen head's attention weights as a matrix, and beside it as lines from token to token, of the same tokens;
    where the matrix has more than there can be lines of, that alone."""
    address, see = locate(view, "probs"), "Attention weights"
    chart, note = draw_difference_chart(view, address, ATTENTION) or _draw_weights(view)
    cell = locate(view, "probs", query=view.chosen.token, key=key)
    with open_step_card(view, address, see, _tell_written(view), worked=cell):
        drawn, lines = (st.container(key="square"), None) if is_square(view) else st.columns([13, 7], gap="small")
        with drawn, st.container(gap=None):
            show_chart(chart, str(address), f"{see}: {address}")
            if note := (tell_words(view) + note).strip():
                st.caption(note)
        if lines is not None:
            with lines:
                _show_lines(view)
        show_moved(view, address, cell)


def _choose_window(view: View) -> range:
    """The tokens whose weights are drawn one by one."""
    total = len(view.trace.tokens)
    return center_words(view.trace, view.chosen.token, total if total <= WHOLE else WINDOW)


def _draw_weights(view: View) -> tuple[Chart, str]:
    address, window, token = locate(view, "probs"), _choose_window(view), view.chosen.token
    total, row = len(view.trace.tokens), read_row(view, "probs")
    shown = view.trace[address][window.start : window.stop, window.start : window.stop]
    real = [i - window.start for i in view.trace.encoding.real if i in window]
    end = 1.0 if total <= WHOLE else float(shown[real].max(initial=0.0)) or 1.0
    named = shown, tell_tokens_apart(view.trace, window), window.start, view.colors
    if is_square(view):
        chart = draw_square(*named, end=end, query=token, side=_SQUARE)
    else:
        before = read_ghost(view, address)
        ghosts = None if before is None else before[window.start : window.stop, window.start : window.stop]
        chart = draw_weights(*named, end=end, query=token, texts=write_shares(row, window), ghosts=ghosts)
    weights = view.trace[address]
    note = "" if is_usual(weights) else f"{tell_rows(weights)} "
    if has_room(total):
        note += tell_ghosts(read_ghost(view, address))
    if total > WHOLE:
        note += (
            f"Shown: tokens {window.start}–{window.stop - 1} of {total}; the colours end at the largest weight among "
            f"them, {format_number(end)}."
        )
    return chart.offer(picks.pick_matrix(view.trace, address)), note.strip()


def _tell_written(view: View) -> str:
    """What each row is; and in what the numbers in the chosen one are."""
    percent = f"; in that of {read_word(view)} percent" if has_room(len(_choose_window(view))) else ""
    return f"each row sums to 1{percent}" if is_usual(view.trace[locate(view, "probs")]) else ""


def _show_lines(view: View) -> None:
    """The same weights as lines; of many tokens those around the chosen one."""
    trace = view.trace
    weights, few = trace[locate(view, "probs")], len(trace.tokens) <= WINDOW
    shown = choose_strongest(
        weights, [not real for real in trace.encoding.mask], view.chosen.token, WINDOW, WINDOW if few else STRONGEST
    )
    full = 1.0 if len(trace.tokens) <= WHOLE else float(np.nanmax(shown.weights, initial=0.0)) or 1.0
    row = measure_row(len(shown.queries))
    top = measure_top(tell_tokens_apart(trace, _choose_window(view))) - row - _LINES_PAD
    show_lines(view, shown, of=locate(view, "probs"), full=full, top=top, row=row)
    said = tell_pass(view)
    nothing = tell_no_lines(weights, dashed=True)
    if not few and not nothing:
        said += (
            f"Lines: of {len(shown.queries)} queries around {escape_markdown(read_word(view))}, "
            f"{tell_drawn(shown, weights)}. "
            f"Fully dark: a weight of {format_number(full)}."
        )
    said += nothing
    if said:
        st.caption(said)


def tell_drawn(shown: Links, weights: np.ndarray) -> str:
    """Which of each query's weights (query, key) are drawn: its largest, unless some lie on keys for which there is no
    room; of equal ones the first."""
    drawn = (~np.isnan(shown.weights)).sum(axis=1)
    largest = np.sort(weights[shown.queries], axis=1)[:, ::-1]
    tied = largest.shape[1] > STRONGEST and (largest[:, STRONGEST - 1] == largest[:, STRONGEST]).any()
    first = ", of equal ones the first" if tied else ""
    if (drawn == STRONGEST).all():
        return f"the {STRONGEST} largest weights each{first}"
    return f"those of the {STRONGEST} largest weights each{first} that lie on {len(shown.keys)} keys"


def show_overview(view: View) -> None:
    """Of a long input all tokens at once, block by block; nothing where the weights are drawn whole."""
    count, address = len(view.trace.tokens), locate(view, "probs")
    if count <= WHOLE:
        return
    side, step = find_block_maxima(view.trace[address], BLOCKS)[1], view.trace.step(address)
    heading = Heading(f"All {count} tokens", "framed: what is drawn at the left", view.typeset(step))
    with open_card(view, ATTENTION, heading, address, name="weights-overview"):
        charts = [_draw_overview(one) for one in view.passes]
        show_passes_chart(view, charts, "weights-overview", f"Overview of all {count} tokens")
        st.caption(f"The largest weight of each block of {side} × {side}; choose one, and it is explained.")


def _draw_overview(view: View) -> Chart:
    address = locate(view, "probs")
    weights = view.trace[address]
    blocks, side = find_block_maxima(weights, BLOCKS)
    places = locate_block_maxima(weights, side)
    chart = draw_overview(blocks, places, side, _choose_window(view), view.colors, float(blocks.max()) or 1.0)
    return chart.offer(picks.pick_placed(address))


def show_steps(view: View, key: int, which: str) -> None:
    """The chosen query's row from dot product to attention weight; a click on a key's name works that one out."""
    shown, word = choose_shown(view, key), read_word(view)
    rows = {name: read_row(view, name) for name in ("products", "scaled", "scores", "probs")}
    steps = [view.trace.step(locate(view, name)) for name in rows]
    heading = Heading(
        f"How {word} divides its attention",
        name_key(which),
        r" \quad ".join(map(view.typeset, steps)),
        steps[-1].source,
    )
    with open_card(view, ATTENTION, heading, locate(view, "probs", query=view.chosen.token)) as tools:
        show_passes(view, lambda one: _show_steps(one, shown, key))
        ghosts = tell_ghosts(*read_ghosts(view).values())
        if told := f"{tell_words(view)}{ghosts}{note_shown(view, shown)}{tell_replaced(view)}".strip():
            st.caption(told)
        with tools:
            show_values(
                f"steps-{locate(view, 'probs', query=view.chosen.token)}",
                Values(np.stack(list(rows.values()), axis=1), label_tokens(view.trace), list(rows)),
            )


def _show_steps(view: View, shown: list[int], key: int) -> None:
    rows = {name: read_row(view, name) for name in ("products", "scaled", "scores", "probs")}
    first = [shown[i] for i in rank_top(rows["probs"][shown], _LOW_ROWS)]
    show_rows(view.trace, "key", shown, _list_steps(view, shown, rows), key, first)
    undivided = "" if is_covered("headline") else read_escaped(str(tell_undivided(view)))
    if told := " ".join(filter(None, (_render_entropy(view), render_text(undivided)))):
        st.html(f'<p class="bv-faint bv-below">{told}</p>')


def _render_entropy(view: View) -> str:
    """How widely the row's attention is spread, as a number to be worked out; "" where it is no share of a whole."""
    row = locate(view, "probs", query=view.chosen.token)
    weights = view.trace[row].astype(np.float64)
    if not are_shares(weights):
        return ""
    bits = format_short(measure_entropy(weights))
    offered = f'<button class="bv-number" data-cell="{escape(str(find_entropy(row)))}">{bits} bits</button>.'
    return f"{render_text('Entropy of the row:')} {offered}"


def _list_steps(view: View, shown: list[int], rows: dict[str, np.ndarray]) -> list[Numbers]:
    """The four steps as columns; the first two on one scale."""
    width, color = view.trace.model.config.head_dim, view.colors.kinds[ATTENTION]
    masked = name_masked(view.trace)
    padded = view.trace.model.tokenizer.pad_id in view.trace.encoding.ids
    none = "none is masked: + 0" if padded else "no padding: + 0"
    mask = f"{masked} {'is' if masked == 'padding' else 'are'} masked out" if masked else none
    part = {name: row[shown] for name, row in rows.items()}
    ghosts = {name: ghost[shown].tolist() for name, ghost in read_ghosts(view).items() if ghost is not None}
    cells = {name: [locate(view, name, query=view.chosen.token, key=i) for i in shown] for name in rows}
    products, scaled, scores, weights = (part[name].tolist() for name in rows)
    end = float(np.abs([*products, *ghosts.get("products", ())]).max()) or 1.0
    row, softmax = locate(view, "probs", query=view.chosen.token), "exp(S) over the sum of all exp(S)"
    ways = {
        "products": f"q · k over {width} components",
        "scaled": f"÷ √{width} = {format_number(width**0.5)}, same scale",
        "scores": mask,
    }
    multiplied, divided, masked = (
        tell_way(view, locate(view, name, query=view.chosen.token), way) for name, way in ways.items()
    )
    return [
        Numbers(
            "1 · Dot product",
            multiplied,
            write_column(products, "short"),
            cells["products"],
            products,
            end,
            color,
            ghosts.get("products", ()),
        ),
        Numbers(
            "2 · Scaled",
            divided,
            write_column(scaled, "short"),
            cells["scaled"],
            scaled,
            end,
            color,
            ghosts.get("scaled", ()),
        ),
        Numbers("3 · Mask", masked, _write_masked(view, cells["scores"], scores), cells["scores"]),
        Numbers(
            "4 · Softmax",
            tell_way(view, row, softmax) if tell_replaced(view) else softmax,
            write_column(weights, "percent"),
            cells["probs"],
            weights,
            1.0,
            color,
            ghosts.get("probs", ()),
        ),
    ]


def _write_masked(view: View, cells: list[Address], scores: list[float]) -> list[str]:
    """The scores after the mask; of those that it takes out, that it does, unless a change put another one there."""
    seen = [
        view.trace.encoding.mask[cell.at["key"]] or (is_put(view.trace, cell) and score > MASKED)
        for cell, score in zip(cells, scores, strict=True)
    ]
    written = iter(write_column([score for score, kept in zip(scores, seen, strict=True) if kept], "short"))
    return [next(written) if kept else "masked out" for kept in seen]


def show_maps(view: View) -> None:
    """Maps of all queries and keys, one for each step before the softmax."""
    width, masked = view.trace.model.config.head_dim, name_masked(view.trace)
    masked = f"{masked} masked out" if masked else "the scaled ones, as nothing is masked out"
    masked = "a change puts some" if is_put(view.trace, locate(view, "scores")) else masked
    for name, see in _SEE.items():
        address = locate(view, name)
        figure, note = draw_tensor(view, address)
        show_panel(
            view,
            address,
            see.format(width=width, masked=masked),
            figure,
            note=f"Rows are queries, columns are keys. {note}".strip(),
        )
