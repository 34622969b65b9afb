"""Which heads look elsewhere in the second pass: all of them sorted, and the maps of the first ones side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.comparing import average_moved, measure_by_layer, read_folded, sort_heads, tell_heads
from bertviz_core.figures.compared import draw_sorted
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION, RESIDUAL
from bertviz_core.formula.texts import write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.identity import name_pass
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.compare_both import Both
from bertviz_core.ui.walk.worked_out import ACROSS

_SHOWN = 8  # heads whose maps are drawn
_SIDE = 32  # cells along one side of a map, at most
_AT_ONCE = 4_000_000  # weights of both passes that are read while the page is drawn; of more, in the background
_HIGH = 156
_NONE = "No head looks elsewhere."
_ROUNDING = 1e-4  # of a row that sums to 1 in single precision
Maps = Mapping[tuple[int, int], list[np.ndarray]]  # of both passes, by layer and head


def show_heads(view: View, both: Both) -> None:
    """All heads by how far their maps differ, and the maps of the first; where they are not paired, why."""
    why = tell_heads(both.one, both.other) or ("" if both.pairs else "No token is matched, so no maps are compared.")
    if why:
        st.info(escape_markdown(why), icon=":material/info:")
        return
    if _count_weights(both) <= _AT_ONCE:
        moved = both.remember("moved", lambda: [*measure_by_layer(both.one, both.other, both.pairs)][-1][1])
        _draw(view, both, Found(moved, 1.0, over=True))
    else:
        wanted = Wanted(
            ("moved", both.pairs, *name_pass(both.other)),
            both.one,
            partial(measure_by_layer, both.one, both.other, both.pairs),
        )
        show_finding("elsewhere", wanted, partial(_draw, view, both))


def _count_weights(both: Both) -> int:
    config = both.one.model.config
    heads = config.num_hidden_layers * config.num_attention_heads
    return heads * sum(len(trace.tokens) ** 2 for trace in (both.one, both.other))


def _draw(view: View, both: Both, found: Found[np.ndarray]) -> None:
    """What is known of it, with the room that the rest will take."""
    says = "by how much attention moves; left the first pass, right the second; grey: unmatched tokens"
    heading = Heading("Which heads look elsewhere", says, _write_formula(view), "total variation")
    with open_card(view, ATTENTION, heading, ATTENTION_WEIGHTS.in_layers("*"), name="elsewhere") as tools:
        heads = np.full((1, 1), np.nan) if found.value is None else average_moved(found.value)
        order = sort_heads(heads)
        bars, maps = st.columns([3, 7], gap="medium")
        moved = sum(heads[place] > 0 for place in order)
        drawn = _read_maps(both, order[: min(_SHOWN, moved or _SHOWN)])
        with bars:
            _show_bars(view, heads, order, _find_end(drawn))
        with maps:
            st.html(_render_maps(view, heads, drawn))
        alike, rest = "", len(order) - moved
        if found.value is not None and found.over and rest and moved < _SHOWN:
            alike = f"Alike in both passes: {write_count(rest, 'other head')}." if moved else _NONE
        told = tell_progress(found, "the layers read") or f"{alike} {_tell_missing(both)}".strip()
        if told:
            st.caption(told)
        if found.value is not None:
            with tools:
                show_values("elsewhere", _make_values(heads))


def _tell_missing(both: Both) -> str:
    """What becomes of heads whose weights a change took away; "" where there are none."""
    changed = [trace for trace in (both.one, both.other) if trace.changes]
    layers = range(both.one.model.config.num_hidden_layers)
    rows = [trace[ATTENTION_WEIGHTS.in_layer(layer)] for trace in changed for layer in layers]
    if any((weights < 0).any() or (weights.sum(axis=-1) > 1 + _ROUNDING).any() for weights in rows):
        return (
            "As changed, not all attention weights are shares of 1: what moves is half of how far they differ, added "
            "up, and can exceed 100 %."
        )
    if all((weights.sum(axis=-1) > 1 - _ROUNDING).all() for weights in rows):
        return ""
    return (
        "As changed, not all attention weights sum to 1. What is missing counts half: a head that looks nowhere in one "
        "of the passes is at 50 %."
    )


def _make_values(heads: np.ndarray) -> Values:
    layers, count = heads.shape
    return Values(heads, [f"layer {i}" for i in range(layers)], [f"head {i}" for i in range(count)])


def _show_bars(view: View, heads: np.ndarray, order: Sequence[tuple[int, int]], end: float) -> None:
    """The heads that differ, and always some, the largest first; below, the end of the maps' scale."""
    if not order:
        st.html('<div class="bv-elsewhere-wait"></div>')
        return
    order = [place for i, place in enumerate(order) if i < _SHOWN or heads[place] > 0]
    values = np.array([heads[place] for place in order])
    names = [f"layer {layer}, head {head}" for layer, head in order]
    chart = draw_sorted(values, names, _SHOWN, view.colors, view.colors.kinds[ATTENTION], _HIGH)
    show_chart(
        chart.offer([str(find_head(*place)) for place in order]), "elsewhere", "The heads by how far their maps differ"
    )
    st.caption(f"Darkest in the maps: {format_percent(end)}")


