"""Parts that add up: compared with the pass itself and with a transcription in NumPy."""

from math import erf, sqrt

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.attribution import split_states
from tests.factory import random_checkpoint

TARGETS = {
    "pretraining": ["cls.predictions.decoder[token=3,vocab=7]", "cls.seq_relationship[relation=1]"],
    "masked-lm": ["cls.predictions.decoder[token=0,vocab=90]"],
    "sequence-classification": ["classifier[label=1]"],
    "token-classification": ["classifier[token=2,label=0]"],
    "question-answering": ["qa_outputs.start[start=2]", "qa_outputs.end[end=4]", "qa_outputs[token=1,bound=1]"],
}
WORD, OTHER = "cls.predictions.decoder[token=3,vocab=7]", "cls.predictions.decoder[token=3,vocab=8]"


def _run(folder, kind="pretraining", act="gelu", dtype=torch.float64, seed=0):
    model = bv.load_model(random_checkpoint(folder, kind=kind, hidden_act=act, seed=seed), dtype=dtype)
    return bv.run(model, "The cat sat on the mat.", "Playing in Rome?")


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
@pytest.mark.parametrize("act", ["gelu", "gelu_new", "relu", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("kind", TARGETS)
def test_the_parts_and_the_biases_are_every_state_and_every_logit(tmp_path, kind, act, dtype, near):
    trace = _run(tmp_path, kind, act, dtype, seed=len(kind) + len(act))
    stages = split_states(trace)
    for layer, parts in enumerate(stages[1:]):
        recorded = trace[f"encoder.layer.{layer}.output.LayerNorm"]
        np.testing.assert_allclose(parts.sum(1), recorded, rtol=0, atol=near * max(1, np.abs(recorded).max()))
    for target in TARGETS[kind]:
        found = bv.attribute(trace, target)
        assert len(found.parts) == len(trace.tokens)
        assert found.recorded == float(trace[target])
        assert abs(found.gap) <= near * max(1, abs(found.recorded))
        found.check()


def _transcribe(trace, token, word):
    """The same parts, source by source and head by head, in NumPy."""
    weights = {name: tensor.numpy() for name, tensor in trace.model.parameters.items()}
    heads = trace.model.config.num_attention_heads
    n = len(trace.tokens)

    def dense(name, rows):
        return [
            row @ weights[f"{name}.weight"] + (weights[f"{name}.bias"] if j == n else 0) for j, row in enumerate(rows)
        ]

    def norm(name, rows):
        sigma = np.sqrt(np.var(sum(rows), axis=-1, keepdims=True) + trace.model.config.layer_norm_eps)
        scaled = [(row - row.mean(-1, keepdims=True)) / sigma * weights[f"{name}.weight"] for row in rows]
        return [*scaled[:n], scaled[n] + weights[f"{name}.bias"]]

    def gelu(rows):
        share = np.vectorize(lambda z: (1 + erf(z / sqrt(2))) / 2)(sum(rows))
        return [row * share for row in rows]

    start = trace["embeddings.LayerNorm"]
    rows = [np.where(np.arange(n)[:, None] == j, start, 0) for j in range(n + 1)]
    for layer in range(trace.model.config.num_hidden_layers):
        path = f"encoder.layer.{layer}"
        maps = trace[f"{path}.attention.self.probs"]
        values = dense(f"{path}.attention.self.value", rows)
        mixed = [np.hstack([maps[h] @ np.hsplit(v, heads)[h] for h in range(heads)]) for v in values]
        out = dense(f"{path}.attention.output.dense", mixed)
        rows = norm(f"{path}.attention.output.LayerNorm", [a + b for a, b in zip(rows, out, strict=True)])
        out = dense(f"{path}.output.dense", gelu(dense(f"{path}.intermediate.dense", rows)))
        rows = norm(f"{path}.output.LayerNorm", [a + b for a, b in zip(rows, out, strict=True)])
    rows = norm("cls.predictions.transform.LayerNorm", gelu(dense("cls.predictions.transform.dense", rows)))
    return [row[token, word] for row in dense("cls.predictions.decoder", rows)]


def test_each_part_is_the_one_of_a_transcription_in_numpy(tmp_path):
    trace = _run(tmp_path)
    found = bv.attribute(trace, WORD)
    np.testing.assert_allclose([*found.parts, found.biases], _transcribe(trace, 3, 7), rtol=0, atol=1e-12)


def test_instead_of_another_word_the_parts_are_the_differences(tmp_path):
    trace = _run(tmp_path)
    lead, one, other = bv.attribute(trace, WORD, OTHER), bv.attribute(trace, WORD), bv.attribute(trace, OTHER)
    np.testing.assert_allclose(lead.parts, np.subtract(one.parts, other.parts), rtol=0, atol=1e-12)
    assert lead.recorded == one.recorded - other.recorded


def test_an_activation_at_0_and_near_it_is_its_secants_limit(tmp_path):
    for bias in (0.0, 1e-300, -1e-20):
        trace = _run(tmp_path / str(bias))
        held = trace.model.parameters["encoder.layer.0.intermediate.dense.weight"]
        held.zero_()
        trace.model.parameters["encoder.layer.0.intermediate.dense.bias"].fill_(bias)
        again = bv.run(trace.model, "The cat sat on the mat.")
        found = bv.attribute(again, WORD)
        assert np.isfinite(found.parts).all()
        found.check()


@pytest.mark.parametrize(
    "target", ["cls.predictions.decoder", "embeddings.sum[token=1,hidden=2]", "classifier[label=0]"]
)
def test_what_is_no_logit_of_the_pass_is_refused_in_words(tmp_path, target):
    with pytest.raises(bv.BertvizError, match=r"Name one|is not in this trace"):
        bv.attribute(_run(tmp_path), target)


def test_a_pass_with_changes_and_another_method_are_refused_in_words(tmp_path):
    trace = _run(tmp_path)
    with pytest.raises(bv.BertvizError, match="Take back the changes"):
        bv.attribute(trace.with_changes({"embeddings.sum[token=1,hidden=2]": 1.0}), WORD)
    with pytest.raises(bv.BertvizError, match="Leave it out"):
        bv.attribute(trace, WORD, method="guess")
