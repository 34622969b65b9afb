"""Other answers to the same question: who is in whom by length, and the methods of the field beside hiding."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import tell_cut
from bertviz_core.analysis.agreement import correlate_ranks
from bertviz_core.analysis.attribution import Question, name_rest, read_measure
from bertviz_core.analysis.carried import puts_numbers
from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.layers import roll_out_attention
from bertviz_core.analysis.methods import MOST_TOKENS, Methods, list_outputs
from bertviz_core.analysis.targets import name_target
from bertviz_core.analysis.value_weighted import ADDED, GIVEN
from bertviz_core.figures.heatmap import has_room
from bertviz_core.figures.inside import draw_inside
from bertviz_core.figures.methods import draw_methods
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.formula.steps import NORM, PREDICTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.findings import show_finding, tell_progress
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import show_note
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.views.where_from_carried import tell_near_ties
from bertviz_core.ui.views.where_from_question import pick_part, read_question
from bertviz_core.ui.walk.origin import ask_hidden, ask_methods, find_origins_of
from bertviz_core.ui.walk.worked_components import LENGTH
from bertviz_core.ui.walk.worked_flow import AVERAGED, BROUGHT, ROLLOUT
from bertviz_core.ui.walk.worked_methods import FALL, INTEGRATED
from bertviz_core.ui.walk.worked_parts import PART

_ROLL_OUT = "roll-out"  # its row
_AFTER = Key("after", -1)  # the layer after which the lengths are looked at
_SHARES = r"s_{i,j} = \lVert x_{i,j} \rVert / (\sum_k \lVert x_{i,k} \rVert + \lVert b_i \rVert)"
_ORDERS = r"\rho = \mathrm{corr}(\mathrm{rank}\, m_j, \mathrm{rank}\, \Delta_j)"


def tell_missing(view: View) -> str:
    """Why neither card is shown; nothing where both are."""
    if view.outcome.compared:
        return "Lengths after each layer and other methods are shown of one pass: choose Before or After."
    if ask_methods(view.trace, read_question(view)) is None:
        return f"Lengths after each layer and other methods are shown of texts up to {MOST_TOKENS} tokens."
    return ""


def show_methods(view: View) -> None:
    """The methods of the field beside hiding; nothing where they are not asked."""
    question = read_question(view)
    asked = ask_methods(view.trace, question)
    if asked is None:
        return
    drawn = "; ".join(cell.replace("{x}", "*") for cell in find_cells(view, question))
    heading = Heading("Methods compared", "how near to hiding’s order", _ORDERS, "Spearman 1904", drawn=drawn)
    with open_card(view, PREDICTION, heading, question.target, name="methods"):
        show_finding("methods", asked, partial(_draw_methods, view, question))


def list_amounts(view: View, question: Question, found: Methods) -> dict[str, np.ndarray]:
    """(token,) of every method by its name, as far as it is known; NaN where it has none."""
    trace, token, count = view.trace, question.token, len(view.trace.tokens)
    layers = trace.model.config.num_hidden_layers
    nothing, weighed = np.full(count, np.nan), found.weighed
    lengths = measure_shares(found.lengths[-1])[token][:-1] if len(found.lengths) == layers else nothing
    return {
        "hidden": _read_falls(view, question, count),
        "parts": find_origins_of(trace, question).parts.parts,
        "gradients": found.gradients.parts if found.gradients is not None and found.complete else nothing,
        "length share": lengths,
        "attention": nothing if weighed is None else weighed.weights[token],
        "· value, W": nothing if weighed is None else weighed.values[token],
        "· + residual": nothing if weighed is None else weighed.residual[token],
        _ROLL_OUT: roll_out_attention(trace)[-1, token],
    }


def find_cells(view: View, question: Question) -> list[str]:
    """The addresses of every method's amounts, in the same order, in which {x} stands for the token."""
    trace, token = view.trace, question.token
    last = trace.model.config.num_hidden_layers - 1
    pair = f"[query={token},key={{x}}]"
    weights = ATTENTION_WEIGHTS.in_layer(last).path
    source = f"[token={token},source={{x}}]"
    return [
        pick_part(question, FALL, "source={x}"),
        pick_part(question, PART, "source={x}"),
        pick_part(question, INTEGRATED, "source={x}"),
        f"{list_outputs(trace)[-1]}.{LENGTH}{source}",
        f"{weights}.{AVERAGED}{pair}",
        f"{ADDED.in_layer(last).path}.{BROUGHT}{source}",
        f"{GIVEN.in_layer(last).path}.{BROUGHT}{source}",
        f"{weights}.{ROLLOUT}{pair}",
    ]


