"""Queries, keys and values: three blocks that line up, and one of their numbers as a sum."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say, say_largest
from bertviz_core.analysis.labels import center_words, label_tokens, tell_tokens_apart
from bertviz_core.analysis.openings import open_product
from bertviz_core.analysis.ranking import center_range, find_limit, find_robust_limit, find_strongest
from bertviz_core.figures.base import Chart
from bertviz_core.figures.blocks import Block, Terms, draw_blocks, draw_terms
from bertviz_core.figures.margins import settle
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state, style, url
from bertviz_core.ui.frame.follow import follow
from bertviz_core.ui.frame.keys import KEY_TOKEN, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.remade import show_remade
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.formula_line import show_formula
from bertviz_core.ui.panels.passes import show_passes_chart, tell_words
from bertviz_core.ui.panels.put import tell_put, write_result
from bertviz_core.ui.panels.said import tell_nowhere, tell_short, tell_token

PROJECTIONS = ("query", "key", "value")
ROWS = 48  # tokens in the blocks, at most
_PRODUCT = ("x", "W", "x · W")  # its two factors, and itself
_TERMS = 2_048  # products of one sum, at most, that are drawn
_COMPONENT = Key("of_head", "")  # which component of the head is worked out
_ABOUT = "What a token asks for, what it offers, what it hands over: rows are tokens, all on one scale."
_PROJECTION = Key("projection", "query")
_STYLE = read_css(Path(__file__).with_name("query_key_value.css"))


@dataclass(frozen=True)
class Place:
    """What is worked out: one of the projections, a component of it, why it is that one where a rule chose it; and the
    key that the query is compared with."""

    name: str
    component: int
    reason: str
    key: int


def choose_place(view: View) -> Place:
    """What the URL names; else the component that brings most to the product of the query and its best key."""
    url.bind(_PROJECTION, PROJECTIONS)
    url.bind(_COMPONENT)
    chosen, name = view.chosen, state.read(_PROJECTION)
    for one in PROJECTIONS:
        follow(locate(view, one, chosen.token), "head_dim", _COMPONENT, {_PROJECTION: one})
    named = read_index(KEY_TOKEN, len(view.trace.tokens), "input", [])
    key = _find_best(view) if named is None else named
    component = read_index(_COMPONENT, view.trace.model.config.head_dim, "model", [])
    if component is not None:
        return Place(name, component, "", key)
    if name == "value":
        best = find_strongest(view.trace[locate(view, name, chosen.token)])
        return Place(name, best, tell_component(view).text, key)
    opened = open_product(view.trace, chosen.layer, chosen.head, chosen.token, key)
    return Place(name, opened.component, opened.reason, key)


def write_headline(view: View) -> Said:
    """Which key fits the chosen token's query best, and what one component brings to that."""
    trace, chosen, best = view.trace, view.chosen, _find_best(view)
    most = open_product(trace, chosen.layer, chosen.head, chosen.token, best)
    real = np.flatnonzero(trace.encoding.mask)
    row = trace[locate_products(view)][real]
    at = tuple(np.flatnonzero(real == best).tolist())
    parts = {"product": tell_short(row[at[0]]), "key": tell_token(trace.tokens, best), "count": Part(len(real))}
    terms = measure_fit(view)[0][best]
    brings = {"brings": tell_short(most.product), "component": Part(most.component)}
    return say(
        Claim("asks", "What does {word} ask for? ", {"word": tell_token(trace.tokens, chosen.token)}),
        Claim("only key", "Its only key is **{key}**: **{product}**", parts, Relation.HIGHEST, row, at)
        if len(real) == 1
        else say_largest(
            ("fits best", "Of {count} keys **{key}** fits best: **{product}**"),
            ("fits as well", "None of {count} keys fits better than **{key}**: **{product}**"),
            parts,
            row,
            at,
        ),
        Claim(
            "component brings",
            "; component {component} alone brings **{brings}**",
            brings,
            Relation.HIGHEST,
            -terms if most.total < 0 else terms,
            (most.component,),
        )
        if most.product
        else "",
    )


