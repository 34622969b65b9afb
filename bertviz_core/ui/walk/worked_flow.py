"""What a layer's attention gives, brings and passes on from one token to another: what the drawer tells of each.

Their addresses are those of the step with a word behind: of a layer's attention weights `….averaged[query=8,key=3]`,
and `….rollout[query=8,key=3]`, which is followed back to the input (Abnar & Zuidema 2020); of what attention adds, and
of what the block gives, `….brought[token=8,source=3]` (Kobayashi et al. 2020 and 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.heads import are_shares
from bertviz_core.analysis.layers import average_attention, mix_with_residual, roll_out_attention
from bertviz_core.analysis.methods import MOST_TOKENS
from bertviz_core.analysis.naming import find_noun
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.analysis.value_weighted import ADDED, GIVEN, carry_block
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import KEY, QUERY, TOKEN
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.tex import bracket_negative, write_largest
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import work_out_once
from bertviz_core.ui.walk import card
from bertviz_core.ui.walk.card import Card, Cell, Row, Table
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.pictures import Piece, draw_terms, draw_waterfall
from bertviz_core.ui.walk.spreads import draw_components
from bertviz_core.ui.walk.worked_number import NOTE, WorkedOut

AVERAGED, ROLLOUT, BROUGHT = "averaged", "rollout", "brought"  # the last part of their addresses
_SOURCE = "source"
_CENTER = "center: each number less their mean, as in LayerNorm; "
_PIECES = 6  # of a waterfall, beside the others
_ROWS = card.ROWS - 2


def find_averaged(layer: int, **at: int) -> Address:
    """The address of a layer's attention weight as the mean over its heads."""
    return Address(f"{ATTENTION_WEIGHTS.in_layer(layer).path}.{AVERAGED}").fix(**at)


def find_rollout(layer: int, **at: int) -> Address:
    """The address of an entry of the rollout up to a layer."""
    return Address(f"{ATTENTION_WEIGHTS.in_layer(layer).path}.{ROLLOUT}").fix(**at)


def _read_pair(trace: Trace, of: Address) -> tuple[int, int, int]:
    """The layer, query and key that an address names. Raises AddressError where it names none."""
    layer, at = of.layer, of.at
    if layer is None or of.leaf != ATTENTION_WEIGHTS.path or set(at) != {QUERY.name, KEY.name}:
        raise AddressError(f"{of} names no two tokens of a layer's attention: [query=0,key=1] says which.")
    if max(at.values()) >= len(trace.tokens):
        raise AddressError(f"There is no token {max(at.values())} in this input, only 0 to {len(trace.tokens) - 1}.")
    return layer, at[QUERY.name], at[KEY.name]


def _work_out_averaged(trace: Trace, of: Address) -> WorkedOut:
    layer, query, key = _read_pair(trace, of)
    weights = trace[ATTENTION_WEIGHTS.in_layer(layer)][:, query, key].astype(np.float64)
    number, names = float(weights.mean()), [f"head {i}" for i in range(len(weights))]
    cells = [ATTENTION_WEIGHTS.in_layer(layer).fix(head=i, query=query, key=key) for i in range(len(weights))]
    parts = {
        "mean": Part(number, format_percent),
        "count": card.count(len(weights), "head"),
        "layer": Part(layer),
        "asks": Part(name_token(trace.tokens, query)),
        "gives": Part(name_token(trace.tokens, key)),
    }
    rows = trace[ATTENTION_WEIGHTS.in_layer(layer)][:, query]
    share = "**{mean}** of its attention" if are_shares(rows).all() else "the weight **{mean}**"
    form = f"In layer {{layer}}, {{asks}} gives {{gives}} {share}, as the mean of {{count}}. What it fetches there is "
    form += "not counted."
    amounts = weights / len(weights)
    order = rank_top(np.abs(amounts), len(names) if len(names) <= card.ROWS else _ROWS)
    rows = [
        Row((Cell(names[i], cells[i]), card.write_share(float(weights[i]), cells[i]),
             card.write_cell(float(amounts[i]))), float(amounts[i]))
        for i in order
    ]  # fmt: skip
    a = rf"\htmlClass{{bv-of-{ATTENTION}}}{{A}}"
    return WorkedOut(
        f"Mean attention to {parts['gives'].text}",
        ATTENTION,
        parts=[(n, format_number(float(x)), str(c)) for n, x, c in zip(names, weights, cells, strict=True)],
        number=number,
        unit=format_percent(number),
        card=Card(
            say(Claim("mean over heads", form, parts)),
            Table(
                f"Mean of {write_count(len(names), 'weight')}, largest first",
                ("head", "weight", f"/ {len(names)}"),
                rows,
                card.close_sum(amounts, order, 3),
            ),
            _draw_sum(names, amounts, "mean", number),
            NOTE,
        ),
        line=Line(
            rf"\bar{{{a}}}_{{{query},{key}}}",
            rf"\dfrac{{1}}{{{len(weights)}}} \sum_h \; {a}_{{h,{query},{key}}}",
            rf"\dfrac{{1}}{{{len(weights)}}} \; ({_write_first(weights)})",
        ),
    )


