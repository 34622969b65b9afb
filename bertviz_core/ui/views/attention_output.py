"""Attention's output: who brings what to one token, the heads side by side, and what each adds to the result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.add_norm import ATTENTION as ATTENTION_OUTPUT
from bertviz_core.analysis.add_norm import adds_input
from bertviz_core.analysis.attention import choose_shown, share_sum, weigh_values
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.labels import label_tokens, tell_tokens_apart
from bertviz_core.analysis.ranking import find_robust_limit, find_strongest
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.matrices import draw_cut
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import ATTENTION, VALUE
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import CONTEXT, SELF_ATTENTION
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_nowhere, tell_number, tell_others
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.attention_output_bringing import SHOWN
from bertviz_core.ui.views.attention_output_taken import list_outputs

_SLICE = r"[i] = i\, d_k, \dots, (i+1)\, d_k - 1"  # a head's part of all heads side by side


@derived
def show_brought(view: View) -> Derived:
    """Every token's value times its share, for the chosen token and head; the sum is the head's result."""
    trace, names, head, token = view.trace, label_tokens(view.trace), view.chosen.head, view.chosen.token
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    probs, value = own.enter("probs").fix(head=head, query=token), own.enter("value").fix(head=head)
    parts = weigh_values(trace[probs], trace[value])
    total, lengths = parts.sum(axis=0), np.linalg.norm(parts, axis=1)
    kept = sorted({*trace.encoding.real, token, *np.flatnonzero(trace[probs]).tolist()})
    shown = [kept[i] for i in choose_shown(lengths[kept], SHOWN, (kept.index(token),))]
    words, others = tell_tokens_apart(trace, shown), len(kept) - len(shown)
    longest = f", the longest{tell_others(trace, lengths, shown, SHOWN)}" if np.ptp(lengths[kept]) else ", all as long"
    return Derived(
        "brought",
        f"Weighted values of head {head} for {name_token(trace.tokens, token)}, and their sum",
        _draw_brought(parts[shown], total, words, others, view.colors).offer(
            picks.pick_vectors(trace, [value.fix(key=i) for i in shown])
        ),
        _write_weighted(view, total),
        values=Values(np.stack([*parts, total]), [*names, "sum"], [str(i) for i in range(len(total))]),
        note="One row per token: its value times its attention weight. The last row is the sum of all rows, the "
        "head output. "
        + f"{tell_most(view)}{tell_put(view, *list_outputs(view))}"
        + (f" Shown: {len(shown)}{longest}; the others are summed in one row." if others else ""),
        table=render_table(
            "token",
            words,
            _list_columns(view, trace[probs], trace[value], parts, shown),
            [shown.index(token)],
            ("token", shown),
        ),
        start=_find_sum_cell(view, total),
    )


def _draw_brought(rows: np.ndarray, total: np.ndarray, words: Sequence[str], others: int, colors: Palette) -> Chart:
    """What is longest, row by row; the others, if there are any, in one row; the sum."""
    rest = {write_count(others, "other"): total - rows.sum(axis=0)} if others else {}
    drawn = np.stack([*rows, *rest.values(), total])
    names = Side("from", [*words, *rest, "sum"])
    return draw_heatmap(drawn, names, Side("head_dim"), colors, VALUE, end=find_robust_limit(drawn))


def tell_most(view: View) -> Said:
    """A large share of a short value is little: whether the token most looked at also brings most."""
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    row = view.trace[own.enter("probs").fix(head=view.chosen.head, query=view.chosen.token)]
    values = view.trace[own.enter("value").fix(head=view.chosen.head)]
    lengths = np.linalg.norm(weigh_values(row, values), axis=1)
    if (row < 0).any() and lengths.any():
        return _tell_longest_below_zero(lengths)
    return choose(
        Claim("nothing looked at", "All its attention weights are 0.", {}, Relation.NONE, row),
        Claim("nothing to weigh", "All its weighted values are 0.", {}, Relation.NONE, lengths),
        _tell_largest(row, lengths),
        _tell_one_of_several(row, lengths),
    )


def _tell_longest_below_zero(lengths: np.ndarray) -> Said:
    """Which weighted value is longest, where a change has put weights below 0."""
    change, best = "A change puts weights below 0, whose values it takes off. ", int(lengths.argmax())
    parts = {"length": tell_number(lengths[best]), "key": Part(best)}
    longest = change + "Position {key} has the longest weighted value, {length}."
    none = change + "No weighted value is longer than that of position {key}, {length}."
    return choose(
        Claim("longest among weights below 0", longest, parts, Relation.LARGEST, lengths, (best,)),
        Claim("none longer among weights below 0", none, parts, Relation.HIGHEST, lengths, (best,)),
    )


def _tell_largest(row: np.ndarray, lengths: np.ndarray) -> Said:
    """Where one weight is the largest of a row (key,), and one weighted value the longest: whether these are one's."""
    looked, bringing = int(row.argmax()), int(lengths.argmax())
    weight = {"weight": tell_number(row[looked]), "key": Part(looked)}
    brings = {"length": tell_nowhere(lengths[bringing]), "key": Part(bringing)}
    first, name = "Position {key} has the largest attention weight", "and brings most"
    second = " and also the longest weighted value."
    if looked != bringing:
        first, name = f"{first}, {{weight}}.", "brings most"
        second = " Position {key} has the longest weighted value, because its value is longer."
    return say(
        Claim("most looked at", first, weight, Relation.LARGEST, row, (looked,)),
        Claim(name, second, brings, Relation.LARGEST, lengths, (bringing,)),
    )