def find_head(layer: int, head: int) -> Address:
    """The address of how far a head's maps differ."""
    return Address(f"{ATTENTION_WEIGHTS.in_layer(layer).path}.{ACROSS}").fix(head=head)


def _read_maps(both: Both, shown: tuple[tuple[int, int], ...]) -> Maps:
    """The two maps of each of these heads as they are drawn, by its place."""
    weights = {place: ATTENTION_WEIGHTS.in_layer(place[0]).fix(head=place[1]) for place in shown}
    return {
        place: [_pool(each) for each in read_folded(both.one, both.other, both.pairs, where)]
        for place, where in weights.items()
    }


def _find_end(maps: Maps) -> float:
    """The largest share of all maps, which is drawn darkest."""
    return max((float(each.max(initial=0.0)) for pair in maps.values() for each in pair), default=0.0) or 1.0


def _render_maps(view: View, heads: np.ndarray, maps: Maps) -> str:
    if not maps:
        return '<div class="bv-elsewhere-wait"></div>'
    end, alone = _find_end(maps), any(each[:, -1].any() for pair in maps.values() for each in pair)
    drawn = [_render_pair(view, place, float(heads[place]), pair, end, alone) for place, pair in maps.items()]
    inside = f'<div class="bv-elsewhere" data-roving>{"".join(drawn)}</div>'
    return table_html.write_region("Maps of heads in both passes", inside, "bv-elsewhere-all", scrolls=False)


def _pool(folded: np.ndarray) -> np.ndarray:
    """(row, column) of at most so many cells a side, and the unmatched keys' column: neighbouring tokens as one."""
    tokens = len(folded)
    if tokens <= _SIDE:
        return folded
    starts = np.arange(_SIDE) * tokens // _SIDE
    rows = np.add.reduceat(folded, starts, axis=0) / np.diff(starts, append=tokens)[:, None]
    return np.concatenate([np.add.reduceat(rows[:, :-1], starts, axis=1), rows[:, -1:]], axis=1)


def _render_pair(
    view: View, place: tuple[int, int], share: float, maps: list[np.ndarray], end: float, alone: bool
) -> str:
    layer, head = place
    cell, told = escape(str(find_head(layer, head))), format_percent(share)
    drawn = "".join(_render_map(view, each, end, alone) for each in maps)
    name = f'aria-label="layer {layer}, head {head}: {told} of its attention moves"'
    return (
        f'<button data-cell="{cell}" {name}><b>layer {layer}, head {head}</b><small>{told}</small>'
        f'<span class="bv-maps">{drawn}</span></button>'
    )


def _render_map(view: View, folded: np.ndarray, end: float, alone: bool) -> str:
    """One map, and at its right what unmatched keys get."""
    matched = draw_thumbnail(folded[:, :-1], view.colors, ATTENTION, share=True, end=end)
    rest = draw_thumbnail(folded[:, -1:], view.colors, RESIDUAL, share=True, end=end)
    wide = len(folded)
    column = f'<img alt="" style="--wide:1" src="{rest}">' if alone else ""
    return f'<span class="bv-map"><img alt="" style="--wide:{wide}" src="{matched}">{column}</span>'


def _write_formula(view: View) -> str:
    a, d = (rf"\textcolor{{{view.colors.kinds[ATTENTION]}}}{{{letter}}}" for letter in "AD")
    return rf"{d}_{{l,h}} = \mathrm{{mean}}_i \; \sum_j |{a}_{{i,j}} - {a}'_{{i,j}}| / 2"
