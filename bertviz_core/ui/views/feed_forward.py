"""One token's neurons: where they stand on the activation's curve, and what they add to the output."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import Without, cut_place, find_outcomes, zero_each
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.feed_forward import (
    ACTIVATIONS,
    Neurons,
    find_activation,
    measure_neurons,
    sum_contributions,
)
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import find_robust_limit, find_strongest
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.base import Chart
from bertviz_core.figures.feed_forward import draw_neurons, draw_parts
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, format_short, write_fixed
from bertviz_core.formula.steps import FFN
from bertviz_core.formula.texts import write_count
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.identity import name_pass
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.findings import WAITS, Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks, table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_count, tell_nowhere, tell_percent, tell_short, tell_token

SHOWN, NAMED, _FIRST = 12, 3, 5  # neurons in the table, beside the curve, and one by one in the sum
_STYLE = read_css(Path(__file__).with_name("feed_forward.css"))


def write_headline(view: View) -> Said:
    """How many neurons are active, and which one writes the longest vector."""
    found = _measure(view)
    (first,) = found.strongest(1)
    speaks = Claim(
        "active neurons",
        "Which neurons speak at {word}? **{active}** of {count} are active",
        {
            "active": tell_percent(found.active.mean()),
            "count": tell_count(len(found.active)),
            "word": tell_token(view.trace.tokens, view.chosen.token),
        },
    )
    return say(speaks, _say_longest(found, first))


def _say_longest(found: Neurons, first: int) -> Said:
    """Which neuron writes the longest vector, if any does. first: one that none surpasses."""
    parts = {
        "length": tell_nowhere(found.lengths[first]),
        "neuron": Part(first),
        "share": tell_percent(found.shares[first]),
    }
    return choose(
        Claim("no neuron writes", ", and none writes anything", {}, Relation.NONE, found.lengths),
        Claim(
            "longest neuron",
            "; **neuron {neuron}** writes the longest vector, **{share}** of the sum",
            parts,
            Relation.LARGEST,
            found.lengths,
            (first,),
        ),
        Claim(
            "no longer neuron",
            "; none writes a longer vector than **neuron {neuron}**, **{share}** of the sum",
            parts,
            Relation.HIGHEST,
            found.lengths,
            (first,),
        ),
    )


def _measure(view: View) -> Neurons:
    return measure_neurons(view.trace, view.chosen.layer, view.chosen.token)


def show_neurons(view: View) -> None:
    """The lead: every neuron of the chosen token on the activation's curve, and the ones that write most."""
    curve, table = st.columns([2, 3], gap="small")
    with curve:
        _show_curve(view)
    with table:
        _show_strongest(view)


def _show_curve(view: View) -> None:
    """All neurons of the chosen token, by what goes into the activation function and what comes out."""
    trace, found = view.trace, _measure(view)
    after = Address.in_layer(view.chosen.layer, "intermediate.activation").fix(token=view.chosen.token)
    top, step = found.strongest(SHOWN), trace.step(after)
    many = len(found.before)
    see = f"All {many:,} neurons on the curve" if many > 1 else "The neuron on the curve"
    heading = Heading(
        see, "a circle's area: how much it writes", view.typeset(step), step.source, after.fix(intermediate=top[0])
    )
    with open_card(view, FFN, heading, after, format_shape(trace, after)) as tools:
        with tools:
            show_values(
                "neurons",
                Values(
                    np.stack([found.before, found.after, found.lengths, found.shares], axis=1),
                    [f"neuron {i}" for i in range(len(found.before))],
                    ["pre-activation", "activation", "length written", "share of the sum"],
                ),
            )
        every = picks.pick_every(trace, after)
        charts = [_draw_curve(one, _measure(one), top).offer(every) for one in view.passes]
        show_passes_chart(view, charts, "neurons", see)
        if note := f"{tell_words(view)}{tell_put(view, after)}".strip():
            st.caption(note)


def _show_strongest(view: View) -> None:
    """The neurons that write the longest vectors, longest first, with what the answer is without each."""
    output, top = Address.in_layer(view.chosen.layer, "output.dense"), _measure(view).strongest(SHOWN)
    answer = next(iter(find_outcomes(view.guide.trace, view.chosen.token).items()), None)
    after = f" after {view.outcome.yours}" if view.outcome.compared else ""
    see, says = f"The {len(top)} that write most", f"their vectors, longest first{after}"
    heading = Heading(
        see, f"{says}; and the answer without each" if answer else says, _write_written(view), "of neuron j"
    )
    with open_card(view, FFN, heading, output.enter("weight")):
        st.html(_STYLE)
        if answer is None:
            show_passes_html(view, [_render_neurons(one, _measure(one), top) for one in view.passes])
        else:
            name, cell = answer
            asked = _ask_without(view, cell, top)
            show_finding("strongest", asked, partial(_draw_without, view, top, cut_place(name), cell))


