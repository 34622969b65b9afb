"""The page Patch's grids: what each patch does to the measure, by layer and token and by head, and over the layers."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.patching import (
    GRIDS,
    OF_ATTENTION,
    OF_FEED_FORWARD,
    OF_HEADS,
    OF_RESIDUAL,
    Grid,
    Patching,
    list_paths,
)
from bertviz_core.figures.patched import Moves, draw_grid, draw_moves
from bertviz_core.formula.address import Address
from bertviz_core.formula.steps import ATTENTION, FFN, RESIDUAL
from bertviz_core.formula.texts import name_token
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.findings import show_finding, tell_progress
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import read_escaped
from bertviz_core.ui.frame.told import offer_number, offer_teller
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.patch import find_both, find_farthest
from bertviz_core.ui.views.patch_both import OF_WORDS, Both, write_measure
from bertviz_core.ui.views.patch_number import find_number, tell_patched

_SOURCE = "Vig et al. 2020; Meng et al. 2022; Heimersheim and Nanda 2024"
_TITLES = {OF_RESIDUAL: "Residual", OF_ATTENTION: "Attention output", OF_FEED_FORWARD: "Feed-forward"}
_KINDS = {OF_RESIDUAL: RESIDUAL, OF_ATTENTION: ATTENTION, OF_FEED_FORWARD: FFN, OF_HEADS: ATTENTION}
_REACHED = 0.1  # of the way, for a token to have a line of its own
_HALF = 0.5  # of the way, for the difference to be at a token
_MOST = 6  # lines
_ROW, _HEAD_ROW = 22, 21  # pixels of a row of cells
_LEAST_HIGH = 140  # pixels of the lines
_LINE = 18  # pixels of the sentence in the head of the card of the lines, which that of the heads has not
# The finding that somebody cancelled, by its name, and what was known of it.
_CANCELLED: Key[tuple[object, Found[Patching]] | None] = Key("patch-cancelled", None)


def show_grids(view: View) -> None:
    """All grids, as far as they are known, and the rest when it comes."""
    both = find_both(view)
    if both is None:
        return
    offer_teller(partial(tell_patched, view, both))
    kept, now = both.wanted.recall(), (both.wanted.name, both.restore)
    known = kept.value if kept is not None else None
    offer_number(_find_first(both) if known is None else _find_most(both, known))
    cancelled = state.read(_CANCELLED)
    if cancelled is not None and cancelled[0] == now and kept is None:
        _draw(view, both, False, cancelled[1])
        st.button("Go on", key="patch-go-on", on_click=state.write, args=(_CANCELLED, None))
    else:
        show_finding("patch", both.wanted, partial(_draw, view, both, kept is None))


def _find_most(both: Both, found: Patching) -> Address:
    """The number that the drawer tells while nobody has clicked another: that of the head that moves it farthest."""
    return find_number(both.target.trace, OF_HEADS, *find_farthest(found.moved(OF_HEADS)))


def _find_first(both: Both) -> Address:
    """And before that is known: of the vector halfway up where the two passes first read another token; at the token
    that is measured, where they read the same ones."""
    token, trace = next((i for i, _ in both.differing), both.target.token), both.target.trace
    return find_number(trace, OF_RESIDUAL, len(list_paths(trace, OF_RESIDUAL)) // 2, token)


def _cancel(both: Both) -> None:
    state.write(_CANCELLED, ((both.wanted.name, both.restore), both.wanted.leave()))
    choices.ask_for_rerun()


def _draw(view: View, both: Both, waits: bool, found: Found[Patching]) -> None:
    """What is known of it; once that is all, the page opens at the patch that moves the measure farthest."""
    known = found.value or _make_blank(both)
    end = _find_end(known)
    with st.container(key="patch-grids", gap=None):
        _show_layers(view, both, known, end, found)
        heads, moves = st.columns([55, 45], gap="small")
        with heads:
            high = _show_heads(view, both, known, end)
        with moves:
            _show_moves(view, both, known, max(_LEAST_HIGH, high - _LINE))
    if waits and found.whole:
        st.rerun()


def _make_blank(both: Both) -> Patching:
    """Grids of which nothing is known."""
    trace = both.target.trace
    columns = dict.fromkeys(GRIDS, len(trace.tokens)) | {OF_HEADS: trace.model.config.num_attention_heads}
    grids = {
        grid: Grid(np.full((len(paths := list_paths(trace, grid)), columns[grid]), np.nan), paths) for grid in GRIDS
    }
    source, target = both.there.read(both.source.trace), both.measure.read(both.target.trace)
    return Patching(both.measure, source, target, both.pairs, grids)


def _find_end(known: Patching) -> float:
    """The end of the scale of all grids: the whole way, or what goes farthest where there is none to go."""
    if known.has_way:
        return 1.0
    return max(float(np.nanmax(np.abs(known.moved(grid)), initial=0.0)) for grid in GRIDS) or 1.0


def _show_layers(view: View, both: Both, known: Patching, end: float, found: Found[Patching]) -> None:
    trace = both.target.trace
    way = f"in percent of the way from “{both.target.name}” to “{both.source.name}”"
    says = f"how far the measure moves, {way if known.has_way else 'in its own unit'}"
    told = read_escaped(tell_progress(found, "the patches run"))
    heading = Heading("Which layer, which token", told or says, _write_formula(both, known), _SOURCE)
    with open_card(view, ATTENTION, heading, list_paths(trace, OF_RESIDUAL)[0], name="patched") as tools:
        matched = {i for i, _ in both.pairs}
        unmatched = [i for i in range(len(trace.tokens)) if i not in matched]
        for grid, place in zip(_TITLES, st.columns([38, 31, 31], gap="small"), strict=True):
            with place, st.container(gap=None):
                st.markdown(f":small[**{_TITLES[grid]}** {'after' if grid == OF_RESIDUAL else 'of'} the layer]")
                rows, values, ticks = _name_rows(known, grid), known.moved(grid), None
                if grid != OF_RESIDUAL:  # so that one layer is one row across the three
                    ticks = ["", *map(str, range(len(rows)))]
                    rows, values = ["", *rows], np.vstack([np.full((1, values.shape[1]), np.nan), values])
                chart = draw_grid(
                    values, rows, tell_tokens_apart(trace), view.colors, _KINDS[grid], end,
                    of_way=known.has_way, ticks=ticks, unmatched=unmatched, row=_ROW,
                )  # fmt: skip
                cells = [str(_pick(trace, grid, row)) for row in range(len(known.grids[grid].paths))]
                show_chart(
                    chart.offer(cells if grid == OF_RESIDUAL else ["", *cells]),
                    f"patched-{grid}",
                    f"{_TITLES[grid]}, {says}",
                )
        if told and not found.over:
            st.button(
                "Stop the patches",
                key="patch-cancel",
                icon=":material/stop_circle:",
                type="tertiary",
                on_click=_cancel,
                args=(both,),
            )
        with tools:
            _show_values(trace, known)


def _pick(trace: Trace, grid: str, row: int) -> str:
    """One address for all cells of a row, as the browser completes it."""
    axis = "head" if grid == OF_HEADS else "token"
    return f"{list_paths(trace, grid)[row]}.patched[{axis}={{x}}]"


def _name_rows(known: Patching, grid: str) -> list[str]:
    count = len(known.grids[grid].paths)
    return (
        [f"layer {i}" for i in range(count)]
        if grid != OF_RESIDUAL
        else ["embed", *(f"layer {i}" for i in range(count - 1))]
    )


def _show_values(trace: Trace, known: Patching) -> None:
    """All grids, to be saved."""
    grids = [grid for grid in GRIDS if grid != OF_HEADS]
    values = np.vstack([known.moved(grid) for grid in grids])
    rows = [f"{grid} {row}" for grid in grids for row in _name_rows(known, grid)]
    show_values("patched", Values(values, rows, tell_tokens_apart(trace)))


def _write_formula(both: Both, known: Patching) -> str:
    measure = rf"m = {write_measure(both)}"
    if not known.has_way:
        return rf"m_{{\text{{patched}}}} - m_{{\text{{into}}}},\quad {measure}"
    return r"r = (m_{\text{patched}} - m_{\text{into}}) / (m_{\text{from}} - m_{\text{into}}),\quad " + measure


def _show_heads(view: View, both: Both, known: Patching, end: float) -> int:
    """The grid of heads. Returns its height, for what stands beside it."""
    trace = both.target.trace
    values = known.moved(OF_HEADS)
    a, v = (
        rf"\textcolor{{{view.colors.kinds[kind]}}}{{{letter}}}" for kind, letter in ((ATTENTION, "A"), ("value", "V"))
    )
    says = f"its output at all {'' if both.whole else 'matched '}tokens"
    heading = Heading("Which head", "", rf"O_{{l,h}} := O'_{{l,h}} = {a}' {v}'", f"{says}; {values.size} passes")
    with open_card(view, ATTENTION, heading, list_paths(trace, OF_HEADS)[0], name="patched-heads") as tools:
        columns = [str(i) for i in range(values.shape[1])]
        chart = draw_grid(
            values, _name_rows(known, OF_HEADS), columns, view.colors, ATTENTION, end,
            of_way=known.has_way, slanted=False, row=_HEAD_ROW,
        )  # fmt: skip
        cells = [_pick(trace, OF_HEADS, row) for row in range(len(values))]
        show_chart(chart.offer(cells), "patched-heads", f"Every head, {says}")
        with tools:
            show_values("patched-heads", Values(values, _name_rows(known, OF_HEADS), [f"head {i}" for i in columns]))
    return chart.layout["height"]


def _show_moves(view: View, both: Both, known: Patching, high: int) -> None:
    """The lines over the layers. high: of their chart."""
    trace = both.target.trace
    values = known.moved(OF_RESIDUAL)
    title, says = tell_moves(both, known)
    heading = Heading(title, says, r"x_{l,i} := x'_{l,i}", "one token at a time")
    shown = _choose_tokens(both, known)
    inks = [view.colors.text, view.colors.kinds[ATTENTION], *[view.colors.faint] * len(shown)]
    cells = {i: [str(find_number(trace, OF_RESIDUAL, row, i)) for row in range(len(values))] for i in shown}
    runs = [
        Moves(f"at {tell_tokens_apart(trace, range(i, i + 1))[0]}", values[:, i], ink, cells[i])
        for i, ink in zip(shown, inks, strict=False)
    ]
    rows = ["embed", *map(str, range(len(values) - 1))]
    with open_card(view, RESIDUAL, heading, list_paths(trace, OF_RESIDUAL)[-1], name="patched-moves"):
        show_chart(draw_moves(runs, rows, view.colors, high, of_way=known.has_way), "patched-moves", f"{title}: {says}")


def _choose_tokens(both: Both, known: Patching) -> list[int]:
    """The tokens that have a line: where the two passes differ, where words are read, if they are what is measured, and
    where much is moved."""
    values = known.moved(OF_RESIDUAL)
    first = [i for i, _ in both.differing][:1]
    reach = np.nanmax(np.abs(np.nan_to_num(values)), axis=0)
    end = 1.0 if known.has_way else float(reach.max(initial=0.0)) or 1.0
    far = [int(i) for i in np.argsort(-reach) if reach[i] >= _REACHED * end]
    read = [both.target.token] if both.kind in OF_WORDS else []
    return list(dict.fromkeys([*first, *read, *far]))[:_MOST]


def tell_moves(both: Both, known: Patching) -> tuple[str, str]:
    """When the difference has come to where words are read: from which layer on half of it is there, to the last."""
    values, token = known.moved(OF_RESIDUAL)[:, both.target.token], both.target.token
    tokens = both.target.trace.tokens
    there = name_token(tokens, token)
    begun = token in [i for i, _ in both.differing]
    if both.kind not in OF_WORDS or not known.has_way or not np.isfinite(values).all() or begun:
        return "Over the layers", "the residual, one token at a time"
    less, layers = np.flatnonzero(values < _HALF), len(values) - 1
    reached = int(less[-1]) + 1 if less.size else 0
    if not reached:
        return "It begins there", f"at least half is at {there} from the embeddings on"
    if reached > layers:
        return "It does not move", f"less than half of it is at {there} after the last layer"
    when = "early" if reached <= layers / 3 else "late" if reached > 2 * layers / 3 else f"in layer {reached - 1}"
    return f"It moves {when}", f"at least half is at {there} from layer {reached - 1} on"
