"""Attention taken apart: against loops in plain Python, against the recorded tensors, and at the edges."""

import math

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.attention import (
    choose_shown,
    find_block_maxima,
    locate_block_maxima,
    measure_angles,
    multiply_terms,
    share_sum,
    split_by_head,
    weigh_values,
    work_softmax,
)

OWN = "encoder.layer.3.attention.self"
OUTPUT = "encoder.layer.3.attention.output.dense"
HEAD, QUERY, KEY = 5, 8, 4


@pytest.fixture(scope="module")
def padded(bundled):
    return bv.run(bundled, "She opened the door.", pad_to=12)


def row(trace, name):
    return trace[f"{OWN}.{name}[head={HEAD},query={QUERY if len(trace.tokens) > QUERY else 0}]"]


def test_products_are_sorted_by_size_and_sum_to_the_dot_product():
    product = multiply_terms(np.array([1.0, -3.0, 0.5, 2.0]), np.array([2.0, 1.0, 1.0, -1.0]))
    assert product.order.tolist() == [1, 0, 3, 2]  # |2| twice: the lower component first
    assert product.terms.tolist() == [-3.0, 2.0, -2.0, 0.5]
    assert product.running.tolist() == [-3.0, -1.0, -3.0, -2.5]


def test_the_last_running_sum_is_the_recorded_product(rome):
    q, k = row(rome, "query"), rome[f"{OWN}.key[head={HEAD},key={KEY}]"]
    product = multiply_terms(q, k)
    assert sorted(product.order) == list(range(len(q)))
    for component, term in zip(product.order, product.terms, strict=True):
        assert term == float(q[component]) * float(k[component])
    assert product.running[-1] == pytest.approx(row(rome, "products")[KEY], abs=1e-5)


def test_cosine_times_lengths_is_the_recorded_product(rome):
    q, keys = row(rome, "query"), rome[f"{OWN}.key[head={HEAD}]"]
    parts = measure_angles(q, keys)
    assert parts.query_norm == pytest.approx(math.hypot(*map(float, q)))
    for k, cosine, norm in zip(keys, parts.cosines, parts.key_norms, strict=True):
        assert norm == pytest.approx(math.hypot(*map(float, k)))
        dot = sum(float(a) * float(b) for a, b in zip(q, k, strict=True))
        assert cosine == pytest.approx(dot / (parts.query_norm * norm))
    assert np.abs(parts.cosines).max() <= 1
    np.testing.assert_allclose(parts.products, row(rome, "products"), atol=1e-5)


def test_cosines_of_known_angles():
    keys = np.array([[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    parts = measure_angles(np.array([2.0, 0.0]), keys)
    np.testing.assert_allclose(parts.cosines, [1, 0, -1, math.sqrt(0.5), 0])
    np.testing.assert_allclose(parts.products, [6, 0, -2, 2, 0])


def test_softmax_steps_against_a_loop():
    scores = [0.5, -1.25, 2.0, 1.0]
    steps, running = work_softmax(np.array(scores)), 0.0
    denominator = sum(math.exp(s - 2.0) for s in scores)
    assert steps.largest == 2.0
    for i, s in enumerate(scores):
        running += math.exp(s - 2.0)
        assert steps.below[i] == s - 2.0
        assert steps.powers[i] == pytest.approx(math.exp(s - 2.0))
        assert steps.running[i] == pytest.approx(running)
        assert steps.shares[i] == pytest.approx(math.exp(s - 2.0) / denominator)
    assert steps.denominator == pytest.approx(denominator)


def test_softmax_steps_give_the_recorded_row(rome, padded):
    for trace in (rome, padded):
        steps = work_softmax(row(trace, "scores"))
        np.testing.assert_allclose(steps.shares, row(trace, "probs"), atol=1e-6)
        assert steps.shares.sum() == pytest.approx(1)


def test_padding_gets_no_share(padded):
    real = sum(padded.encoding.mask)
    steps = work_softmax(row(padded, "scores"))
    assert 0 < real < len(padded.tokens)
    assert (steps.powers[real:] == 0).all()
    assert (steps.running[real:] == steps.running[real - 1]).all()


def test_weighted_values_sum_to_the_recorded_context(rome):
    values = rome[f"{OWN}.value[head={HEAD}]"]
    brought = weigh_values(row(rome, "probs"), values)
    assert brought[KEY, 3] == float(row(rome, "probs")[KEY]) * float(values[KEY, 3])
    width = values.shape[1]
    context = rome[f"{OWN}.context[token={QUERY}]"][HEAD * width : (HEAD + 1) * width]
    np.testing.assert_allclose(brought.sum(axis=0), context, atol=1e-6)


def test_head_parts_and_bias_sum_to_the_recorded_output(rome):
    heads = rome.model.config.num_attention_heads
    context, weight = rome[f"{OWN}.context[token={QUERY}]"], rome[f"{OUTPUT}.weight"]
    parts = split_by_head(context, weight, heads)
    width = len(context) // heads
    part = sum(float(context[i]) * weight[i].astype(float) for i in range(HEAD * width, (HEAD + 1) * width))
    np.testing.assert_allclose(parts[HEAD], part, atol=1e-12)
    np.testing.assert_allclose(parts.sum(axis=0) + rome[f"{OUTPUT}.bias"], rome[f"{OUTPUT}[token={QUERY}]"], atol=1e-5)


def test_shares_of_a_sum_are_together_one():
    shares = share_sum(np.array([[3.0, 1.0], [2.0, -1.0], [-1.0, 5.0], [0.0, -5.0]]))  # the sum: (4, 0)
    np.testing.assert_allclose(shares, [0.75, 0.5, -0.25, 0])
    assert shares.sum() == pytest.approx(1)
    assert share_sum(np.array([[1.0, 2.0], [-1.0, -2.0]])).tolist() == [0, 0]


def test_what_is_worth_showing():
    sizes = np.array([0.1, 0.4, 0.05, 0.3, 0.15])
    assert choose_shown(sizes, 2) == [1, 3]
    assert choose_shown(sizes, 2, also=[2, 3]) == [1, 2, 3]
    assert choose_shown(sizes, 4) == choose_shown(sizes, 9) == [0, 1, 2, 3, 4]  # one row is not worth leaving out


def test_the_exponentials_without_the_shift_give_the_same_shares():
    steps = work_softmax(np.array([1.0, -2.0, 0.5]))
    assert steps.plain.tolist() == pytest.approx([math.e, math.exp(-2), math.exp(0.5)])
    np.testing.assert_allclose(steps.plain / steps.plain.sum(), steps.shares)
    assert work_softmax(np.array([1000.0, 0.0])).plain.tolist() == [math.inf, 1.0]


@pytest.mark.parametrize(("count", "size", "side"), [(4, 4, 1), (5, 4, 2), (9, 4, 3)])
def test_a_block_has_its_largest_weight(count, size, side):
    weights = np.random.default_rng(count).random((count, count))
    blocks, found = find_block_maxima(weights, size)
    starts = range(0, count, side)
    assert found == side and len(blocks) <= size
    expected = [[max(weights[i : i + side, j : j + side].ravel()) for j in starts] for i in starts]
    np.testing.assert_array_equal(blocks, expected)
    places = locate_block_maxima(weights, side)
    assert places.shape == (*blocks.shape, 2)
    np.testing.assert_array_equal(weights[places[..., 0], places[..., 1]], blocks)
    np.testing.assert_array_equal(places // side, np.stack(np.indices(blocks.shape), axis=-1))