def _tell_one_of_several(row: np.ndarray, lengths: np.ndarray) -> Said:
    """Where several are alike: that none is larger, and none longer."""
    looked, bringing = int(row.argmax()), int(lengths.argmax())
    weight = {"weight": tell_number(row[looked]), "key": Part(looked)}
    brings = {"length": tell_nowhere(lengths[bringing]), "key": Part(bringing)}
    larger = "No attention weight is larger than that of position {key}, {weight}"
    longer = ", and no weighted value longer than that of position {key}."
    return say(
        Claim("no weight is larger", larger, weight, Relation.HIGHEST, row, (looked,)),
        Claim("no value is longer", longer, brings, Relation.HIGHEST, lengths, (bringing,)),
    )


def _list_columns(
    view: View, shares: np.ndarray, values: np.ndarray, parts: np.ndarray, shown: list[int]
) -> list[Column]:
    """Each token's share, the lengths of its value and of what it brings, and how much of the sum that is."""
    attention, value = view.colors.kinds[ATTENTION], view.colors.kinds[VALUE]
    return [
        Column("attention weight A", shares[shown].tolist(), attention, 1.0),
        Column("length of V", np.linalg.norm(values[shown], axis=1).tolist(), value),
        Column("length of A V", np.linalg.norm(parts[shown], axis=1).tolist(), value),
        Column("fraction of the sum", share_sum(parts)[shown].tolist(), value, signed=True),
    ]


def _write_weighted(view: View, total: np.ndarray) -> Origin:
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    probs, value, found = (
        SELF_ATTENTION.in_layer(view.chosen.layer).enter(name) for name in ("probs", "value", "context")
    )
    context = trace.step(found)
    a, v, c = (style.make_painter(view.colors)(trace.step(where).output) for where in (probs, value, found))
    return Origin(
        f"{probs.fix(head=head, query=token)} and {value.fix(head=head)}",
        context.kind,
        rf"\begin{{aligned}} & {c}_{{{token},\,[i]}} = \sum_{{u}} {a}_{{i,{token},u}}\, {v}_{{i,u,:}} \\ "
        rf"& i = {head}, \quad {_SLICE} \end{{aligned}}",
        f"{_say_average(float(trace[probs.fix(head=head, query=token)].sum(dtype=np.float64)))} The fraction of the "
        "sum is measured along the direction of the sum; it is negative for a vector that points the other way.",
        trace.explain(_find_sum_cell(view, total)).latex,
        f"{context.source}; encoder article (004), example 2",
    )


def _say_average(total: float) -> str:
    """What the sum is, by what the attention weights sum to: 1, unless a change put others."""
    if math.isclose(total, 1, abs_tol=1e-4):
        return "A weighted average of the values: the attention weights sum to 1."
    return f"A weighted sum of the values: as changed, the attention weights sum to {format_number(total)}."


def _find_sum_cell(view: View, total: np.ndarray) -> Address:
    """The recorded cell of the largest number of the sum: the one that the formula works out."""
    column = view.chosen.head * len(total) + find_strongest(total)
    context = CONTEXT.in_layer(view.chosen.layer)
    return context.fix(token=view.chosen.token, concat=column)


@derived
def _show_merged(view: View) -> Derived:
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    address = CONTEXT.in_layer(view.chosen.layer)
    heads = trace.model.config.num_attention_heads
    vector, step = trace[address.fix(token=token)], trace.step(address)
    width = len(vector) // heads
    column = head * width + find_strongest(vector[head * width : (head + 1) * width])
    return Derived(
        "merged",
        f"Concatenated heads of {name_token(trace.tokens, token)}: {write_count(heads, 'head output')} in one vector",
        draw_cut(vector, heads, head, find_robust_limit(vector), view.colors, step.kind, merged=True),
        Origin(
            address.fix(token=token),
            step.kind,
            step.typeset(style.make_painter(view.colors)),
            "Concatenation changes no number: entry $j$ of head $i$ becomes entry $i\\, d_k + j$ of the vector, "
            f"$d_k = {width}$.",
            trace.explain(address.fix(token=token, concat=column)).latex,
            step.source,
        ),
        values=Values(
            vector.reshape(heads, width), [f"head {i}" for i in range(heads)], [f"component {j}" for j in range(width)]
        ),
        note="Above: one row per head, its head output. Below: the same numbers in one vector. Framed: "
        f"head {head}, entries {head * width} to {(head + 1) * width - 1}.",
    )


def show_context(view: View) -> None:
    """The heads side by side, for one token and for all."""
    _show_merged(view)
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    address = CONTEXT.in_layer(view.chosen.layer)
    vector, width = trace[address.fix(token=token)], trace.model.config.head_dim
    column = head * width + find_strongest(vector[head * width : (head + 1) * width])
    figure, note = draw_tensor(view, address)
    show_panel(
        view,
        address,
        "Concatenated heads, for all tokens",
        figure,
        at={"token": token, "concat": column},
        note=f"Head {head} fills columns {head * width} to {(head + 1) * width - 1}. {note}".strip(),
    )


def show_all_tokens(view: View) -> None:
    """The output projection for every token."""
    module = Address.in_layer(view.chosen.layer, ATTENTION_OUTPUT)
    address, adds = module.enter("dense"), adds_input(view.trace, module)
    goes_on = (
        "The residual connection adds the layer's input to this."
        if adds
        else ("A change leaves the residual connection out: nothing is added to this.")
    )
    figure, note = draw_tensor(view, address)
    show_panel(
        view,
        address,
        "Attention output, for all tokens",
        figure,
        note=f"{goes_on}{tell_put(view, module.enter('residual'))} {note}".strip(),
    )
