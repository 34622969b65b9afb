"""Attention weighed by what it brings, against its definition in plain NumPy."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.value_weighted import read_attention
from tests.factory import random_checkpoint

TEXT, PAIR = "the cat sat on [MASK] mat", "do as romans do"


def weigh_by_hand(trace, layer):
    """(query, key) twice: ‖Σ_h α f(x)‖, f(x) = (x W_V + b_V) W_O; and ‖(u - mean u) / σ γ‖, u that, and at itself x."""
    w = {name: tensor.double().numpy() for name, tensor in trace.model.parameters.items()}
    at, config = f"encoder.layer.{layer}", trace.model.config
    before = f"encoder.layer.{layer - 1}.output.LayerNorm" if layer else "embeddings.LayerNorm"
    x, size = trace[before].astype(np.float64), config.hidden_size // config.num_attention_heads
    name = f"{at}.attention.self.value"
    value = x @ w[f"{name}.weight"] + w[f"{name}.bias"]
    n = len(x)
    brought = np.zeros((n, n, config.hidden_size))
    for head, weights in enumerate(trace[f"{at}.attention.self.probs"].astype(np.float64)):
        own = slice(head * size, (head + 1) * size)
        moved = value[:, own] @ w[f"{at}.attention.output.dense.weight"][own]
        for query in range(n):
            for key in range(n):
                brought[query, key] += weights[query, key] * moved[key]
    norm = f"{at}.attention.output.LayerNorm"
    whole = x + brought.sum(axis=1) + w[f"{at}.attention.output.dense.bias"]
    sigma = np.sqrt(whole.var(axis=-1) + config.layer_norm_eps)
    mixed = brought + np.eye(n)[:, :, None] * x
    mixed = (mixed - mixed.mean(axis=-1, keepdims=True)) / sigma[:, None, None] * w[f"{norm}.weight"]
    return np.sqrt((brought**2).sum(axis=-1)), np.sqrt((mixed**2).sum(axis=-1))


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("settings", [{"seed": 3}, {"seed": 4, "num_attention_heads": 4, "kind": "base"}], ids=str)
def test_the_three_readings_are_their_definitions(tmp_path, settings, layer):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, **settings), dtype=torch.float64), TEXT, PAIR, pad_to=16)
    found = read_attention(trace, layer)
    values, residual = weigh_by_hand(trace, layer)
    np.testing.assert_allclose(found.values, values, atol=1e-12)
    np.testing.assert_allclose(found.residual, residual, atol=1e-12)
    weights = trace[f"encoder.layer.{layer}.attention.self.probs"]
    np.testing.assert_allclose(found.weights, sum(weights) / len(weights), atol=1e-15)
    assert not found.values[:, len(trace.encoding.real) :].any(), "padding brings nothing"


def test_a_head_without_weights_brings_nothing(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path), dtype=torch.float64)
    plain = bv.run(model, TEXT)
    cut = plain.with_changes({"encoder.layer.1.attention.self.probs": 0.0})
    found = read_attention(cut, 1)
    assert not found.values.any()
    np.testing.assert_allclose(found.residual, np.diag(np.diag(found.residual)), atol=1e-15)
    assert found.residual.diagonal().all()


def test_what_cannot_be_weighed_is_refused_in_words(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path))
    with pytest.raises(bv.InputError, match="Choose the program bert"):
        read_attention(bv.run(model, TEXT, program="formula-post"), 0)
    with pytest.raises(bv.InputError, match="at most 128 can be told apart"):
        read_attention(
            bv.run(bv.load_model(random_checkpoint(tmp_path / "long", max_position_embeddings=160)), "cat " * 140), 0
        )
