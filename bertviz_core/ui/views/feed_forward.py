"""One token's neurons: where they stand on the activation's curve, and what they add to the output."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.feed_forward import (
    ACTIVATIONS,
    Neurons,
    find_activation,
    measure_neurons,
    sum_contributions,
)
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import center_range, find_strongest
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.base import Chart
from bertviz_core.figures.feed_forward import draw_neurons, draw_parts
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.steps import FFN
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks, table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import find_robust_limit
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_count, tell_nowhere, tell_percent, tell_short, tell_token

SHOWN, NAMED, _FIRST = 12, 3, 5  # neurons in the table, beside the curve, and one by one in the sum
_TOKENS = 16  # at which a neuron's activation is shown
_STYLE = read_css(Path(__file__).with_name("feed_forward.css"))


def write_headline(view: View) -> Said:
    """How many neurons are active, and which one writes the longest vector."""
    found = _measure(view)
    (first,) = found.strongest(1)
    speaks = Claim(
        "active neurons", "Which neurons speak at {word}? **{active}** of {count} are active",
        {"active": tell_percent(found.active.mean()), "count": tell_count(len(found.active)),
         "word": tell_token(view.trace.tokens, view.chosen.token)},
    )  # fmt: skip
    parts = {"length": tell_nowhere(found.lengths[first]), "neuron": Part(first),
             "share": tell_percent(found.shares[first])}  # fmt: skip
    return say(speaks, choose(
        Claim("no neuron writes", ", and none writes anything", {}, Relation.NONE, found.lengths),
        Claim("longest neuron", "; **neuron {neuron}** writes the longest vector, **{share}** of the sum", parts,
              Relation.LARGEST, found.lengths, (first,)),
        Claim("no longer neuron", "; none writes a longer vector than **neuron {neuron}**, **{share}** of the sum",
              parts, Relation.HIGHEST, found.lengths, (first,)),
    ))  # fmt: skip


def _measure(view: View) -> Neurons:
    return measure_neurons(view.trace, view.chosen.layer, view.chosen.token)


def show_neurons(view: View) -> None:
    """The lead: every neuron of the chosen token on the activation's curve, and the ones that write most."""
    trace, token, found = view.trace, view.chosen.token, _measure(view)
    after = Address.in_layer(view.chosen.layer, "intermediate.activation").fix(token=token)
    top = found.strongest(SHOWN)
    see = f"The neurons of {name_token(trace.tokens, token)} on the activation function"
    step, worked = trace.step(after), after.fix(intermediate=top[0])
    heading = Heading(see, "", view.typeset(step), step.source, worked)
    with open_card(view, FFN, heading, after, format_shape(trace, after)) as tools:
        with tools:
            show_values("neurons", Values(
                np.stack([found.before, found.after, found.lengths, found.shares], axis=1),
                [f"neuron {i}" for i in range(len(found.before))],
                ["pre-activation", "activation", "length written", "share of the sum"],
            ))  # fmt: skip
        drawn, table = st.columns([9, 11], gap="medium", vertical_alignment="center")
        with drawn:
            every = picks.pick_every(trace, after)
            charts = [_draw_curve(one, _measure(one), top).offer(every) for one in view.passes]
            show_passes_chart(view, charts, "neurons", see)
        with table:
            st.html(_STYLE)
            show_passes_html(view, [_render_neurons(one, _measure(one), top) for one in view.passes])
        st.caption(
            f"{tell_words(view)}{tell_quiet(view)} A circle's area is the length that the neuron writes: its "
            "activation times the length of its row of W₂. A share is the part along the sum of all."
            f"{tell_put(view, after)}"
        )


def tell_quiet(view: View) -> Said:
    """How many neurons are active, and what the others make up of the sum."""
    found = _measure(view)
    quiet = found.shares[~found.active]
    sizes = np.abs(quiet)
    counts = {"active": tell_count(found.active.sum()), "count": tell_count(len(found.active))}
    told = Claim("neurons above 0", "{active} of {count} neurons are active: their pre-activation is above 0.", counts)
    if not quiet.size:
        return say(told)
    together = {"share": tell_percent(quiet.sum()), "others": tell_count(len(quiet))}
    most = {"most": tell_percent(sizes.max())}
    return say(
        told,
        Claim("neurons below 0", " The other {others} together make up {share} of the sum", together),
        Claim("each below 0", ", at most {most} each, in size.", most, Relation.HIGHEST, sizes, (int(sizes.argmax()),)),
    )


def _draw_curve(view: View, found: Neurons, top: list[int]) -> Chart:
    own = find_activation(view.trace, view.chosen.layer)
    grid = np.linspace(min(found.before.min(), -3.0) - 0.5, max(found.before.max(), 3.0) + 0.5, 160)
    return draw_neurons(
        (grid, sample_function(own, grid)), found.before, found.after, found.lengths, top[:NAMED], view.colors,
        view.colors.kinds[FFN], ACTIVATIONS[own],
    )  # fmt: skip


