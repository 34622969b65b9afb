"""Slips in the documents, against their formulas in plain NumPy."""

import math
import re

import numpy as np
import pytest
import torch
from torch.nn.functional import layer_norm

import bertviz_core as bv
from bertviz_core.analysis import slips
from bertviz_core.analysis.layers import compute_cosine
from tests.factory import random_checkpoint

RNG = np.random.default_rng(8)
ROWS = (RNG.normal(size=(3, 7)) + 2).astype(np.float32)


def test_the_printed_spread_has_its_root_over_one_part_only():
    for row, found, meant in zip(
        ROWS.tolist(), slips.compute_printed_sigma(ROWS), slips.compute_deviation(ROWS), strict=True
    ):
        mean = sum(row) / 7
        squares = sum((x - mean) ** 2 for x in row)
        assert found == pytest.approx(math.sqrt(1 / 7) * squares, rel=1e-12)
        assert meant == pytest.approx(math.sqrt(squares / 7), rel=1e-12)
        assert found / meant == pytest.approx(math.sqrt(squares), rel=1e-12)  # equal where the squares sum to 1


def test_a_constant_row_has_no_spread():
    flat = np.full((2, 5), 3.0)
    assert slips.compute_printed_sigma(flat).tolist() == slips.compute_deviation(flat).tolist() == [0.0, 0.0]
    assert slips.measure_epsilon(flat, 1e-12, 1e-5) == 0.0


@pytest.mark.parametrize(("one", "other"), [(1e-12, 1e-5), (1e-5, 1e-12), (1e-3, 1e-3)])
def test_epsilon_changes_a_number_by_so_much(one, other):
    rows = ROWS.astype(np.float64) * np.array([[1.0], [0.05], [1e-3]])
    normal = [(rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + e) for e in (one, other)]
    assert slips.measure_epsilon(rows, one, other) == pytest.approx(np.abs(normal[0] - normal[1]).max(), rel=1e-9)


def test_the_sums_are_those_of_the_pass(rome):
    sums = slips.list_norm_inputs(rome)
    assert list(sums)[:3] == ["emb", "L0 attention", "L0 FFN"] and len(sums) == 13
    for address in sums.values():
        norm = address.path.replace("residual", "LayerNorm").replace("sum", "LayerNorm")
        np.testing.assert_allclose(rome[f"{norm}.variance"], slips.compute_deviation(rome[address]) ** 2, rtol=1e-4)


def test_what_is_meant_in_a_residual_sum_is_what_its_sublayer_reads(bundled):
    """In the note's own pass; where Z_0 is X, and only there, X is it."""
    note = bv.run(bundled, "When in Rome, do as the [MASK] do.", program="forward-pass-note")
    for layer, (x, y) in enumerate(zip(*slips.list_meant(note), strict=True)):
        path, of = f"encoder.layer.{layer}", note.model.parameters
        heads = note[x] @ of[f"{path}.attention.self.value.weight"].numpy()
        found = note[f"{path}.attention.self.value"]  # (head, token, component)
        np.testing.assert_allclose(np.concatenate(list(found), axis=-1), heads, atol=1e-4)
        weight, bias = (of[f"{path}.intermediate.dense.{leaf}"].numpy() for leaf in ("weight", "bias"))
        np.testing.assert_allclose(note[f"{path}.intermediate.dense"], note[y] @ weight + bias, atol=1e-4)
        assert np.array_equal(note[x], note[slips.X]) == (layer == 0)
        assert not np.array_equal(note[y], note[slips.X])


@pytest.mark.parametrize(
    ("text", "small", "count", "raised"),
    [
        ("When in Rome, do as the [MASK] do.", False, 36, False),
        ("Rome", False, 18, False),
        ("We like green tea.", False, 36, True),
        ("the cat sat", True, 5 * 40, False),
    ],
)
def test_the_other_epsilon_is_measured_where_it_is_printed(bundled, tmp_path, text, small, count, raised):
    """By PyTorch's own LayerNorm and print, once with the ε of In [46] and once with that of In [57].

    raised: PyTorch writes all of them as powers of ten, since one is more than a thousand times as large as another.
    """
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, seed=1)) if small else bundled, text)
    at = "encoder.layer.0."
    total, gamma, beta, weight, bias = (
        torch.tensor(np.asarray(trace[f"{at}{leaf}"])).double()
        for leaf in (
            "attention.output.residual",
            "attention.output.LayerNorm.weight",
            "attention.output.LayerNorm.bias",
            "intermediate.dense.weight",
            "intermediate.dense.bias",
        )
    )
    one, other = (layer_norm(total, gamma.shape, gamma, beta, epsilon) @ weight + bias for epsilon in (1e-5, 1e-12))
    texts = [re.findall(r"-?\d\S*\d", str(side[None].float())) for side in (one, other)]
    assert ["e" in text for text in texts[0]] == [raised] * count
    seen = slips.measure_printed_epsilon(trace)
    assert (seen.changed, seen.count) == (sum(a != b for a, b in zip(*texts, strict=True)), count)
    shown = (one - other).abs()
    if not small:
        rows = sorted({*range(min(len(shown), 3)), *range(max(len(shown) - 3, 0), len(shown))})
        shown = shown[rows][:, [0, 1, 2, -3, -2, -1]]
    assert seen.largest == pytest.approx(float(shown.max()), rel=1e-6)


def test_a_cosine_is_the_cosine_of_the_angle():
    assert compute_cosine(np.array([3.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(math.sqrt(0.5))
    assert compute_cosine(np.array([1.0, 2.0]), np.array([-2.0, -4.0])) == pytest.approx(-1)
    assert compute_cosine(np.zeros(2), np.ones(2)) == 0.0
