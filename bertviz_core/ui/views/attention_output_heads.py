"""What every head adds to the attention output of a token, by its own rows of the output matrix."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import ATTENTION as ATTENTION_OUTPUT
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import find_robust_limit, find_strongest
from bertviz_core.analysis.token_attention import OutputParts, split_output
from bertviz_core.figures.head_sums import HeadSums, draw_head_sums
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.steps import Step
from bertviz_core.formula.tex import bracket_negative, take_ends, write_sum
from bertviz_core.formula.texts import write_count
from bertviz_core.programs.names import CONTEXT
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_chart, tell_words
from bertviz_core.ui.panels.put import tell_put, write_result
from bertviz_core.ui.panels.said import tell_percent
from bertviz_core.ui.walk.worked_shares import find_share


def show_heads(view: View) -> None:
    """What every head, and the bias, add to the chosen token's output, in the heads' order: z times its rows of W."""
    trace, token, heads = view.trace, view.chosen.token, view.trace.model.config.num_attention_heads
    output = Address.in_layer(view.chosen.layer, ATTENTION_OUTPUT).enter("dense")
    step, passes = trace.step(output), [_split_heads(one) for one in view.passes]
    names, drawn = [*(f"head {i}" for i in range(heads)), "bias", "sum"], passes[-1].parts
    cell = output.fix(token=token, hidden=find_strongest(drawn[-1]))
    source, weight, bias = (Address(leaf.address) for leaf in step.leaves)
    heading = Heading(
        f"{write_count(heads, 'head')}{', side by side,' if heads > 1 else ''} through the output matrix",
        str(tell_most_adding(view)),
        _write_heads(view, step),
        step.source,
        cell,
        style.break_lines(_write_sum(view, cell, drawn[:-1, cell.at["hidden"]])),
    )
    with open_card(view, step.kind, heading, f"from {source.fix(token=token)}, {weight}, {bias}") as tools:
        with tools:
            show_values("head-parts", Values(drawn, names, [str(i) for i in range(drawn.shape[1])]))
        charts = [draw_head_sums(each, names, [view.chosen.head], view.colors) for each in passes]
        show_passes_chart(view, charts, "head-parts", f"What each head adds to the attention output of token {token}")
        if note := f"{tell_words(view)}{tell_put(view, output.fix(token=token))}".strip():
            st.caption(note)


def _split_heads(view: View) -> HeadSums:
    """What every head gives, its rows of the output matrix, and what it adds; the bias and the sum."""
    trace, token, heads = view.trace, view.chosen.token, view.trace.model.config.num_attention_heads
    output = Address.in_layer(view.chosen.layer, ATTENTION_OUTPUT).enter("dense")
    found = split_output(trace, view.chosen.layer, token)
    context, weights = CONTEXT.in_layer(view.chosen.layer).fix(token=token), trace[output.enter("weight")]
    results = trace[context].reshape(heads, -1)
    weights = weights.reshape(heads, -1, weights.shape[1])
    parts = np.vstack([found.vectors, _read_total(view, found)])
    ends = find_robust_limit(results), find_robust_limit(weights), find_robust_limit(parts)
    cells = picks.pick_vectors(trace, [output.fix(token=token)] * len(parts))
    offered = [str(find_share(output.fix(token=token), part)) for part in (*range(heads), None)]
    return HeadSums(results, weights, parts, np.append(found.shares, found.share), ends, cells, offered)


def tell_most_adding(view: View) -> Said:
    """Which head has the largest share of what they and the bias add to the chosen token."""
    shares = split_output(view.trace, view.chosen.layer, view.chosen.token).shares[:-1]
    most = int(shares.argmax())
    parts = {"share": tell_percent(float(shares[most])), "head": Part(most)}
    meets = "Every head meets its own rows of it; "
    if len(shares) == 1:
        return say("The head meets all of its rows; ", Claim("the head adds", "it makes up {share} of the sum.", parts))
    return choose(
        say(meets, Claim("no head adds", "none makes up any of the sum.", {}, Relation.NONE, shares)),
        say(
            meets,
            Claim(
                "head adds most",
                "head {head} has the largest share of the sum, {share}.",
                parts,
                Relation.LARGEST,
                shares,
                (most,),
            ),
        ),
        say(
            meets,
            Claim(
                "no head adds more",
                "none makes up more of the sum than head {head}, {share}.",
                parts,
                Relation.HIGHEST,
                shares,
                (most,),
            ),
        ),
    )


def _read_total(view: View, found: OutputParts) -> np.ndarray:
    """What heads and bias add up to at the chosen token: the recorded output, unless a change put another one there."""
    output = Address.in_layer(view.chosen.layer, "attention.output.dense").fix(token=view.chosen.token)
    return found.total if is_put(view.trace, output) else view.trace[output]


def _write_heads(view: View, step: Step) -> str:
    """The output as one product, and as a sum over the heads, h, of what each adds."""
    w, b = (leaf.latex(style.make_painter(view.colors)) for leaf in step.leaves[1:])
    return rf"{step.typeset(style.make_painter(view.colors))} = \sum_{{h}} z_{{h}}\, {{{w}}}_{{h}} + {b}"


def _write_sum(view: View, cell: Address, parts: np.ndarray) -> str:
    """One component of the output as the sum of what the heads and the bias add to it."""
    terms = [bracket_negative(format_latex(float(x))) for x in parts]
    total = format_latex(float(parts.sum()))
    symbol = rf"{{{view.trace.step(cell).symbol}}}_{{{cell.at['token']},{cell.at['hidden']}}}"
    worked = f"{write_sum(take_ends(terms), len(terms), brace=False)} = {total}"
    return write_result(view.trace, cell, symbol, worked)
