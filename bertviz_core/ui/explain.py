"""Where a number comes from, in place: the formula worked, the operands, and the walk back through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.address import parse
from bertviz_core.analysis.walk import Operands, operands, story, terms, waypoints
from bertviz_core.errors import AddressError
from bertviz_core.figures.attention import products
from bertviz_core.figures.bars import bars
from bertviz_core.figures.base import Figure
from bertviz_core.numbers import text_number
from bertviz_core.operations import Softmax
from bertviz_core.trace import Explanation, Trace
from bertviz_core.ui import style
from bertviz_core.ui.components import component
from bertviz_core.ui.labels import literal
from bertviz_core.ui.shell import View

OFFERED = 12  # operands to walk on to
_ROWS = 40  # bars of a chart
_LONGEST = 80  # steps that a link may hold
_WALK, _PANEL, _STEP = "walk", "panel", "~"
_BETWEEN = " · "
_CHART = {"displayModeBar": False}

_picker = component("picker")
_COMMON = {"weight", "bias", "normalized", "mean", "variance", "dense", "residual", "LayerNorm"}  # names of many
_WORDS = {"token", "query", "key"}


@st.fragment
def explanation(view: View, address: str, start: str) -> None:
    """What opens in a panel when a cell of its chart is picked. start: the cell that the panel offers by itself."""
    with st.container(key=f"pick-{address}"):
        _picker(key=f"picker-{address}", on_cell_change=lambda: _open(address, (_picked(address),)))
    way = _way(address)
    if not way:
        st.button(
            "Explain a number", key=f"explain-{address}", type="tertiary", icon=":material/account_tree:",
            on_click=_open, args=(address, (start,)), help="Or click a cell of the chart.",
        )  # fmt: skip
        return
    with st.container(border=True, key=f"walk-{address}"):
        try:
            why = view.trace.explain(way[-1])
        except AddressError as error:
            st.info(literal(f"This number cannot be explained: {error}"), icon=":material/info:")
            _close_button(address)
            return
        _breadcrumb(view.trace, address, way)
        st.markdown(f"**`{why.address}` is {text_number(why.value)}**")
        if why.step is None:
            st.markdown(_end(view, why))
            return
        found = operands(view.trace, why)
        formula, sources = st.columns(2, gap="large")
        with formula:
            _worked(view, why, found)
            figure, note = _chart(view, why, found)
            st.plotly_chart(figure, theme=None, key=f"chart-operands-{address}", config=_CHART, alt=note)
            st.caption(note)
        with sources:
            _made_from(view, address, way, found)


def _picked(address: str) -> str:
    return st.session_state[f"picker-{address}"]["cell"]


def _way(address: str) -> tuple[str, ...]:
    """The walk that the URL holds, if it began in this panel."""
    if st.query_params.get(_PANEL) != address:
        return ()
    return tuple(st.query_params.get(_WALK, "").split(_STEP))[:_LONGEST]


def _open(address: str, way: Sequence[str]) -> None:
    st.query_params[_PANEL], st.query_params[_WALK] = address, _STEP.join(way)


def _close() -> None:
    for key in (_PANEL, _WALK):
        if key in st.query_params:
            del st.query_params[key]


def _close_button(address: str) -> None:
    st.button("Close", key=f"close-{address}", on_click=_close, type="tertiary", icon=":material/close:")


def _breadcrumb(trace: Trace, address: str, way: tuple[str, ...]) -> None:
    """The cells walked through, each a way back."""
    with st.container(horizontal=True, key=f"crumbs-{address}"):
        for i, place in enumerate(way[:-1]):
            st.button(
                f"{literal(_short(trace, place))} ›", key=f"crumb-{address}-{i}", type="tertiary", on_click=_open,
                args=(address, way[: i + 1]),
            )  # fmt: skip
        _close_button(address)


def _worked(view: View, why: Explanation, found: Operands) -> None:
    """The formula in letters and with its numbers, what they say, and how exactly they give the recorded value."""
    assert why.step is not None
    st.latex(view.typeset(why.step))
    st.latex(style.broken(why.latex))
    st.markdown(_words(view, why, found))
    st.caption(
        f"Recorded: {text_number(why.value)}. Recomputed in double precision from {len(why.operands):,} operands: "
        f"{text_number(why.recomputed)}. Difference: {text_number(abs(why.value - why.recomputed))}."
    )


def _end(view: View, why: Explanation) -> str:
    where = parse(why.address)
    if where.path in view.trace.model.parameters:
        return "A parameter of the checkpoint: training put this number here. The walk ends."
    token = view.trace.tokens[where.at["token"]]
    return literal(f"An input of the pass, made by the tokenizer for “{token}”. The walk ends.")


def _words(view: View, why: Explanation, found: Operands) -> str:
    """The numbers as a sentence, where they support one."""
    if why.step is not None and isinstance(why.step.expr, Softmax) and "key" in parse(why.address).at:
        return literal(_share_in_words(view.trace, why, found))
    parts = terms(why, found)
    if parts is None or len(parts.places) < 2:
        return ""
    best = int(np.abs(parts.values).argmax())
    name = _short(view.trace, found.addresses[parts.places[best]])
    return literal(
        f"A sum of {len(parts.places)} terms. The largest is {text_number(float(parts.values[best]))}, with {name}; "
        f"all together make {text_number(parts.total)}."
    )


def _share_in_words(trace: Trace, why: Explanation, found: Operands) -> str:
    at, tokens = parse(why.address).at, trace.tokens
    scores = {parse(address).at["key"]: value for address, value in zip(found.addresses, found.values, strict=True)}
    own = scores.pop(at["key"])
    said = (
        f"“{tokens[at['key']]}” gets {why.value:.1%} of what head {at['head']} gives to “{tokens[at['query']]}”: "
        f"its score is {text_number(own)}"
    )
    if not scores:
        return f"{said}, the only one."
    other = max(scores, key=scores.__getitem__)
    gap = own - scores[other]
    return (
        f"{said}, {text_number(abs(gap))} {'above' if gap >= 0 else 'below'} "
        f"{'the next' if gap >= 0 else 'the largest'}, “{tokens[other]}”."
    )


def _made_from(view: View, address: str, way: tuple[str, ...], found: Operands) -> None:
    """The operands that matter most, each a step of the walk, and the whole walk at once."""
    st.markdown("**Walk on to**")
    with st.container(key=f"operands-{address}", gap=None):
        for place in found.strongest(OFFERED):
            operand = found.addresses[place]
            st.button(
                f"{literal(_short(view.trace, operand))} = {text_number(float(found.values[place]))}",
                key=f"operand-{address}-{place}", type="tertiary", on_click=_open, args=(address, (*way, operand)),
            )  # fmt: skip
    if len(found.addresses) > OFFERED:
        st.caption(f"The {OFFERED} that matter most, of {len(found.addresses):,}.")
    st.button(
        "Shortest story down to the input", key=f"story-{address}", on_click=_tell, args=(view, address, way),
        icon=":material/route:", help="At every step the operand with the largest effect.",
    )  # fmt: skip


def _tell(view: View, address: str, way: tuple[str, ...]) -> None:
    told = story(view.trace, way[-1])
    _open(address, (*way[:-1], *(told[i] for i in waypoints(told))))


def _chart(view: View, why: Explanation, found: Operands) -> tuple[Figure, str]:
    assert why.step is not None
    color = view.colors.kinds.get(why.step.kind, view.colors.faint)
    parts = terms(why, found)
    if parts is not None and len(parts.places) > 2:
        order = np.argsort(-np.abs(parts.values), kind="stable")
        running = np.cumsum(parts.values[order])
        shown = order[:_ROWS]
        names = [_index(found.addresses[parts.places[i]]) for i in shown]
        figure = products(names, parts.values[shown], running[:_ROWS], view.colors, color=color,
                          title="operand, largest term first", whole=len(shown) == len(order))  # fmt: skip
        more = f" The {_ROWS} largest of {len(order)} are drawn." if len(order) > _ROWS else ""
        return figure, f"Bars: the terms of the sum, largest first. Line: the sum so far.{more}"
    shown = sorted(found.strongest(_ROWS))
    names = _differing([_short(view.trace, found.addresses[i]) for i in shown])
    more = f" The {_ROWS} that matter most of {len(found.addresses)}." if len(found.addresses) > _ROWS else ""
    return bars(found.values[shown], names, view.colors, color, name="value"), f"The operands' values.{more}"


def _index(address: str) -> str:
    """The index that differs from term to term: the last one."""
    where = parse(address)
    return str(where.index[-1][1]) if where.index else where.path.rsplit(".", 1)[-1]


def _differing(names: Sequence[str]) -> list[str]:
    """The names without the parts that all of them share, as long as something is left."""
    parts = [name.split(_BETWEEN) for name in names]
    if len({len(each) for each in parts}) != 1 or len(names) == 1:
        return list(names)
    kept = [i for i, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    return [_BETWEEN.join(each[i] for i in kept) for each in parts]


def _short(trace: Trace, address: str) -> str:
    """A cell's name without the way to it: `layer 3 · query · head 1 · 8 [MASK] · 22`."""
    where = parse(address)
    leaf = where.path.rsplit(".", 1)[-1]
    if leaf in _COMMON:
        leaf = ".".join(where.path.split(".")[-2:])
    layer = [f"layer {where.layer}"] if where.layer is not None else []
    return _BETWEEN.join([*layer, leaf, *(_place(trace, axis, i) for axis, i in where.index)])


def _place(trace: Trace, axis: str, i: int) -> str:
    words = trace.model.tokenizer.vocabulary
    if axis in _WORDS:
        return f"{i} {trace.tokens[i]}"
    if axis == "head":
        return f"head {i}"
    return f"{i} {words[i]}" if axis == "vocab" and i < len(words) else str(i)
