"""Mean vectors of segments, and the evidence for a class, against plain references."""

import math

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import sentence
from tests.factory import random_checkpoint

RNG = np.random.default_rng(11)


def test_segment_means_leave_padding_out():
    rows = RNG.normal(size=(6, 3))
    found = sentence.average_segments(rows, (0, 0, 0, 1, 1, 0), (1, 1, 1, 1, 1, 0))
    assert list(found) == [0, 1]
    for k in range(3):
        assert found[0][k] == pytest.approx(math.fsum(rows[i, k] for i in (0, 1, 2)) / 3)
        assert found[1][k] == pytest.approx((rows[3, k] + rows[4, k]) / 2)


def test_one_segment_alone_has_one_mean():
    rows = RNG.normal(size=(2, 3))
    (mean,) = sentence.average_segments(rows, (0, 0), (1, 1)).values()
    np.testing.assert_allclose(mean, rows.mean(axis=0))


@pytest.mark.parametrize(("scores", "label", "expected"), [
    ([3.0, 1.0], 0, 2.0), ([3.0, 1.0], 1, -2.0), ([4.0, 1.0, 2.0], 0, 2.5), ([4.0, 1.0, 2.0], 1, -2.0), ([7.0], 0, 7.0),
])  # fmt: skip
def test_the_lead_is_over_the_mean_of_the_others(scores, label, expected):
    assert sentence.compute_lead(np.array(scores), label) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "address", "labels"), [
    ("pretraining", "cls.seq_relationship", 2), ("sequence-classification", "classifier", 3),
])  # fmt: skip
def test_evidence_and_bias_sum_to_the_lead_of_the_score(tmp_path, kind, address, labels):
    config = {"num_labels": labels} if kind == "sequence-classification" else {}
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind=kind, **config)), "The cat sat.", "In Rome?")
    weight, bias, scores = (trace[f"{address}{end}"] for end in (".weight", ".bias", ""))
    assert len(scores) == labels
    for label in range(labels):
        found = trace["pooler.activation"] * sentence.compute_lead(weight, label)
        assert found.shape == trace["pooler.activation"].shape
        total = math.fsum(found.tolist()) + sentence.compute_lead(bias, label)
        assert total == pytest.approx(float(sentence.compute_lead(scores, label)), abs=1e-5)
