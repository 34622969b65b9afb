"""What the heads' attention adds up to: one head's numbers, one number of all heads, the table, the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say, say_largest, say_smallest
from bertviz_core.analysis.heads import (
    BITS,
    EVENNESS,
    ROLES,
    SHARE,
    STATISTICS,
    Role,
    Statistic,
    Summary,
    compute_by_query,
    find_roles,
    has_shares,
    is_silent,
)
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.formula.numbers import format_latex, format_percent, format_short
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.looks import ALL_ZERO, NO_SHARES
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.panels.said import tell_number
from bertviz_core.ui.panels.tables import Column, render_table

LAYER, ALL_LAYERS = "layer", "all"
_HEADS = {LAYER: "This layer", ALL_LAYERS: "All layers"}
_ATTENTION = "attention"
_ROWS = 24  # of the table, where it could be those of all heads
_TERMS = 2  # written out at each end of a sum
_STATISTIC = Key("statistic", next(iter(STATISTICS)))
_ROWS_OF = Key("rows", LAYER)


def render_profile(numbers: Mapping[str, float], before: Mapping[str, float] | None) -> str:
    """A head's mean weights as HTML, each with the mark from which it is a role.

    before: those that it had before a change that reaches it, which are drawn thin below.
    """
    roles = find_roles(numbers)
    shares = [s for s in STATISTICS.values() if s.unit == SHARE and s is not EVENNESS]
    absent = ", ".join(s.short for s in shares if np.isnan(numbers[s.name]))
    rows = "".join(_render_share(s, numbers, before, roles) for s in shares if not np.isnan(numbers[s.name]))
    return f'<div class="bv-profile"><div class="bv-answer">{rows}</div></div>' + (
        f'<p class="bv-faint">Not here: {escape(absent)}.</p>' if absent else ""
    )


def write_rule(view: View, all_heads: Summary) -> str:
    """The rule of the chosen head's role as LaTeX; where it has none, what its largest mean weight is."""
    numbers = all_heads.of(view.chosen.layer, view.chosen.head)
    roles = find_roles(numbers)
    if roles:
        statistic = roles[0].statistic
        return rf"{statistic.brief or _color(view, statistic)} \; > \; {roles[0].above}"
    shares = [role.statistic for role in ROLES if not np.isnan(numbers[role.statistic.name])]
    best = max(shares, key=lambda statistic: numbers[statistic.name]) if shares else ROLES[0].statistic
    return _color(view, best)


def _render_share(
    statistic: Statistic, numbers: Mapping[str, float], before: Mapping[str, float] | None, roles: list[Role]
) -> str:
    """One mean weight as a bar from 0 to 1, marked where its role begins; before: those of the pass before a change."""
    share = numbers[statistic.name]
    above = next((role.above for role in ROLES if role.statistic is statistic), 1.0)
    strong = ' class="bv-strong"' if any(role.statistic is statistic for role in roles) else ""
    was = before[statistic.name] if before else np.nan
    ghost = "" if np.isnan(was) else f'<u style="--part:{was:.2%}"></u>'
    return (
        f"<span{strong}>{escape(statistic.short)}</span><span{strong}>{format_percent(share)}</span>"
        f'<i{strong} style="--part:{share:.2%};--mark:{above:.0%}">{ghost}</i>'
    )


def write_profile(numbers: Mapping[str, float], tokens: int) -> str:
    """One head's entropy, distance, and the rules that hold for it, with numbers. tokens: how many there are."""
    if is_silent(numbers):
        return f"{ALL_ZERO} So it has neither an entropy nor a distance, and no role."
    if not has_shares(numbers):
        return f"{NO_SHARES} So it has neither an entropy nor a distance, and no role."
    even, uniform = (format_short(x) for x in (numbers["entropy"], float(np.log2(tokens))))
    return f"Entropy {even} of {uniform} bits, distance {format_short(numbers['distance'])} tokens. Mark: a role."


