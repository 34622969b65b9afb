"""The stops of a walk through the pass: at each, one calculation of the chosen place with all of its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.analysis.add_norm import adds_input, gives_normalized, read_epsilon
from bertviz_core.analysis.attention import DotProduct, list_counted, multiply_terms
from bertviz_core.analysis.canvas import EMBEDDING, WIDTH, Spot
from bertviz_core.analysis.claims import stands_out
from bertviz_core.analysis.digits import Digits, find_fewest, fit_chain, fit_product, fit_quotient, fit_sum
from bertviz_core.analysis.feed_forward import find_activation
from bertviz_core.analysis.made_from import is_put, is_put_throughout, work_out
from bertviz_core.analysis.openings import open_key
from bertviz_core.analysis.predictions import PROBS, SCORES, rank_words, run_softmax
from bertviz_core.analysis.ranking import find_strongest, rank_top
from bertviz_core.analysis.stop_numbers import (
    Answered,
    Compared,
    Cut,
    Divided,
    Ended,
    Fired,
    Logit,
    LookedUp,
    Neuron,
    Normalized,
    Offered,
    Stops,
    Term,
    Then,
)
from bertviz_core.analysis.stops_heads import collect_values, join_heads, list_values, split_rows
from bertviz_core.analysis.walk import sample_function
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import Function
from bertviz_core.formula.numbers import format_number, write_fixed
from bertviz_core.formula.short import name_function
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.tracing.trace import Trace

_STRONGEST = 8  # neurons, and words
_TERMS = 24  # of the products of a logit
_POINTS, _FINE, _WIDER = 60, 4, 1.08  # of the activation function's curve: how many, their decimals, how far beyond
_VISIBLE = 0.005  # what an activation function takes, where it is worth a sentence
_HEAD, _DECODER = Address("cls.predictions.transform.LayerNorm"), "cls.predictions.decoder"


def work_stops(trace: Trace, spot: Spot) -> Stops:
    """The calculations at a place; the same component of the token's vector is followed through all of them."""
    key = open_key(trace, spot.layer, spot.head, spot.token).key
    component = _choose_component(trace, spot)
    collected = collect_values(trace, spot, component)
    return Stops(
        _cut(trace, spot),
        _look_up(trace, spot, component),
        _offer(trace, spot, key),
        _compare(trace, spot, key),
        _divide(trace, spot, key),
        collected,
        join_heads(trace, spot, component, collected.component),
        _normalize(trace, spot, component),
        _fire(trace, spot, component),
        _answer(trace, spot, component) if PROBS in trace else _end(trace, spot, component),
    )


def _choose_component(trace: Trace, spot: Spot) -> int:
    """The chosen component; else, of those that are drawn, the one to which attention adds most."""
    if spot.component is not None:
        return spot.component
    added = Address.in_layer(spot.layer, "attention.output.dense").fix(token=spot.token)
    return find_strongest(trace[added][:WIDTH])


def _cut(trace: Trace, spot: Spot) -> Cut:
    encoding = trace.encoding
    pieces = tuple((i, encoding.tokens[i], encoding.ids[i]) for i in spot.window)
    own = encoding.tokens[spot.token], encoding.ids[spot.token]
    typed = (trace.before or trace).encoding  # a piece that a change masks out was cut as well
    made, put = len(typed.real), is_put(trace, Address("input_ids").fix(token=spot.token))
    return Cut(pieces, made, len(typed) - made, trace.model.config.vocab_size, *own, put)


def _look_up(trace: Trace, spot: Spot, component: int) -> LookedUp:
    tables = (
        ("word", "word_embeddings", "input_ids"),
        ("position", "position_embeddings", "position_ids"),
        ("segment", "token_type_embeddings", "token_type_ids"),
    )
    at = {"token": spot.token, "hidden": component}
    rows = tuple(
        (name, int(trace[ids][spot.token]), float(trace[cell]), is_put(trace, cell))
        for name, table, ids in tables
        for cell in [Address(f"embeddings.{table}").fix(**at)]
    )
    total, normalized = (float(trace[address.fix(**at)]) for address in (Address("embeddings.sum"), EMBEDDING))
    digits = fit_sum([value for _, _, value, _ in rows], total)
    return LookedUp(rows[0][1], component, rows, total, normalized, _is_norm_put(trace, EMBEDDING, spot), digits)


def _offer(trace: Trace, spot: Spot, key: int) -> Offered:
    own = SELF_ATTENTION.in_layer(spot.layer)
    rows = (
        own.enter("query").fix(head=spot.head, query=spot.token),
        own.enter("key").fix(head=spot.head, key=key),
        own.enter("value").fix(head=spot.head, key=key),
    )
    query, offered, value = (float(np.linalg.norm(trace[row].astype(np.float64))) for row in rows)
    shares = trace[own.enter("probs").fix(head=spot.head, query=spot.token)]
    counted, special = list_counted(trace), trace.model.tokenizer.special_tokens
    most = bool(shares[key] >= shares[counted].max())
    rivals = [i for i in counted if i != key and (most or (i != spot.token and trace.tokens[i] not in special))]
    tied = not stands_out(shares[[key, *rivals]].astype(np.float64), 0, format_number)
    put = tuple(row.leaf.rpartition(".")[2] for row in rows if is_put(trace, row))
    return Offered(query, offered, value, key, float(shares[key]), most, tied, not shares.any(), put)


