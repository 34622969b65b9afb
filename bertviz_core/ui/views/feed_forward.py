"""One token's neurons: where they stand on the activation's curve, and what they add to the output."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.feed_forward import (
    ACTIVATIONS,
    Neurons,
    find_activation,
    sum_contributions,
)
from bertviz_core.analysis.made_from import find_doing, is_put
from bertviz_core.analysis.ranking import find_robust_limit, find_strongest
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.base import Chart
from bertviz_core.figures.feed_forward import draw_neurons, draw_parts
from bertviz_core.formula.address import Address
from bertviz_core.formula.steps import FFN
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.meanings import PUTS
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.panels.passes import show_passes_chart, tell_words
from bertviz_core.ui.panels.put import tell_put, tell_skipped
from bertviz_core.ui.panels.said import tell_count, tell_nowhere, tell_percent, tell_short, tell_token
from bertviz_core.ui.views.feed_forward_strongest import SHOWN, measure, show_strongest

NAMED, _FIRST = 3, 5  # neurons beside the curve, and one by one in the sum


def write_headline(view: View) -> Said:
    """How many neurons are active, and which one writes the longest vector."""
    found = measure(view)
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


def _say_before(view: View, active: int) -> list[Claim]:
    """How many neurons were active before the changes, where these were others."""
    was = active if view.ghost is None else int(measure(view.unchanged).active.sum())
    form = f" Before {view.outcome.yours}: {{was}}."
    return [] if was == active else [Claim("neurons above 0 before", form, {"was": tell_count(was)})]


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


def show_neurons(view: View) -> None:
    """The lead: every neuron of the chosen token on the activation's curve, and the ones that write most."""
    curve, table = st.columns([2, 3], gap="small")
    with curve:
        _show_curve(view)
    with table:
        show_strongest(view)


def _show_curve(view: View) -> None:
    """All neurons of the chosen token, by what goes into the activation function and what comes out."""
    trace, found = view.trace, measure(view)
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
        charts = [_draw_curve(one, measure(one), top).offer(every) for one in view.passes]
        show_passes_chart(view, charts, "neurons", see)
        moved = "" if _read_before(view, top) is None else "Rings: before. "
        if note := f"{moved}{tell_words(view)}{tell_put(view, after)}".strip():
            st.caption(note)


def tell_quiet(view: View) -> Said:
    """How many neurons are active, and what the others make up of the sum."""
    found = measure(view)
    quiet = found.shares[~found.active]
    sizes = np.abs(quiet)
    counts = {"active": tell_count(found.active.sum()), "count": tell_count(len(found.active))}
    are = "is active: its" if found.active.sum() == 1 else "are active: their"
    form = f"{{active}} of {{count}} neurons {are} pre-activation is above 0."
    told = say(Claim("neurons above 0", form, counts), *_say_before(view, int(found.active.sum())))
    if not quiet.size:
        return say(told)
    others = tell_count(len(quiet))
    if found.active.any() and not found.shares.any():
        none = Claim("no neuron adds", " None of the {count} adds to the sum.", counts, Relation.NONE, found.shares)
        return say(told, none)
    if not sizes.any():
        who = "The other {others} add" if found.active.any() else "They add"
        return say(
            told, Claim("nothing below 0", f" {who} nothing to the sum.", {"others": others}, Relation.NONE, sizes)
        )
    together = {"share": tell_percent(quiet.sum()), "others": others}
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
        _read_before(view, top),
    )


def _read_before(view: View, top: list[int]) -> np.ndarray | None:
    """(2, neuron) where the neurons with names stood before the changes: pre-activation, activation; None where that is
    not shown, or the same."""
    if view.ghost is None:
        return None
    was, now = (
        np.stack([each.before, each.after])[:, top[:NAMED]] for each in (measure(view.unchanged), measure(view))
    )
    return None if np.array_equal(was, now) else was


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
        if note := f"{tell_words(view)}{put} {tell_skipped(trace, view.chosen.layer)}".strip():
            st.caption(note)


def _split_sum(view: View) -> tuple[list[str], np.ndarray]:
    """What is added, the same groups of neurons in every pass: names and vectors (part, hidden).

    The last row is what they add up to: the output, unless a change put another one there.
    """
    trace, output = view.trace, Address.in_layer(view.chosen.layer, "output.dense")
    groups = _group(measure(view.guide))
    directions, bias = trace[output.enter("weight")], trace[output.enter("bias")]
    sums, at = sum_contributions(measure(view).after, directions, groups.values()), output.fix(token=view.chosen.token)
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
    doing = find_doing(view.trace, at)
    does = "puts another one there, of" if doing == PUTS else f"{doing} it; then it has"
    form = f"a vector of length {{length}}, but a change {does} length {{recorded}}"
    return say(Claim("sum of neurons, put", form, parts))


def _draw_sum(view: View) -> Chart:
    names, parts = _split_sum(view)
    return draw_parts(parts, names, find_robust_limit(parts), view.colors)


def _group(found: Neurons) -> dict[str, list[int]]:
    """All neurons, by name of the row that they share: the strongest alone, then all others."""
    top = found.strongest(_FIRST)
    rest = np.setdiff1d(np.arange(len(found.active)), top).tolist()
    return {f"neuron {i}": [i] for i in top} | ({write_count(len(rest), "other"): rest} if rest else {})
