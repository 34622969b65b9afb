"""The feed-forward network's and LayerNorm's numbers, against plain transcriptions."""

import math

import numpy as np
import pytest

from bertviz_core.analysis.add_norm import follow_direct_path, normalize_with
from bertviz_core.analysis.feed_forward import ACTIVATIONS, apply_activation, compute_contributions, rank_neurons


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_follow_their_formulas(name):
    formulas = {
        "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
        "gelu_new": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "relu": lambda x: max(0.0, x),
    }
    x = np.linspace(-6, 6, 41)
    assert np.allclose(apply_activation(name, x), [formulas[name](v) for v in x], atol=1e-12)


def test_all_neurons_and_the_bias_add_up_to_the_output(rome):
    here = "encoder.layer.2"
    strength, directions = rome[f"{here}.intermediate.activation[token=8]"], rome[f"{here}.output.dense.weight"]
    parts = compute_contributions(strength, directions, list(range(len(strength))))
    total = parts.sum(axis=0, dtype=np.float64) + rome[f"{here}.output.dense.bias"]
    assert np.allclose(total, rome[f"{here}.output.dense[token=8]"], atol=1e-4)
    lengths = np.linalg.norm(parts, axis=1)
    assert rank_neurons(strength, directions, 4) == list(np.argsort(-lengths)[:4])


def test_a_neuron_that_pulls_back_ranks_by_its_length_too():
    strength = np.array([0.5, -3.0, 2.0, -0.1])
    directions = np.array([[4.0, 0.0], [0.0, 1.0], [0.0, 2.0], [3.0, 4.0]])  # vectors of length 2, 3, 4 and 0.5
    assert rank_neurons(strength, directions, 4) == [2, 1, 0, 3]


def test_normalizing_again_with_the_models_epsilon_gives_the_trace(rome):
    path = "encoder.layer.1.output"
    own = normalize_with(rome[f"{path}.residual[token=3]"], rome.model.config.layer_norm_eps)
    assert np.allclose(own, rome[f"{path}.LayerNorm.normalized[token=3]"], atol=1e-5)


def test_the_direct_path_divides_once_at_every_place(rome):
    names, factors = follow_direct_path(rome, 3)
    layers = rome.model.config.num_hidden_layers
    product = 1.0
    for layer in range(layers):
        for module in ("attention.output", "output"):
            product /= math.sqrt(float(rome[f"encoder.layer.{layer}.{module}.LayerNorm.variance[token=3]"]) + 1e-12)
    assert len(names) == 2 * layers
    assert factors[-1] == pytest.approx(product, rel=1e-6)