def _compare(trace: Trace, spot: Spot, key: int) -> Compared:
    own = SELF_ATTENTION.in_layer(spot.layer)
    q = trace[own.enter("query").fix(head=spot.head, query=spot.token)]
    k = trace[own.enter("key").fix(head=spot.head, key=key)]
    product = multiply_terms(q, k)
    at = {"head": spot.head, "query": spot.token, "key": key}
    total, score = float(product.running[-1]), float(trace[own.enter("scores").fix(**at)])
    decimals = find_fewest([score])
    digits = Digits(decimals, fit_quotient(total, math.sqrt(len(q)), score, decimals), decimals, True)
    terms = _write_terms(q, k, product, digits.terms)
    alone = stands_out(np.abs(product.terms), 0, lambda size: write_fixed(size, digits.terms))
    return Compared(key, spot.token, terms, alone, total, math.sqrt(len(q)), score, digits)


def _write_terms(one: np.ndarray, other: np.ndarray, product: DotProduct, decimals: int) -> tuple[Term, ...]:
    """The products of two vectors, each with the decimals in which its factors are printed."""
    rows = ((int(i), float(one[i]), float(other[i]), float(one[i]) * float(other[i])) for i in product.order)
    return tuple((i, x, y, term, fit_product((x, y), term, decimals)) for i, x, y, term in rows)


def _divide(trace: Trace, spot: Spot, key: int) -> Divided:
    row = SELF_ATTENTION.in_layer(spot.layer)
    scores, shares = (
        trace[row.enter(leaf).fix(head=spot.head, query=spot.token)].astype(np.float64) for leaf in ("scores", "probs")
    )
    terms = np.exp(scores - scores.max())
    inside, outside = split_rows(spot, len(scores))
    return Divided(
        tuple(spot.window),
        list_values(scores[inside]),
        list_values(terms[inside]),
        list_values(shares[inside]),
        float(scores.max()),
        float(terms.sum()),
        float(shares[outside].sum()),
        key,
        float(shares[key]),
        bool(np.allclose(terms / terms.sum(), shares, atol=1e-4)),
        fit_sum([*terms[inside].tolist(), float(terms[outside].sum())], float(terms.sum()), (1, 2)),
    )


def _normalize(trace: Trace, spot: Spot, component: int) -> Normalized:
    before = Address.in_layer(spot.layer - 1, "output.LayerNorm") if spot.layer else EMBEDDING
    out = Address.in_layer(spot.layer, "attention.output")
    norm, at = out.enter("LayerNorm"), {"token": spot.token, "hidden": component}
    skip, added, total, value = (
        float(trace[address.fix(**at)]) for address in (before, out.enter("dense"), out.enter("residual"), norm)
    )
    mean = float(trace[norm.enter("mean").fix(token=spot.token)])
    gamma, beta = (float(trace[norm.enter(leaf).fix(hidden=component)]) for leaf in ("weight", "bias"))
    deviation = _find_deviation(trace, spot, out)
    centered, normal = total - mean, float(trace[norm.enter("normalized").fix(**at)])
    given = work_out(trace, out.enter("dense").fix(**at))
    residual = before.path in (leaf.address for leaf in trace.step(out.enter("residual")).leaves)
    levels = [residual * skip, total, centered, normal, normal * gamma, value]
    digits = fit_chain(levels, [added, mean, deviation, gamma, beta], "+−÷×+")
    mean_put, variance_put = (is_put(trace, norm.enter(leaf).fix(token=spot.token)) for leaf in ("mean", "variance"))
    normal_put, put = (is_put(trace, each.fix(**at)) for each in (norm.enter("normalized"), norm))
    return Normalized(
        component,
        residual,
        skip,
        given,
        added,
        total,
        mean,
        centered,
        deviation,
        normal,
        gamma,
        normal * gamma,
        beta,
        value,
        mean_put,
        variance_put,
        normal_put,
        put,
        digits,
    )


def _is_norm_put(trace: Trace, norm: Address, spot: Spot) -> bool:
    """Whether a change put numbers into a part of the chosen token's LayerNorm, or into what it gives."""
    parts = (norm, *(norm.enter(part) for part in ("mean", "variance", "normalized")))
    return any(is_put(trace, part.fix(token=spot.token)) for part in parts)


def _find_deviation(trace: Trace, spot: Spot, out: Address) -> float:
    """By what the sum less its mean was divided, epsilon included: read where that leaves most digits.

    Where a change put some of the quotients, from the variance.
    """
    norm = out.enter("LayerNorm")
    if is_put(trace, norm.enter("normalized").fix(token=spot.token)):
        variance = float(trace[norm.enter("variance").fix(token=spot.token)])
        return math.sqrt(variance + read_epsilon(trace, norm))
    rows = (
        trace[address.fix(token=spot.token)].astype(np.float64)
        for address in (out.enter("residual"), norm.enter("mean"), norm.enter("normalized"))
    )
    total, mean, normal = rows
    best = find_strongest(normal)
    return float((total[best] - mean) / normal[best]) if normal[best] else 0.0


