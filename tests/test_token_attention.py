"""One token's attention, against the recorded tensors and plain sums over them."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.token_attention import Taken, measure_taken, read_weights, split_output
from bertviz_core.ui.views.attention_output_bringing import SHOWN, read_bringing
from bertviz_core.ui.views.attention_output_taken import _draw_one
from tests.canvas import look
from tests.factory import random_checkpoint


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """A random checkpoint in float64, on a pair with padding."""
    folder = random_checkpoint(tmp_path_factory.mktemp("weights"), num_hidden_layers=3, num_attention_heads=4)
    model = bv.load_model(folder, dtype=torch.float64)
    return bv.run(model, "The cat sat on the mat.", "Playing in Rome?", pad_to=16)


def read_recorded(trace, token):
    layers = range(trace.model.config.num_hidden_layers)
    return np.stack([trace[f"encoder.layer.{i}.attention.self.probs"][:, token] for i in layers])


def test_a_tokens_weights_are_those_of_the_pass(double, rome):
    for trace, tolerance in ((double, 1e-12), (rome, 1e-5)):
        for token in range(len(trace.tokens)):
            found = read_weights(trace, token)
            np.testing.assert_allclose(found, read_recorded(trace, token), atol=tolerance)
    assert read_weights(rome, 8).dtype == np.float32 and read_weights(rome, 8) is read_weights(rome, 8)
    assert not read_weights(rome, 8).flags.writeable


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder.layer.1.attention.self.probs[head=2]": 0.0},
        {"encoder.layer.0.attention.self.probs[head=1]": "uniform"},
        {"encoder.layer.2.attention.self.scores[head=0,query=3,key=1]": 9.0},
        {"encoder.layer.1.attention.self.query[head=3,query=3]": 2.0},
        {"encoder.layer.1.attention.self.key[head=3,key=2]": 2.0},
        {"attention_mask[token=4]": 0},
        {"encoder.layer.0.output.LayerNorm": "skip"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_weights_are_read_with_what_was_changed(double, changes):
    changed = double.with_changes(changes)
    np.testing.assert_allclose(read_weights(changed, 3), read_recorded(changed, 3), atol=1e-12)
    assert np.abs(read_weights(changed, 3) - read_weights(double, 3)).max() > 1e-3


def test_weights_of_a_program_without_padding_mask(double):
    trace = bv.run(double.model, "The cat sat.", pad_to=9, program="forward-pass-note")
    np.testing.assert_allclose(read_weights(trace, 2), read_recorded(trace, 2), atol=1e-12)


def test_what_is_taken_is_the_length_of_each_weighted_value(double):
    layer, token = 1, 4
    probs, values = (double[f"encoder.layer.{layer}.attention.self.{name}"] for name in ("probs", "value"))
    found = measure_taken(double, layer, token)
    assert found.taken.shape == probs.shape[::2]
    for head, key in np.ndindex(*found.taken.shape):
        expected = np.linalg.norm(probs[head, token, key] * values[head, key])
        assert found.taken[head, key] == pytest.approx(expected, rel=1e-12)
        assert found.lengths[head, key] == pytest.approx(np.linalg.norm(values[head, key]), rel=1e-12)


def test_the_longest_value_is_none_of_padding():
    lengths = np.array([[1.0, 2.0, 9.0], [3.0, 1.0, 8.0]])
    assert Taken(np.ones((2, 3)), lengths, (0, 1)).longest == 3.0
    assert Taken(np.ones((2, 3)), lengths, (0, 1, 2)).longest == 9.0


def test_heads_and_bias_add_up_to_the_attention_output(double):
    path, width = "encoder.layer.2.attention", double.model.config.head_dim
    context, weight = double[f"{path}.self.context[token=5]"], double[f"{path}.output.dense.weight"]
    found, output = split_output(double, 2, 5), double[f"{path}.output.dense[token=5]"]
    np.testing.assert_allclose(found.total, output, atol=1e-12)
    parts = [context[i : i + width] @ weight[i : i + width] for i in range(0, len(context), width)]
    parts.append(double[f"{path}.output.dense.bias"])
    np.testing.assert_allclose(found.vectors, parts, atol=1e-12)
    for part, length, share in zip(parts, found.lengths, found.shares, strict=True):
        assert length == pytest.approx(np.sqrt(sum(x * x for x in part)))
        assert share == pytest.approx(part @ output / (output @ output))
    assert found.shares.sum() == pytest.approx(1)


def test_few_heads_make_up_most_of_the_bundled_models_output(rome):
    found = split_output(rome, 2, 8)
    ranked = np.sort(found.shares[:-1])[::-1]  # without the bias
    assert ranked[:3].sum() > 0.6 and ranked[-1] < 0 and found.shares.sum() == pytest.approx(1)


def test_what_the_tokens_that_are_not_drawn_bring_is_the_length_of_their_sum(bundled):
    """Vectors that point apart are shorter together than their lengths added up."""
    view = look(bv.run(bundled, " ".join(["When in Rome, do as the Romans do."] * 3)), token=5)
    bringing, tokens = read_bringing(view), len(view.trace.tokens)
    rest = sorted({*range(tokens)} - {*bringing.shown})
    assert tokens > SHOWN + 4 and len(rest) == bringing.others
    own = f"encoder.layer.{view.chosen.layer}.attention.self"
    weights = view.trace[f"{own}.probs[head={view.chosen.head},query=5]"].astype(np.float64)
    values = view.trace[f"{own}.value[head={view.chosen.head}]"].astype(np.float64)
    brought = _draw_one(view, bringing).traces[2]["x"][-2]
    assert brought == pytest.approx(np.linalg.norm(weights[rest] @ values[rest]), rel=1e-5)


def test_what_a_weight_below_0_takes_is_as_long_as_what_one_above_0_takes(rome):
    probs = "encoder.layer.2.attention.self.probs[head=3,query=4,key=6]"
    above, below = (measure_taken(rome.with_changes({probs: sign * 0.5}), 2, 4).taken[3] for sign in (1, -1))
    length = np.linalg.norm(rome["encoder.layer.2.attention.self.value"][3, 6].astype(np.float64))
    assert above[6] == below[6] == pytest.approx(0.5 * length) and (below >= 0).all()