def _write_first(terms: np.ndarray) -> str:
    """The two largest terms, and dots."""
    shown = [bracket_negative(format_latex(float(terms[i]))) for i in rank_top(np.abs(terms), 2)]
    return " + ".join([*shown, *([r"\dots"] if len(terms) > len(shown) else [])])


def _draw_sum(names: list[str], amounts: np.ndarray, name: str, number: float) -> str:
    best = rank_top(np.abs(amounts), _PIECES if len(amounts) > _PIECES + 1 else len(amounts))
    pieces = [Piece(names[i], float(amounts[i])) for i in best]
    if len(others := np.delete(amounts, best)):
        pieces.append(Piece(write_count(len(others), "other"), float(others.sum())))
    return draw_waterfall(pieces, Piece(name, number))


def _work_out_rollout(trace: Trace, of: Address) -> WorkedOut:
    layer, query, key = _read_pair(trace, of)
    attention = trace[ATTENTION_WEIGHTS.in_layer(layer)].mean(axis=0, dtype=np.float64)
    mixed, count = mix_with_residual(attention)[query], len(trace.tokens)
    below = roll_out_attention(trace)[layer - 1][:, key].astype(np.float64) if layer else np.eye(count)[key]
    terms = mixed * below
    number = float(terms.sum())
    parts = {
        "share": Part(number, format_percent),
        "layer": Part(layer),
        "asks": Part(name_token(trace.tokens, query)),
        "gives": Part(name_token(trace.tokens, key)),
    }
    attended = islice(average_attention(trace), layer + 1)
    shared = all(np.allclose(mean.sum(axis=-1), 1, atol=1e-4) for mean in attended)
    halves = (
        "Each layer counts half as its mean attention, half as the token itself"
        if shared
        else "As changed, not all attention weights sum to 1: in each layer half of the mean attention and half of the "
        "token itself are added and divided by their sum"
    )
    form = (
        "Attention followed back from {asks} after layer {layer}: **{share}** of it ends at {gives}. "
        f"{halves}; values and feed-forward networks are left out."
    )
    names = [card.name_place(trace, TOKEN.name, k) for k in range(count)]
    steps = [find_rollout(layer - 1, query=k, key=key) if layer else None for k in range(count)]
    means = [find_averaged(layer, query=query, key=k) for k in range(count)]
    order = rank_top(np.abs(terms), count if count <= card.ROWS else _ROWS)
    rows = [
        Row((Cell(names[k], steps[k] or means[k]), card.write_share(float(mixed[k]), means[k]),
             card.write_share(float(below[k]), steps[k]), card.write_share(float(terms[k]))), float(terms[k]))
        for k in order
    ]  # fmt: skip
    return WorkedOut(
        f"Roll-out to {parts['gives'].text}",
        ATTENTION,
        parts=[(n, format_number(float(x)), str(c)) for n, x, c in zip(names, terms, means, strict=True)],
        number=number,
        unit=format_percent(number),
        card=Card(
            say(Claim("rollout of a token", form, parts)),
            Table(
                f"Made from {write_count(count, 'token')}, largest first",
                ("by way of", "mixed", f"after layer {layer - 1}" if layer else "itself", "product"),
                rows,
                card.close_sum(terms, order, 4),
            ),
            draw_terms(terms, None),
            f"Â: mean attention, half of it replaced by the token itself, rows divided by their sum; {NOTE}",
        ),
        line=Line(
            rf"R^{{({layer})}}_{{{query},{key}}}",
            rf"\sum_k \; \hat{{A}}_{{{query},k}} \; R^{{({layer - 1})}}_{{k,{key}}}",
            write_largest(mixed.tolist(), below.tolist()),
        ),
    )


