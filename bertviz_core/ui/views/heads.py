"""All heads at once: read once a trace, drawn as one map to choose from; and the chosen one large, with its role."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.analysis.heads import ROLES, Summary, find_roles, is_silent, summarize
from bertviz_core.analysis.openings import open_head, open_key
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heads import LARGEST, draw_head
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components import list_colors, load_component
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import MANY_CELLS, draw_tensor
from bertviz_core.ui.panels.looks import ALL_ZERO, tell_hardest
from bertviz_core.ui.panels.moved import draw_difference_chart
from bertviz_core.ui.panels.panel import format_shape, open_card, show_values
from bertviz_core.ui.panels.passes import show_passes, tell_pass
from bertviz_core.ui.panels.said import name_plain, tell_percent
from bertviz_core.ui.views.heads_ablation import begin, find_base
from bertviz_core.ui.views.heads_numbers import render_profile, write_profile

_MAP: Key[Sent] = Key("head-map", None)
PICTURE = 32  # cells along one side of a head's small picture, at most
ALL, NONE = "all", "no role"
_SLOW_S = 0.5
_OUTCOMES = 5

_STYLE = read_css(Path(__file__).with_name("heads.css"))
_map = load_component("head_map")
_ROLE = Key("role", ALL)


def read_heads(trace: Trace) -> Summary:
    """All heads of a trace, read once for all sessions; with a progress bar where that takes long."""
    return remember(trace, "heads", lambda: _read(trace))


def _read(trace: Trace) -> Summary:
    slot, start, layers = st.empty(), time.monotonic(), trace.model.config.num_hidden_layers

    def done(layer: int) -> None:
        if time.monotonic() - start > _SLOW_S:
            slot.progress((layer + 1) / layers, f"Reading the heads of layer {layer} …")

    found = summarize(trace, PICTURE, done)
    slot.empty()
    return found


def write_headline(view: View) -> Said:
    """Where the chosen head looks; and what the answer loses without it, once somebody has asked for that."""
    chosen = view.chosen
    row = view.trace[_find_weights(view).fix(query=chosen.token)]
    looks = tell_hardest(row, chosen.token, view.trace.tokens)
    return say(f"Which head looks where? In layer {chosen.layer}, head {chosen.head}, ", looks, _tell_loss(view))


def _tell_loss(view: View) -> Said:
    trace = find_base(view)
    offered = list_outcomes(trace, view.chosen.token, _OUTCOMES)
    if not offered:
        return say()
    found = begin(trace, view.chosen.token, tuple(offered.values()))
    without = float(found.without[0, view.chosen.layer, view.chosen.head])
    if np.isnan(without):
        return say()
    parts = {"was": tell_percent(found.values[0]), "without": tell_percent(without),
             "name": name_plain(next(iter(offered)).partition(" at position")[0])}  # fmt: skip
    risen = dict(sorted(parts.items(), key=lambda part: part[0] != "without"))
    return say(choose(
        Claim("answer falls", "; without it {name} falls from {was} to **{without}**", parts, Relation.ABOVE),
        Claim("answer rises", "; without it {name} rises from {was} to **{without}**", risen, Relation.ABOVE),
        Claim("answer stays", "; without it {name} stays at **{without}**", parts, Relation.SAME),
    ))  # fmt: skip


def _find_weights(view: View) -> Address:
    return ATTENTION_WEIGHTS.in_layer(view.chosen.layer).fix(head=view.chosen.head)


def show_heads(view: View, all_heads: Summary) -> None:
    """Every head's attention as a small picture, the chosen one large, and what it looks at on average."""
    address, count = _find_weights(view), all_heads.pictures.shape[0] * all_heads.pictures.shape[1]
    st.html(_STYLE)
    at, row = view.chosen, address.fix(query=view.chosen.token)
    offer_number(row.fix(key=open_key(view.trace, at.layer, at.head, at.token).key))
    shape = format_shape(view.trace, address)
    with open_card(view, ATTENTION, f"All {count} heads", address, shape, name="heads") as tools:
        every, one, role = st.columns([45, 36, 19], gap="medium")
        with every:
            _show_map(view, all_heads)
        with one:
            _show_one(view, address)
        with role:
            show_passes(view, _show_profile)
        with tools:
            show_values(view.trace, address)


def _show_profile(view: View) -> None:
    all_heads = read_heads(view.trace)
    st.html(render_profile(view, all_heads))
    st.caption(write_profile(all_heads.of(view.chosen.layer, view.chosen.head), all_heads.tokens))