def choose_statistic() -> Statistic:
    """The statistic to look at."""
    url.bind(_STATISTIC, STATISTICS)
    name = st.selectbox(
        "Statistic",
        list(STATISTICS),
        key=_STATISTIC.name,
        width=340,
        format_func=lambda name: STATISTICS[name].title,
    )
    return STATISTICS[name]


def show_statistic(view: View, read_heads: Callable[[Trace], Summary], statistic: Statistic) -> None:
    """One statistic of every head, with its formula. read_heads: reads the heads of a pass."""
    all_heads = read_heads(view.trace)
    if np.isnan(all_heads.numbers[statistic.name]).all():
        shared = any(has_shares(all_heads.of(*place)) for place in np.ndindex(all_heads.pictures.shape[:2]))
        st.info(
            "This sentence has no tokens that this statistic could measure."
            if shared
            else "A change leaves no head whose weights are shares: none below 0, each row together 1 without padding."
        )
    else:
        _show_known(view, read_heads, statistic)


@derived
def _show_known(view: View, read_heads: Callable[[Trace], Summary], statistic: Statistic) -> Derived:
    all_heads = read_heads(view.trace)
    values = all_heads.numbers[statistic.name]
    chosen = (view.chosen.layer, view.chosen.head)
    return Derived(
        "head-statistic",
        f"Head by head: {statistic.title}",
        draw_head_grid(values, _choose_end(statistic, values, all_heads.tokens), chosen, view.colors),
        Origin(
            ATTENTION_WEIGHTS.in_layers("*"),
            _ATTENTION,
            _write_formula(view, statistic),
            _make_sentence(statistic.meaning),
            _write_worked(view, statistic, float(values[chosen])),
        ),
        values=make_values(values),
        note=tell_extremes(values).text,
    )


def make_values(values: np.ndarray) -> Values:
    """One number of every head, to download."""
    layers, heads = values.shape
    return Values(values, [f"layer {i}" for i in range(layers)], [f"head {i}" for i in range(heads)])


def _choose_end(statistic: Statistic, values: np.ndarray, tokens: int) -> float:
    """Where the colour scale ends: at what is possible, where that is known."""
    if statistic.unit == SHARE:
        return 1.0
    return float(np.log2(tokens)) if statistic.unit == BITS else float(np.nanmax(values))


def _tell_alike(having: int, heads: int) -> str:
    """The sentence of heads that all have one number. having: how many have any."""
    if heads == 1:
        return "In the only head it is {value}"
    return "In every head it is {value}" if having == heads else "In every head that has one it is {value}"


def tell_extremes(values: np.ndarray) -> Said:
    """Which heads have the largest and the smallest number of (layer, head); where all are written alike, that one.

    Of heads that have no such number nothing is said.
    """
    places = np.flatnonzero(~np.isnan(values))
    row = values.ravel()[places]
    alike = Claim(
        "heads alike",
        _tell_alike(len(places), values.size),
        {"value": tell_number(row.max()), "smallest": tell_number(row.min())},
        Relation.SAME,
    )
    if alike.holds:
        return say(alike, ". The frame marks the chosen head.")
    ends = (
        ("largest", "Largest", "None larger than", int(row.argmax()), say_largest),
        ("smallest", "; smallest", "; none smaller than", int(row.argmin()), say_smallest),
    )
    said: list[str | Said] = []
    for name, alone, shared, place, say_extreme in ends:
        layer, head = divmod(int(places[place]), values.shape[1])
        parts = {"value": tell_number(row[place]), "layer": Part(layer), "head": Part(head)}
        where = "{value} in layer {layer}, head {head}"
        lone, among = (f"{name} of heads", f"{alone}: {where}"), (f"{name} of heads, with others", f"{shared} {where}")
        said.append(say_extreme(lone, among, parts, row, (place,)))
    return say(*said, ". The frame marks the chosen head.")


def _write_formula(view: View, statistic: Statistic) -> str:
    return rf"\begin{{aligned}} & \text{{{statistic.title}}} \\ &= {_color(view, statistic)} \end{{aligned}}"