def _ask_without(view: View, answer: Address, top: list[int]) -> Wanted[tuple[Without, ...]]:
    """The finding: the answer with each of these neurons set to 0 at the chosen token, in every pass shown."""
    cells, traces = _list_activations(view, top), tuple(one.trace for one in view.passes)
    return Wanted(
        ("neurons", answer, cells, *map(name_pass, traces)), view.trace, partial(zero_each, traces, answer, cells)
    )


def _list_activations(view: View, neurons: list[int]) -> tuple[Address, ...]:
    after = Address.in_layer(view.chosen.layer, "intermediate.activation").fix(token=view.chosen.token)
    return tuple(after.fix(intermediate=i) for i in neurons)


def _draw_without(view: View, top: list[int], name: str, answer: Address, found: Found[tuple[Without, ...]]) -> None:
    """The table as far as it is known, and under it how much the answer has with all neurons."""
    known = found.value or ({},) * len(view.passes)
    bodies = []
    for one, without in zip(view.passes, known, strict=True):
        value = float(one.trace.recomputed(answer))
        changes = (_write_change(without.get(cell, WAITS), value) for cell in _list_activations(view, top))
        bodies.append(_render_neurons(one, _measure(one), top, (f"{name} without it", list(changes))))
    show_passes_html(view, bodies)
    value = format_percent(float(view.trace.recomputed(answer)))
    st.caption(
        tell_progress(found, "the neurons set to 0")
        or f"{tell_words(view)}{escape_markdown(name)} has {value} with all neurons; pt: percentage points."
    )


def _write_change(without: float | str | None, value: float) -> str:
    """By how much the answer is more without a neuron, in percentage points: `+0.55 pt`, `−2.28 pt`; a dash
    where it cannot be set to 0."""
    if without is None:
        return "–"
    if isinstance(without, str):
        return without
    points = 100 * (without - value)
    return f"{'+' * (points >= 0.005)}{write_fixed(points, 2)} pt"


def _write_written(view: View) -> str:
    """What one neuron, j, writes: its activation times its row of the second matrix; and how long that is."""
    step = view.trace.step(Address.in_layer(view.chosen.layer, "output.dense"))
    g, w, _ = (leaf.latex(style.make_painter(view.colors)) for leaf in step.leaves)
    return rf"\lvert {g}_{{j}}\, {{{w}}}_{{j,:}} \rvert = \lvert {g}_{{j}} \rvert\, \lvert {{{w}}}_{{j,:}} \rvert"


def tell_quiet(view: View) -> Said:
    """How many neurons are active, and what the others make up of the sum."""
    found = _measure(view)
    quiet = found.shares[~found.active]
    sizes = np.abs(quiet)
    counts = {"active": tell_count(found.active.sum()), "count": tell_count(len(found.active))}
    are = "is active: its" if found.active.sum() == 1 else "are active: their"
    told = Claim("neurons above 0", f"{{active}} of {{count}} neurons {are} pre-activation is above 0.", counts)
    if not quiet.size:
        return say(told)
    together = {"share": tell_percent(quiet.sum()), "others": tell_count(len(quiet))}
    make = "makes" if len(quiet) == 1 else "together make"
    most = {"most": tell_percent(sizes.max())}
    return say(
        told,
        Claim("neurons below 0", f" The other {{others}} {make} up {{share}} of the sum", together),
        Claim("each below 0", ", at most {most} each, in size.", most, Relation.HIGHEST, sizes, (int(sizes.argmax()),)),
    )


def _draw_curve(view: View, found: Neurons, top: list[int]) -> Chart:
    own = find_activation(view.trace, view.chosen.layer)
    grid = np.linspace(min(found.before.min(), -3.0) - 0.5, max(found.before.max(), 3.0) + 0.5, 160)
    return draw_neurons(
        (grid, sample_function(own, grid)),
        found.before,
        found.after,
        found.lengths,
        top[:NAMED],
        view.colors,
        ACTIVATIONS[own],
    )