def _show_one(view: View, address: Address) -> None:
    st.html(f'<p class="bv-worth-title"><b>Layer {view.chosen.layer}, head {view.chosen.head}</b> rows are queries</p>')
    chart, note = draw_difference_chart(view, address, ATTENTION) or _draw_one(view, address)
    show_chart(chart, str(address), f"Attention weights of layer {view.chosen.layer}, head {view.chosen.head}")
    st.caption(note + _write_reason(view))


def _draw_one(view: View, address: Address) -> tuple[Chart, str]:
    """The chosen head's weights; with lines while there are few tokens."""
    tokens = label_tokens(view.trace)
    if len(tokens) > LARGEST:
        chart, note = draw_tensor(view, address, share=True, end=1.0, cells=MANY_CELLS)
        return chart, note if view.trace[address].any() else f"{ALL_ZERO} {note}"
    weights, padding = view.trace[address], set(range(len(tokens))) - set(view.trace.encoding.real)
    chart = draw_head(weights, tokens, view.chosen.token, view.colors, padding)
    return chart.offer(picks.pick_matrix(view.trace, address)), _tell_lines(weights, padding)


def _tell_lines(weights: np.ndarray, padding: Collection[int]) -> str:
    """Which rows of (query, key) weights a line leads from."""
    if not weights.any():
        return ALL_ZERO
    left_out = ["padding"] * bool(padding) + ["a row whose weights are all 0"] * bool((~weights.any(axis=1)).any())
    none = f"; from {' or '.join(left_out)} leads none" if left_out else ""
    return f"A line leads to each row's largest weight{none}."


def _write_reason(view: View) -> str:
    """Why the page opens at this head, where it is the one that the rule chooses; the rule reads the pass unchanged."""
    opened = open_head(view.outcome.before, view.chosen.token)
    if (opened.layer, opened.head) != (view.chosen.layer, view.chosen.head):
        return ""
    before = f"Before {view.outcome.yours}: " if view.outcome.changed else ""
    return f" {before}{escape_markdown(opened.reason)}"


def _show_map(view: View, all_heads: Summary) -> None:
    layers, heads, size, _ = all_heads.pictures.shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    roles = [_list_roles(all_heads, *place) for place in places]
    drawn, options = st.container(), _count_roles(roles)
    url.bind(_ROLE, options)
    wanted = st.segmented_control(
        "Heads with the role", list(options), key=_ROLE.name, required=True, on_change=url.note_choice,
        label_visibility="collapsed", format_func=lambda one: f"{one} {options[one]}",
    )  # fmt: skip
    header = {
        "shape": [layers, heads, size],
        "chosen": [view.chosen.layer, view.chosen.head],
        "notes": [_list_notes(all_heads, *place) for place in places],
        "out": [wanted not in (ALL, *names) for names in roles],
        "scale": view.colors.rise(ATTENTION),
        "colors": list_colors(view.colors),
    }
    text = json.dumps(header).encode()
    with drawn:
        _map(
            key=_MAP.name,
            data=len(text).to_bytes(4, "little") + text + all_heads.pictures.tobytes(),
            on_head_change=state.on_event(_MAP, "head", lambda head: choices.choose_head(*head)),
        )
    st.caption(
        f"{tell_pass(view)}Rows are layers, columns are heads; "
        f"in each picture rows are queries, columns are keys. Click a head, or use "
        f"the arrow keys and Enter.{_describe_pooling(all_heads.tokens)}"
    )


def _list_roles(all_heads: Summary, layer: int, head: int) -> list[str]:
    return [role.name for role in find_roles(all_heads.of(layer, head))] or [NONE]


def _count_roles(roles: list[list[str]]) -> dict[str, int]:
    """How many heads have each role that any has; a head with two roles counts for both."""
    names = [role.name for role in ROLES] + [NONE]
    counts = {name: sum(name in own for own in roles) for name in names}
    return {ALL: len(roles), **{name: count for name, count in counts.items() if count}}


def _describe_pooling(tokens: int) -> str:
    if tokens <= PICTURE:
        return ""
    most = -(-tokens // PICTURE)
    side = f"{most}" if tokens % PICTURE == 0 else f"{most - 1} to {most}"
    return (
        f" For {tokens} tokens a cell combines {side} neighbouring queries and keys: their attention weights, "
        "summed over the keys and averaged over the queries. The large map and the lines show single tokens."
    )


def _list_notes(all_heads: Summary, layer: int, head: int) -> list[str]:
    numbers = all_heads.of(layer, head)
    if is_silent(numbers):
        return [NONE, "all its weights are 0", ""]
    return [
        ", ".join(_list_roles(all_heads, layer, head)),
        "mean over all queries: "
        f"entropy {format_number(numbers['entropy'])} of {format_number(float(np.log2(all_heads.tokens)))} bits",
        f"distance {format_short(numbers['distance'])} tokens",
    ]