def _work_out_brought(trace: Trace, of: Address) -> WorkedOut:
    layer, at = of.layer, of.at
    if layer is None or of.leaf not in (ADDED.path, GIVEN.path) or set(at) != {TOKEN.name, _SOURCE}:
        raise AddressError(f"{of} names nothing that attention brings: [token=0,source=1] says to whom and from where.")
    if max(at.values()) >= len(trace.tokens):
        raise AddressError(f"There is no token {max(at.values())} in this input, only 0 to {len(trace.tokens) - 1}.")
    token, source = at[TOKEN.name], at[_SOURCE]
    taken = _read_brought(trace, of.path, layer, token)[source]
    squares, recorded = taken**2, Address(of.path).fix(token=token)
    number, whole = float(np.sqrt(squares.sum())), of.leaf == GIVEN.path
    weight = trace[ATTENTION_WEIGHTS.in_layer(layer)][:, token, source].mean(dtype=np.float64)
    parts = {
        "length": Part(number, format_short),
        "weight": Part(float(weight), format_percent),
        "layer": Part(layer),
        "token": Part(name_token(trace.tokens, token)),
        "from": Part("itself" if token == source else name_token(trace.tokens, source)),
        "where": Part("the block gives at" if whole else "attention adds to"),
        "more": Part(", residual connection and LayerNorm counted" if whole else ", values and W_O counted"),
    }
    form = (
        "Of what {where} {token} in layer {layer}, the part that came from {from} is **{length}** long{more}. Its mean "
        "attention weight is {weight}."
    )
    order = rank_top(squares, _ROWS)
    rows = [
        Row((Cell(str(i), recorded.fix(hidden=i)), card.number(trace, recorded.fix(hidden=i)),
             card.write_cell(float(taken[i])), card.write_cell(float(squares[i]))), float(squares[i]))
        for i in order
    ]  # fmt: skip
    v = r"\sum_h \; A_h V_h W_h"
    inner = rf"\mathrm{{center}}({v} + [i = j] \; x) \; \gamma / \sigma" if whole else v
    worked = " + ".join(rf"{bracket_negative(format_latex(float(taken[i])))}^2" for i in order[:2])
    return WorkedOut(
        f"Brought from {name_token(trace.tokens, source)}",
        trace.step(recorded.whole).kind,
        parts=[(f"component {i}", format_number(float(x)), str(recorded.fix(hidden=i))) for i, x in enumerate(taken)],
        number=number,
        card=Card(
            say(Claim("what attention brings", form, parts)),
            Table(
                f"Made from {write_count(len(taken), 'square')}, largest first",
                ("component", find_noun(of.path).word, "of it", "square"),
                rows,
                card.close_sum(squares, order, 4),
            ),
            draw_components(taken, "the {} numbers brought"),
            f"{_CENTER if whole else ''}lengths do not add up, as the vectors do; {NOTE}",
        ),
        line=Line(
            rf"\lVert u_{{{token} \leftarrow {source}}} \rVert",
            rf"\lVert {inner} \rVert",
            rf"\sqrt{{{worked} + \dots}}",
        ),
    )


def _read_brought(trace: Trace, path: str, layer: int, token: int) -> np.ndarray:
    """(source, hidden) of what attention brings to a token, remembered."""
    if len(trace.tokens) > MOST_TOKENS:
        raise AddressError(f"What attention brings is worked out of texts up to {MOST_TOKENS} tokens.")
    try:
        return work_out_once(
            trace,
            f"brought to {token} in {path}",
            lambda: lock(carry_block(trace, layer)[path][:-1, token].numpy().copy()),
        )
    except InputError as error:
        raise AddressError(str(error)) from error


FLOW: Mapping[str, Callable[[Trace, Address], WorkedOut]] = {
    AVERAGED: _work_out_averaged,
    ROLLOUT: _work_out_rollout,
    BROUGHT: _work_out_brought,
}