def _render_neurons(view: View, found: Neurons, top: list[int], answer: tuple[str, list[str]] | None = None) -> str:
    """One row a neuron: what goes in, what comes out, what it writes.

    answer: the last column's name, and its cells; by default that is the share of the sum.
    """
    token = view.chosen.token
    before, after = (
        Address.in_layer(view.chosen.layer, f"intermediate.{leaf}").fix(token=token) for leaf in ("dense", "activation")
    )
    longest, ink = float(found.lengths[top[0]]) or 1.0, view.colors.cells[FFN]
    last, texts = answer or ("share of sum", [format_percent(float(found.shares[i])) for i in top])
    rows = []
    for i, text in zip(top, texts, strict=True):
        part = float(found.lengths[i]) / longest
        long = f'<i class="bv-long"><b style="width:{part:.0%};background:{ink}"></b></i>'
        cell = after.fix(intermediate=i)
        rows.append(
            table_html.write_row(
                f'<button data-cell="{cell}">{i}</button>',
                (
                    _render_cell(found.before[i], before.fix(intermediate=i)),
                    _render_cell(found.after[i], cell),
                    f"<td>{long}{format_short(float(found.lengths[i]))}</td>",
                    f"<td>{text}</td>",
                ),
            )
        )
    heads = table_html.write_heads(("neuron", "pre-activation", "activation", "length written", escape(last)))
    table = table_html.write_table(heads, rows)
    return table_html.write_region("The neurons that write most", table, "bv-neurons", picture=True)


def _render_cell(value: float, cell: Address) -> str:
    return f'<td><button data-cell="{cell}">{format_number(float(value))}</button></td>'


def show_sum(view: View) -> None:
    """What the neurons add together: the strongest one by one, the others as one, the bias, and the output."""
    trace = view.trace
    at = Address.in_layer(view.chosen.layer, "output.dense").fix(token=view.chosen.token)
    names, parts = _split_sum(view)
    cells = picks.pick_vectors(trace, [at] * len(names))
    see, step = "What they add together", trace.step(at)
    heading = Heading(
        see, str(tell_quiet(view)), view.typeset(step), step.source, at.fix(hidden=find_strongest(parts[-1]))
    )
    with open_card(view, FFN, heading, at, format_shape(trace, at)) as tools:
        with tools:
            show_values("neuron-parts", Values(parts, names, [str(i) for i in range(parts.shape[1])]))
        show_passes_chart(view, [_draw_sum(one).offer(cells) for one in view.passes], "neuron-parts", see)
        put = f"They and the bias sum to {tell_sum(view)}." if is_put(trace, at) else ""
        if note := f"{tell_words(view)}{put}".strip():
            st.caption(note)


def _split_sum(view: View) -> tuple[list[str], np.ndarray]:
    """What is added, the same groups of neurons in every pass: names and vectors (part, hidden).

    The last row is what they add up to: the output, unless a change put another one there.
    """
    trace, output = view.trace, Address.in_layer(view.chosen.layer, "output.dense")
    groups = _group(_measure(view.guide))
    directions, bias = trace[output.enter("weight")], trace[output.enter("bias")]
    sums, at = sum_contributions(_measure(view).after, directions, groups.values()), output.fix(token=view.chosen.token)
    name, total = ("= sum", sums.sum(axis=0) + bias) if is_put(trace, at) else ("= written", trace[at])
    return [*groups, "bias", name], np.stack([*sums, bias, total])


def tell_sum(view: View) -> Said:
    """What the neurons and the bias sum to: the output, unless a change put another one there."""
    at = Address.in_layer(view.chosen.layer, "output.dense").fix(token=view.chosen.token)
    total = _split_sum(view)[1][-1]
    given, recorded = (float(np.linalg.norm(vector)) for vector in (total, view.trace[at]))
    parts = {"length": tell_short(given), "recorded": tell_short(recorded)}
    if not is_put(view.trace, at):
        return say(Claim("sum of neurons", "the output, whose length is {length}", parts))
    form = "a vector of length {length}, but a change puts another one there, of length {recorded}"
    return say(Claim("sum of neurons, put", form, parts))


def _draw_sum(view: View) -> Chart:
    names, parts = _split_sum(view)
    return draw_parts(parts, names, find_robust_limit(parts), view.colors)


def _group(found: Neurons) -> dict[str, list[int]]:
    """All neurons, by name of the row that they share: the strongest alone, then all others."""
    top = found.strongest(_FIRST)
    rest = np.setdiff1d(np.arange(len(found.active)), top).tolist()
    return {f"neuron {i}": [i] for i in top} | ({write_count(len(rest), "other"): rest} if rest else {})