def tell_component(view: View) -> Said:
    """Which component of the chosen token's value is shown, where nobody has chosen one."""
    sizes = np.abs(view.trace[locate(view, "value", view.chosen.token)])
    best = find_strongest(sizes)
    parts = {"size": tell_nowhere(sizes[best]), "component": Part(best)}
    return say_largest(
        ("largest of the value", "Component {component} is shown, the largest in size of this value."),
        ("none larger of the value", "Component {component} is shown; no other of this value is larger in size."),
        parts,
        sizes,
        (best,),
    )


def _find_best(view: View) -> int:
    """The key that fits the chosen token's query best, padding left out."""
    return int(np.where(view.trace.encoding.mask, view.trace[locate_products(view)], -np.inf).argmax())


def show_blocks(view: View, place: Place) -> None:
    """Queries, keys and values of all tokens in the chosen head, on one scale; one number ringed."""
    trace, total = view.trace, len(view.trace.tokens)
    shown = center_words(trace, view.chosen.token, ROWS)
    addresses = {name: locate(view, name) for name in PROJECTIONS}
    values = {name: trace[address] for name, address in addresses.items()}
    end = find_robust_limit(np.stack(list(values.values())))
    width, (layer, head) = trace.model.config.head_dim, (view.chosen.layer, view.chosen.head)
    of = SELF_ATTENTION.in_layer(layer)
    see = "Query, key and value"
    source = "; ".join(dict.fromkeys(trace.step(address).source for address in addresses.values()))
    with open_card(
        view, "query", Heading(see, _ABOUT, source=source), of, f"head {head}, {width} numbers each"
    ) as tools:
        charts = [_draw_blocks(one, place, shown, end) for one in view.passes]
        left = settle(charts[0].layout)["margin"]["l"]
        st.html(f"<style>.st-key-blocks-formulas {{ --left: {left}px; }}</style>{_STYLE}")
        with st.container(key="blocks-formulas"):
            for column, (name, address) in zip(st.columns(3, gap="small"), addresses.items(), strict=True):
                with column:
                    step = trace.step(address)
                    show_formula(view.typeset(step), f"blocks-{name}", view.trace.program)
        show_passes_chart(view, charts, "blocks", see)
        part = "" if len(shown) == total else f" Shown: tokens {shown.start}–{shown.stop - 1} of {total}."
        if told := f"{part}{tell_put(view, *addresses.values())}".strip():
            st.caption(told)
        with tools:
            show_values("blocks", _join_values(view, values))


def _draw_blocks(view: View, place: Place, shown: range, end: float) -> Chart:
    blocks = [
        Block(
            name.capitalize(),
            name,
            view.trace[address][shown.start : shown.stop],
            picks.pick_matrix(view.trace, address),
        )
        for name in PROJECTIONS
        for address in [locate(view, name)]
    ]
    return draw_blocks(
        blocks,
        tell_tokens_apart(view.trace, shown),
        shown.start,
        view.colors,
        end=end,
        at=(view.chosen.token, place.name, place.component),
    )


def _join_values(view: View, values: dict[str, np.ndarray]) -> Values:
    width = view.trace.model.config.head_dim
    columns = [f"{name} {i}" for name in values for i in range(width)]
    return Values(np.concatenate(list(values.values()), axis=1), label_tokens(view.trace), columns)


