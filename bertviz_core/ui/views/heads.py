"""All heads at once: read once a trace, drawn as one map to choose from; and the chosen one large, with its role."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import WORTH, Ablation
from bertviz_core.analysis.attention import list_counted
from bertviz_core.analysis.claims import Said, say
from bertviz_core.analysis.heads import Summary, find_roles, has_shares, is_silent
from bertviz_core.analysis.labels import center_words, tell_tokens_apart
from bertviz_core.analysis.openings import open_head, open_key
from bertviz_core.figures.base import Chart
from bertviz_core.figures.weights import NAMED, draw_square, draw_weights, has_room, write_shares
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.remember import remember
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.findings import show_finding
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.needed import recall_needed
from bertviz_core.ui.frame.place import choose_place
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import show_note
from bertviz_core.ui.panels import derived, picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import MANY_CELLS
from bertviz_core.ui.panels.head_maps import describe_pooling, read_heads
from bertviz_core.ui.panels.looks import ALL_ZERO, tell_hardest
from bertviz_core.ui.panels.moved import draw_difference_chart
from bertviz_core.ui.panels.panel import format_shape, show_values
from bertviz_core.ui.panels.passes import read_ghost, show_passes, tell_ghosts, tell_pass
from bertviz_core.ui.panels.worth import Worth
from bertviz_core.ui.views import heads_told
from bertviz_core.ui.views.heads_ablation import (
    ask_worth,
    measure_worth,
    read_outcome,
    show_ranking,
    show_words,
    tell_most_needed,
)
from bertviz_core.ui.views.heads_numbers import make_values, render_profile, write_profile, write_rule
from bertviz_core.ui.views.heads_worth import list_marks

NONE = "no role"
_HIGH = 324  # pixels of all rows of the large head

_STYLE = read_css(Path(__file__).with_name("heads.css"))
_map = load_component("head_map")


def write_headline(view: View) -> Said:
    """Which head the answer needs most; of a checkpoint that answers nothing, where the chosen head looks."""
    told = tell_most_needed(view)
    if told.pieces:
        return told
    chosen = view.chosen
    row = view.trace[_find_weights(view).fix(query=chosen.token)]
    looks = tell_hardest(row, chosen.token, view.trace.tokens, list_counted(view.trace))
    return say(f"Which head looks where? In layer {chosen.layer}, head {chosen.head}, ", looks)


def _find_weights(view: View) -> Address:
    return ATTENTION_WEIGHTS.in_layer(view.chosen.layer).fix(head=view.chosen.head)


def show_heads(view: View, all_heads: Summary) -> None:
    """Every head's attention as a small picture, with what it is worth to the answer; the chosen one large, with the
    answer without it and its role; and the heads that matter most."""
    st.html(_STYLE)
    asked = ask_worth(view)
    if asked is None:
        at, row = view.chosen, _find_weights(view).fix(query=view.chosen.token)
        offer_number(row.fix(key=open_key(view.trace, at.layer, at.head, at.token).key))
        _show_cards(view, all_heads, None, None)
    else:
        heads_told.offer(view, read_outcome(view))
        waits = recall_needed(view.outcome.before, view.chosen.token) is None
        show_finding("worth", asked, partial(_draw, view, all_heads, waits))


def _draw(view: View, all_heads: Summary, waits: bool, found: Found[Ablation]) -> None:
    """What is known of it; once that is all, the page opens at the head that is needed most, unless one was chosen.

    waits: whether that was not known yet when the page was drawn: else it would be drawn for it over and over.
    """
    if waits and found.whole and choose_place(view.outcome.before, "heads")[0] != view.chosen:
        st.rerun()
    _show_cards(view, all_heads, found, measure_worth(view, all_heads, found))


def _show_cards(view: View, all_heads: Summary, found: Found[Ablation] | None, worth: Worth | None) -> None:
    with st.container(key="head-cards", gap=None):
        every, one = st.columns([52, 48], gap="small")
        with every:
            _show_map(view, all_heads, worth)
        with one:
            _show_one(view)
        words, role, ranking = st.columns([9, 9, 14], gap="small")
        if found is not None and worth is not None:
            with words:
                show_words(view, worth)
            with ranking:
                show_ranking(view, worth, found)
        with role:
            _show_role(view)


def _show_role(view: View) -> None:
    all_heads = read_heads(view.trace)
    roles = ", ".join(_list_roles(all_heads, view.chosen.layer, view.chosen.head))
    heading = Heading(f"Its role: {roles}", "", write_rule(view, all_heads), "a rule of this app")
    with open_card(view, ATTENTION, heading, _find_weights(view), name="role"):
        show_passes(view, _show_profile)


def _show_profile(view: View) -> None:
    all_heads = read_heads(view.trace)
    at = (view.chosen.layer, view.chosen.head)
    numbers, ghost = all_heads.of(*at), read_ghost(view, _find_weights(view))
    before = read_heads(view.ghost).of(*at) if view.ghost is not None and ghost is not None else None
    st.html(render_profile(numbers, before))
    show_note(f"{tell_ghosts(ghost)}{write_profile(numbers, all_heads.tokens)}")


def _show_one(view: View) -> None:
    address = _find_weights(view)
    chart, note = draw_difference_chart(view, address, ATTENTION) or _draw_one(view, address)
    heading = Heading(
        f"Layer {view.chosen.layer}, head {view.chosen.head}",
        "",
        view.typeset(view.trace.step(address)),
        view.trace.step(address).source,
    )
    with open_card(view, ATTENTION, heading, address, format_shape(view.trace, address), name="head") as tools:
        with st.container(key="square" if len(view.trace.tokens) > NAMED else None):
            show_chart(chart, str(address), f"Attention weights of layer {view.chosen.layer}, head {view.chosen.head}")
        if told := f"{note} {_write_reason(view)}".strip():
            st.caption(told)
        with tools:
            show_values(view.trace, address)


def _draw_one(view: View, address: Address) -> tuple[Chart, str]:
    """The chosen head's weights: with all tokens' names and the chosen one's numbers while these are few; of very many
    the ones around the chosen one."""
    weights, token, count = view.trace[address], view.chosen.token, len(view.trace.tokens)
    shown = center_words(view.trace, token, int(MANY_CELLS**0.5))
    words = tell_tokens_apart(view.trace, shown)
    if count <= NAMED:
        texts = write_shares(weights[token], range(count))
        ghosts = read_ghost(view, address)
        chart = draw_weights(
            weights, words, 0, view.colors, end=1.0, query=token, texts=texts, high=_HIGH, ghosts=ghosts
        )
    else:
        part = weights[shown.start : shown.stop, shown.start : shown.stop]
        chart = draw_square(part, words, shown.start, view.colors, end=1.0, query=token, side=_HIGH)
    missing = f"Shown: tokens {shown.start}–{shown.stop - 1} of {count}." if len(shown) < count else ""
    below = tell_ghosts(read_ghost(view, address)) if has_room(count) else ""
    note = f"{below}{'' if weights.any() else ALL_ZERO} {missing}".strip()
    return chart.offer(picks.pick_matrix(view.trace, address)), note


def _write_reason(view: View) -> str:
    """Why the page opens at this head, where it is the one that the rule chooses; the rule reads the pass unchanged."""
    opened = open_head(view.outcome.before, view.chosen.token)
    if (opened.layer, opened.head) != (view.chosen.layer, view.chosen.head):
        return ""
    before = f"Before {view.outcome.yours}: " if view.outcome.changed and not opened.only else ""
    return f"{before}{escape_markdown(opened.reason)}"


def _show_map(view: View, all_heads: Summary, worth: Worth | None) -> None:
    layers, heads, size, _ = all_heads.pictures.shape
    every, passes = f"All {layers * heads} heads", f"{layers * heads} passes, one head zeroed in each"
    if layers * heads == 1:
        every, passes = "The only head", "1 pass, with that head zeroed"
    notes = remember(
        view.trace, "notes of heads", lambda: tuple(_write_note(all_heads, *at) for at in np.ndindex(layers, heads))
    )
    heading = Heading(every, _tell_worth(worth), WORTH if worth else "", passes if worth else "")
    header = {
        "shape": [layers, heads, size],
        "chosen": [view.chosen.layer, view.chosen.head],
        "notes": [
            [note, worth.write_both(*place) if worth is not None else ""]
            for place, note in zip(np.ndindex(layers, heads), notes, strict=True)
        ],
        "worth": None if worth is None else list_marks(worth, view.colors),
        "ends": [] if worth is None else [worth.write(-worth.end), worth.write(worth.end), worth.unit],
        "scale": view.colors.rise(ATTENTION),
        "negative": view.colors.negative,
        "zero": view.colors.zero,
        "colors": list_colors(view.colors),
    }
    text = json.dumps(header).encode()
    with open_card(view, ATTENTION, heading, _find_weights(view), name="heads") as tools:
        _map(key="head-map", data=len(text).to_bytes(4, "little") + text + all_heads.pictures.tobytes())
        pooled = describe_pooling(all_heads.tokens)
        large = " The large map and the lines show single tokens." if pooled else ""
        if told := f"{tell_pass(view)}{pooled}{large}".strip():
            st.caption(told)
        if worth is not None:
            with tools:
                derived.show_values("head-worth", make_values(worth.of_heads))


def _tell_worth(worth: Worth | None) -> str:
    """What stands below each head's picture."""
    if worth is None:
        return "rows are layers"
    each = "each" if worth.of_heads.size > 1 else "it"
    return f"below {each}, what it is worth to {worth.name}, in {worth.unit}"


def _list_roles(all_heads: Summary, layer: int, head: int) -> list[str]:
    return [role.name for role in find_roles(all_heads.of(layer, head))] or [NONE]


def _write_note(all_heads: Summary, layer: int, head: int) -> str:
    """A head's roles and what they are read from."""
    numbers = all_heads.of(layer, head)
    if is_silent(numbers):
        return f"{NONE}: all its weights are 0"
    if not has_shares(numbers):
        return f"{NONE}: its weights are no shares"
    entropy, most = format_number(numbers["entropy"]), format_number(float(np.log2(all_heads.tokens)))
    return (
        f"{', '.join(_list_roles(all_heads, layer, head))}; entropy {entropy} of {most} bits, "
        f"distance {format_short(numbers['distance'])} tokens"
    )