def _color(view: View, statistic: Statistic) -> str:
    """A statistic's formula with the weights in their colour."""
    return statistic.latex.replace("A_", rf"\textcolor{{{view.colors.kinds[_ATTENTION]}}}{{A}}_")


def _write_worked(view: View, statistic: Statistic, value: float) -> str:
    """The chosen head's number as the mean of its queries."""
    layer, head = view.chosen.layer, view.chosen.head
    terms = [format_latex(float(term)) for term in compute_by_query(view.trace, layer, head, statistic)]
    shown = terms if len(terms) <= 2 * _TERMS else [*terms[:_TERMS], r"\cdots", *terms[-_TERMS:]]
    mean = rf"\frac{{1}}{{{len(terms)}}}\bigl({' + '.join(shown)}\bigr)"
    return rf"\text{{{statistic.title}, layer {layer}, head {head}}} = {mean} = {format_latex(value)}"


def show_table(view: View, read_heads: Callable[[Trace], Summary], statistic: Statistic) -> None:
    """The statistics and roles of a layer's heads, or of those in which one statistic is largest."""
    all_heads = read_heads(view.trace)
    url.bind(_ROWS_OF, _HEADS)
    which = st.segmented_control(
        "Heads",
        list(_HEADS),
        required=True,
        key=_ROWS_OF.name,
        wrap=True,
        format_func=_HEADS.__getitem__,
    )
    layers, heads = all_heads.pictures.shape[:2]
    if which == LAYER:
        what = str(ATTENTION_WEIGHTS.in_layer(view.chosen.layer))
        shown = [(view.chosen.layer, head) for head in range(heads)]
        see = f"Layer {view.chosen.layer}, head by head"
    else:
        best = rank_top(np.nan_to_num(all_heads.numbers[statistic.name]).ravel(), _ROWS)
        what, shown = ATTENTION_WEIGHTS.in_layers("*"), [divmod(place, heads) for place in best]
        see = f"The {len(shown)} of {layers * heads} heads with the largest {statistic.title}"
    with open_card(view, _ATTENTION, Heading(see, "", _color(view, statistic)), f"from {what}"):
        show_passes_html(
            view,
            [_render_table(one, read_heads(one.trace), shown, with_layer=which == ALL_LAYERS) for one in view.passes],
        )


def _render_table(view: View, all_heads: Summary, shown: list[tuple[int, int]], *, with_layer: bool) -> str:
    numbers = [all_heads.of(*place) for place in shown]
    color = view.colors.kinds[_ATTENTION]
    ends = {SHARE: 1.0, BITS: float(np.log2(all_heads.tokens))}
    columns = [
        Column(
            s.short,
            [None if np.isnan(row[s.name]) else row[s.name] for row in numbers],
            color if s.unit in ends else "",
            ends.get(s.unit),
        )
        for s in STATISTICS.values()
        if s is not EVENNESS  # the bar behind the entropy shows it
    ]
    roles = Column("role here", ["\n".join(role.name for role in find_roles(row)) or None for row in numbers])
    chosen = [i for i, place in enumerate(shown) if place == (view.chosen.layer, view.chosen.head)]
    names = [f"{layer}, {head}" if with_layer else str(head) for layer, head in shown]
    heads = [f"{layer},{head}" for layer, head in shown]
    return render_table("layer, head" if with_layer else "head", names, [roles, *columns], chosen, ("head", heads))


def write_rules() -> str:
    """The rules that give heads their names, as HTML."""
    items = "".join(f"<li><b>{escape(role.name)}</b>: {escape(role.rule)}</li>" for role in ROLES)
    return (
        "<p>A role is the name of a rule, checked on this sentence only. A head can have several roles.</p>"
        f"<ul>{items}</ul>"
    )


def _make_sentence(text: str) -> str:
    return escape_markdown(text[0].upper() + text[1:] + ".")