def show_sum(view: View, place: Place) -> None:
    """One number of the chosen token as the sum that it is: what comes in, the weights, their products."""
    trace, here = view.trace, locate(view, place.name, view.chosen.token)
    step = trace.step(here)
    x, weight, bias = (Address(leaf.address) for leaf in step.leaves)
    column = view.chosen.head * trace.model.config.head_dim + place.component
    x, weight, bias = x.fix(token=view.chosen.token), weight.fix(concat=column), bias.fix(concat=column)
    vector, weights, shift = trace[x], trace[weight], float(trace[bias])
    products = vector.astype(np.float64) * weights.astype(np.float64)
    shown = center_range(find_strongest(products), _TERMS, len(products))
    part = slice(shown.start, shown.stop)
    cells = tuple(picks.pick_vectors(trace, [x, weight]))
    charts = [
        draw_terms(
            Terms(
                one.trace[x][part],
                weights[part],
                (cells[0], cells[1]),
                (find_robust_limit(one.trace[x]), find_limit(weights)),
                shown.start,
            ),
            _PRODUCT,
            view.colors,
            place.name,
        )
        for one in view.passes
    ]
    see = f"One of them: {place.name} {place.component} of {read_word(view)}"
    cell = here.fix(head_dim=place.component).sort(step.dims)
    up, down = float(products[products > 0].sum()), float(products[products < 0].sum())
    heading = Heading(see, "", view.typeset(step), step.source, cell, _write_sum(view, cell, up, down, shift))
    with open_card(view, step.kind, heading, f"{x} and {weight}", f"{len(products)} products and a bias") as tools:
        show_passes_chart(view, charts, "one-number", see)
        with st.container(horizontal=True, vertical_alignment="center"):
            _show_choices(view, place)
        st.caption(f"{tell_words(view)}{_explain_sum(view, place, shown, len(products))}")
        with tools:
            rows = np.stack([vector, weights, products], axis=1)
            show_values("one-number", Values(rows, [str(i) for i in range(len(rows))], list(_PRODUCT)))


def _explain_sum(view: View, place: Place, shown: range, count: int) -> str:
    left_out = f" Shown: products {shown.start}–{shown.stop - 1} of {count}." if len(shown) < count else ""
    return (
        f"{escape_markdown(place.reason)} Choose a number of {escape_markdown(read_word(view))} above to see that "
        f"one here.{left_out}"
    )


def _show_choices(view: View, place: Place) -> None:
    """Which of the three, and which of its components."""
    st.segmented_control(
        "Of the token's", PROJECTIONS, required=True, key=_PROJECTION.name, label_visibility="collapsed"
    )
    components = range(view.trace.model.config.head_dim)
    show_remade(
        _COMPONENT.name,
        "Component",
        components,
        place.component,
        _choose_component,
        width=170,
        format_func="component {}".format,
    )


def _choose_component(component: int) -> None:
    choices.choose({_COMPONENT: str(component)})


def _write_sum(view: View, cell: Address, up: float, down: float, bias: float) -> str:
    step = view.trace.step(cell)
    token, component = view.chosen.token, cell.at["head_dim"]
    sign = "-" if bias < 0 else "+"
    parts = f"{format_latex(up)} - {format_latex(-down)} {sign} {format_latex(abs(bias))}"
    symbol = rf"{style.make_painter(view.colors)(step.output)}_{{{view.chosen.head},\,{token},\,{component}}}"
    return write_result(view.trace, cell, symbol, f"{parts} = {format_latex(up + down + bias)}")


def measure_fit(view: View) -> tuple[np.ndarray, attention.Angles]:
    """The products of the chosen token's query and every key, (key, component), and what these are as angles."""
    query, keys = view.trace[locate(view, "query", view.chosen.token)], view.trace[locate(view, "key")]
    return query.astype(np.float64) * keys.astype(np.float64), attention.measure_angles(query, keys)


def locate(view: View, name: str, token: int | None = None) -> Address:
    """A tensor of the chosen head, whole or one token's row of it."""
    where = SELF_ATTENTION.in_layer(view.chosen.layer).enter(name).fix(head=view.chosen.head)
    return where if token is None else where.fix(**{view.trace.dims(where)[0]: token})


def locate_products(view: View) -> Address:
    return locate(view, "products", view.chosen.token)


def read_word(view: View) -> str:
    """The chosen token, in quotation marks, told from those that are written alike."""
    return name_token(view.trace.tokens, view.chosen.token)