def measure_shares(lengths: np.ndarray) -> np.ndarray:
    """(token, source) lengths as shares of all those of a token."""
    return lengths / (lengths.sum(axis=1, keepdims=True) + 1e-300)


def _read_falls(view: View, question: Question, count: int) -> np.ndarray:
    """(token,) by how much the number falls, where that is known."""
    asked = ask_hidden(view.trace, question, find_origins_of(view.trace, question).parts.parts)
    found = asked.look() if asked else None
    falls, now = np.full(count, np.nan), read_measure(view.trace, question)
    for i, left in ((found.value if found else None) or {}).items():
        falls[i] = now - left
    return falls


def _draw_methods(view: View, question: Question, found: Found[Methods]) -> None:
    amounts = list_amounts(view, question, found.value or Methods())
    hidden, *others = amounts.values()
    blank = np.where(np.isfinite(hidden), 0.0, np.nan)
    rows = np.stack([hidden, *(other + blank for other in others)])
    orders = [correlate_ranks(hidden, other) for other in others]
    texts = dict(zip(amounts, ("", *("" if order is None else write_fixed(order, 2) for order in orders)), strict=True))
    chart = draw_methods(rows, list(amounts), tell_tokens_apart(view.trace), list(texts.values()), view.colors)
    chart = chart.offer(find_cells(view, question))
    show_chart(chart, "methods", f"What each method says of each token, for {name_target(view.trace, question.target)}")
    told = (
        _tell_gradients(found),
        _tell_roll_out(view.trace, texts[_ROLL_OUT]),
        tell_near_ties(*rows).strip(),
        tell_progress(found, "the other methods"),
    )
    show_note(f"{tell_pass(view)}Each row has its own scale. {' '.join(filter(None, told))}")


def _tell_roll_out(trace: Trace, order: str) -> str:
    """What it leaves out, and how near its order is to that of hiding here, where that is known."""
    near = f"; its rank correlation with hiding is {order} here" if order else ""
    said = f"Roll-out leaves out values, feed-forward blocks and signs{near}."
    return " ".join(filter(None, (said, tell_cut(trace))))


def _tell_gradients(found: Found[Methods]) -> str:
    known = found.value or Methods()
    if known.refused:
        return escape_markdown(known.refused)
    if known.gradients is None:
        return ""
    if not known.complete:
        return (
            f"Integrated gradients are not shown: their sum is off by {format_percent(known.gap)} of what it explains. "
            f"Take more steps: bv.attribute(trace, target, method='gradients', steps={4 * known.gradients.steps})."
        )
    return f"Gradients: from \\[MASK\\] at every token, as hiding; their sum is off by {format_percent(known.gap)}."


def show_inside(view: View) -> None:
    """Who is in whom, by length; nothing where that is not asked."""
    asked = ask_methods(view.trace, read_question(view))
    if asked is None:
        return
    layers = view.trace.model.config.num_hidden_layers
    url.bind(_AFTER, range(layers), layers - 1)
    after = state.read(_AFTER)
    where = Address(list_outputs(view.trace)[after])
    drawn = f"{where}.{LENGTH}[token=*,source=*]"
    heading = Heading("Who is in whom", "", _SHARES, "Modarressi et al. 2022", drawn=drawn)
    with open_card(view, NORM, heading, where, name="inside", chooses=True) as tools:
        with tools:
            st.selectbox(
                "After layer", range(layers), key=_AFTER.name, format_func="layer {}".format,
                label_visibility="collapsed", width=84, help="After which layer",
            )  # fmt: skip
        show_finding("inside", asked, partial(_draw_inside, view, after, where))


def _draw_inside(view: View, after: int, where: Address, found: Found[Methods]) -> None:
    lengths, tokens = (found.value or Methods()).lengths, tell_tokens_apart(view.trace)
    hundredths = ", in the marked row in hundredths" if has_room(len(tokens) + 1) else ""
    if after < len(lengths):
        shares, own = measure_shares(lengths[after]), read_question(view).token
        chart = draw_inside(
            shares, tokens, [*tokens, name_rest(puts_numbers(view.trace, where.path))], own, view.colors
        )
        chart = chart.offer(f"{where}.{LENGTH}[token={{y}},source={{x}}]")
        show_chart(chart, "inside", f"How much of each token's vector came from which token, after layer {after}")
    st.caption(
        f"{tell_pass(view)}Rows: a token’s vector; columns: its sources, by their share of all lengths{hundredths}. "
        f"{tell_progress(found, 'the lengths and methods')}"
    )
