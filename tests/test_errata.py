"""Slips in the documents, against their formulas in plain NumPy."""

import math

import numpy as np
import pytest

from bertviz_core.analysis import slips
from bertviz_core.analysis.layers import compute_cosine

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


def test_sums_and_what_is_added_are_those_of_the_pass(rome):
    sums = slips.list_norm_inputs(rome)
    assert list(sums)[:3] == ["emb", "L0 attention", "L0 FFN"] and len(sums) == 13
    for address in sums.values():
        norm = address.path.replace("residual", "LayerNorm").replace("sum", "LayerNorm")
        np.testing.assert_allclose(rome[f"{norm}.variance"], slips.compute_deviation(rome[address]) ** 2, rtol=1e-4)
    first, second = slips.list_added(rome)
    for layer, (x, y) in enumerate(zip(first, second, strict=True)):
        path = f"encoder.layer.{layer}"
        np.testing.assert_allclose(rome[f"{path}.attention.output.residual"],
                                   rome[f"{path}.attention.output.dense"] + rome[x], atol=1e-5)  # fmt: skip
        np.testing.assert_allclose(rome[f"{path}.output.residual"], rome[f"{path}.output.dense"] + rome[y], atol=1e-5)


def test_a_cosine_is_the_cosine_of_the_angle():
    assert compute_cosine(np.array([3.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(math.sqrt(0.5))
    assert compute_cosine(np.array([1.0, 2.0]), np.array([-2.0, -4.0])) == pytest.approx(-1)
    assert compute_cosine(np.zeros(2), np.ones(2)) == 0.0