def _render_neurons(view: View, found: Neurons, top: list[int]) -> str:
    """One row a neuron: at which tokens it speaks, its activation here, what it writes."""
    trace, token = view.trace, view.chosen.token
    address = Address.in_layer(view.chosen.layer, "intermediate.activation")
    before = Address.in_layer(view.chosen.layer, "intermediate.dense")
    shown = center_range(token, _TOKENS, len(trace.tokens))
    at_all = trace[address][shown.start : shown.stop, top].clip(min=0)
    loudest, longest = float(at_all.max(initial=0.0)) or 1.0, float(found.lengths[top[0]]) or 1.0
    rows = []
    for i, at_tokens in zip(top, at_all.T, strict=True):
        cells = "".join(
            f'<button class="{"bv-own" if j == token else ""}" style="--at:{float(x) / loudest:.2f}" data-cell="'
            f'{address.fix(token=j, intermediate=i)}" title="{escape(trace.tokens[j])}" tabindex="-1"></button>'
            for j, x in zip(shown, at_tokens, strict=True)
        )
        long = f'<i class="bv-long" style="width:{float(found.lengths[i]) / longest * 72:.0f}px"></i>'
        cell = address.fix(token=token, intermediate=i)
        rows.append(table_html.write_row(f'<button data-cell="{cell}">{i}</button>', (
            f'<td class="bv-tokens-too"><div class="bv-speak">{cells}</div></td>',
            _render_cell(found.before[i], before.fix(token=token, intermediate=i)),
            _render_cell(found.after[i], cell),
            f"<td>{long}{format_short(float(found.lengths[i]))}</td>",
            f"<td>{format_percent(float(found.shares[i]))}</td>",
        )))  # fmt: skip
    heads = (
        f'{table_html.write_heads(("neuron",))}<th scope="col" class="bv-tokens-too">at each token</th>'
        f"{table_html.write_heads(('pre-activation', 'activation', 'length written', 'share of sum'))}"
    )
    table = table_html.write_table(heads, rows)
    return table_html.write_region("The neurons that write most", table, "bv-neurons", picture=True)


def _render_cell(value: float, cell: Address) -> str:
    return f'<td><button data-cell="{cell}">{format_number(float(value))}</button></td>'


def show_sum(view: View) -> None:
    """What the neurons add together: the strongest one by one, the others in groups, the bias, and the output."""
    trace = view.trace
    at = Address.in_layer(view.chosen.layer, "output.dense").fix(token=view.chosen.token)
    names, parts, shares = _split_sum(view)
    cells = picks.pick_vectors(trace, [at] * len(names))
    see = "What they add together"
    step, worked = trace.step(at), at.fix(hidden=find_strongest(parts[-1]))
    heading = Heading(see, "", view.typeset(step), step.source, worked)
    with open_card(view, FFN, heading, at, format_shape(trace, at)) as tools:
        with tools:
            width = [str(i) for i in range(parts.shape[1])]
            show_values("neuron-parts", Values(np.column_stack([parts, shares]), names, [*width, "share"]))
        show_passes_chart(view, [_draw_sum(one).offer(cells) for one in view.passes], "neuron-parts", see)
        st.caption(
            f"{tell_words(view)}"
            "One row a part, one column a component: a neuron's activation times its row of W₂. They and the bias "
            f"sum to {tell_sum(view)}. At the right, the share: a part's length along the direction of the sum, over "
            "the length of the sum. A part that points against it is below 0."
        )


def _split_sum(view: View) -> tuple[list[str], np.ndarray, list[float]]:
    """What is added, the same groups of neurons in every pass: names, vectors (part, hidden), shares of their sum.

    The last row is what they add up to: the output, unless a change put another one there.
    """
    trace, found, output = view.trace, _measure(view), Address.in_layer(view.chosen.layer, "output.dense")
    groups = _group(_measure(view.guide))
    directions, bias = trace[output.enter("weight")], trace[output.enter("bias")]
    sums, at = sum_contributions(found.after, directions, groups.values()), output.fix(token=view.chosen.token)
    name, total = ("sum", sums.sum(axis=0) + bias) if is_put(trace, at) else ("output", trace[at])
    shares = [*(float(found.shares[members].sum()) for members in groups.values()), found.bias, float(total.any())]
    return [*groups, "bias", name], np.stack([*sums, bias, total]), shares


def tell_sum(view: View) -> Said:
    """What the neurons and the bias sum to: the output, unless a change put another one there."""
    at = Address.in_layer(view.chosen.layer, "output.dense").fix(token=view.chosen.token)
    *_, total = _split_sum(view)[1]
    given, recorded = (float(np.linalg.norm(vector)) for vector in (total, view.trace[at]))
    parts = {"length": tell_short(given), "recorded": tell_short(recorded)}
    if not is_put(view.trace, at):
        return say(Claim("sum of neurons", "the output, whose length is {length}", parts))
    form = "a vector of length {length}, but a change puts another one there, of length {recorded}"
    return say(Claim("sum of neurons, put", form, parts))


def _draw_sum(view: View) -> Chart:
    names, parts, shares = _split_sum(view)
    return draw_parts(parts, names, [format_percent(x) for x in shares], find_robust_limit(parts), view.colors)


def _group(found: Neurons) -> dict[str, list[int]]:
    """All neurons, by name of the row that they share: the strongest alone, then those of the table, then the rest."""
    top = found.strongest(SHOWN)
    rest = np.setdiff1d(np.arange(len(found.active)), top)
    groups = {f"neuron {i}": [i] for i in top[:_FIRST]} | {f"{len(top) - _FIRST} next": top[_FIRST:]}
    loud, quiet = rest[found.active[rest]].tolist(), rest[~found.active[rest]].tolist()
    groups |= {f"{len(loud):,} more active": loud, f"{len(quiet):,} not active": quiet}
    return {name: members for name, members in groups.items() if members}