def _fire(trace: Trace, spot: Spot, component: int) -> Fired:
    inner = Address.in_layer(spot.layer, "intermediate")
    before, after = (trace[inner.enter(leaf).fix(token=spot.token)] for leaf in ("dense", "activation"))
    own = inner.enter("activation").fix(token=spot.token)
    put, given = is_put_throughout(trace, own), not is_put(trace, own)

    def read(i: int) -> Neuron:
        return i, float(before[i]), float(after[i])

    function = find_activation(trace, spot.layer)
    strongest = tuple(map(read, rank_top(np.abs(after), _STRONGEST)))
    taken, lowest = np.where(after > 0, before - after, 0.0), int(before.argmin())
    damped = read(int(taken.argmax())) if given and taken.max() > _VISIBLE else None
    shut = read(lowest) if given and before[lowest] < 0 and abs(after[lowest]) < _VISIBLE else None
    inputs = [neuron[1] for neuron in (*strongest, damped, shut) if neuron]
    alone = stands_out(np.abs(after), strongest[0][0], format_number)
    return Fired(
        strongest,
        alone,
        damped,
        shut,
        int((after > 0).sum()),
        len(after),
        "" if put else name_function(function),
        not given,
        _draw_function(function, inputs) if given else (),
        _find_then(trace, spot, component),
    )


def _draw_function(function: Function, inputs: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Points of a function's curve, over all of the inputs and around 0, where it bends."""
    x = np.linspace(min(-2.0, *inputs) * _WIDER, max(2.0, *inputs) * _WIDER, _POINTS)
    x = np.sort(np.append(x, 0.0))
    return tuple(zip(x.round(_FINE).tolist(), sample_function(function, x).round(_FINE).tolist(), strict=True))


def _find_then(trace: Trace, spot: Spot, component: int) -> Then:
    module = Address.in_layer(spot.layer, "output")
    norm, sums = module.enter("LayerNorm"), [module.enter(leaf).fix(token=spot.token) for leaf in ("dense", "residual")]
    ways = [*sums, *(each.fix(token=spot.token) for each in (norm.enter("normalized"), norm))]
    put = any(is_put(trace, each) for each in sums) or _is_norm_put(trace, norm, spot)
    lost = any(is_put_throughout(trace, each) for each in ways)
    at, before = {"token": spot.token, "hidden": component}, Address.in_layer(spot.layer, "attention.output.LayerNorm")
    skip, written, total, value = (
        float(trace[each.fix(**at)]) for each in (before, module.enter("dense"), module.enter("residual"), norm)
    )
    digits = fit_sum([skip, written], total)
    given = adds_input(trace, module), gives_normalized(trace, norm)
    return Then(*given, put, lost, component, skip, written, total, value, digits)


def _answer(trace: Trace, spot: Spot, component: int) -> Answered:
    logits, probs = (trace[address.fix(token=spot.token)] for address in (SCORES, PROBS))
    running = run_softmax(logits)
    words = tuple(
        (trace.model.tokenizer.name(int(i)), float(logits[i]), float(term), float(probs[i]), int(i))
        for i, term in zip(running.ids[:_STRONGEST], running.terms, strict=False)
    )
    others = float(probs[running.ids[_STRONGEST:]].sum(dtype=np.float64))
    rest = float(running.terms[_STRONGEST:].sum())
    digits = fit_sum([*(term for _, _, term, _, _ in words), rest], float(running.sums[-1]), (1, 2))
    best = words[0][4]
    return Answered(
        component,
        float(trace[_find_last(trace).fix(token=spot.token, hidden=component)]),
        words,
        stands_out(logits, best, format_number),
        float(running.sums[-1]),
        others,
        len(logits),
        rank_words(trace, spot.token, 2),
        int((probs == probs.max()).sum()),
        _work_logit(trace, spot, best),
        digits,
    )


def _work_logit(trace: Trace, spot: Spot, word: int) -> Logit:
    h = trace[_HEAD.fix(token=spot.token)]
    w, bias = trace[f"{_DECODER}.weight"][:, word], float(trace[f"{_DECODER}.bias"][word])
    product, value = multiply_terms(h, w), float(trace[SCORES.fix(token=spot.token, vocab=word)])
    total = float(product.running[-1])
    digits, rest = fit_sum([total, bias], value), float(product.terms[_TERMS:].sum())
    terms = _write_terms(h, w, replace(product, order=product.order[:_TERMS]), digits.terms)
    return Logit(terms, rest, len(h), total, bias, value, digits)


def _end(trace: Trace, spot: Spot, component: int) -> Ended:
    vector = trace[_find_last(trace).fix(token=spot.token)]
    return Ended(component, float(vector[component]), len(vector), trace.model.heads)


def _find_last(trace: Trace) -> Address:
    return Address.in_layer(trace.model.config.num_hidden_layers - 1, "output.LayerNorm")
